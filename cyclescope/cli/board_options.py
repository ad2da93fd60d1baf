"""Options that say what board there is, and how long it runs, for commands that make one."""

from __future__ import annotations

import click

from cyclescope.cli import completions


def _load(_context: click.Context, _param: click.Parameter, files: tuple[str, ...]) -> None:
    if files:
        # what nobody asks for takes no time
        from cyclescope.devices import load

        for file in files:
            load(file)


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

# The files are run before the command begins.
devices_option = click.option(
    "--devices",
    multiple=True,
    metavar="FILE",
    expose_value=False,
    callback=_load,
    help="Run a Python file that defines devices of the board.",
)

limit_option = click.option(
    "--limit",
    metavar="TIME",
    help="Most simulated time to run: 10s, or no limit where somebody may type.",
)
