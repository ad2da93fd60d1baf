"""The command line. Start at `entry`, which lists the commands.

`commands` has a module for each, `options` what they have in common, `tables` what they print.
"""

from cyclescope.cli import startup as startup
from cyclescope.cli.entry import cli, main

__all__ = ["cli", "main"]
