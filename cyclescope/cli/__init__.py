"""The command line. Start at `entry`, which lists the commands.

`commands` has a module for each command, `options` their common options, `tables` their output.
"""

from cyclescope.cli import startup as startup
from cyclescope.cli.entry import cli, main

__all__ = ["cli", "main"]
