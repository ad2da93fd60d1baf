"""`python -m cyclescope` is the `cyclescope` command."""

from cyclescope.cli import main

main()
