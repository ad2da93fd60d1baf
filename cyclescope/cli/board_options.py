"""Options that say what board there is, and how long it runs, for commands that make one."""

from __future__ import annotations

import click

from cyclescope.cli import completions


def load_devices(
    _context: click.Context, _param: click.Parameter, files: tuple[str, ...]
) -> tuple[str, ...]:
    """Run the files of `--devices`."""
    if files:
        # what nobody asks for takes no time
        from cyclescope.devices import load

        for file in files:
            load(file)
    return files


board_option = click.option(
    "--board",
    help="A shipped board's name, or the path of a .dts.",
    shell_complete=completions.boards,
)

sets_option = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change a property.",
    shell_complete=completions.settings,
)

DEVICES_HELP = "Run a Python file that defines devices of the board."

# The files are run before the command begins.
devices_option = click.option(
    "--devices",
    multiple=True,
    metavar="FILE",
    expose_value=False,
    callback=load_devices,
    help=DEVICES_HELP,
)

limit_option = click.option(
    "--limit",
    metavar="TIME",
    help="Most simulated time to run: 10s, or no limit where somebody may type.",
)
