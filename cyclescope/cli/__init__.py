"""The command line: `cyclescope bench | show | run | ipc | binding | list | board`.

Start at `entry`; each larger command is a module of its name. `tables` has what they print.
"""

from cyclescope.cli.entry import cli, main

__all__ = ["cli", "main"]
