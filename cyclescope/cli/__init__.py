"""The command line. Start at `entry`, which lists the commands.

Each larger command is a module of its name; `tables` has what they print.
"""

from cyclescope.cli import beginning as beginning
from cyclescope.cli.entry import cli, main

__all__ = ["cli", "main"]
