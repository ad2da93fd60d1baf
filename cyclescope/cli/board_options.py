"""Options that say what board there is, and how long it runs, for commands that make one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

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

_OPTION_BYTES = "flash.cyclescope,option-bytes"


def sets_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--set` and `--option-bytes`; it gets both as `sets`, a tuple of settings."""

    @click.option(
        "--set",
        "sets",
        multiple=True,
        metavar="PATH=VALUE",
        help="Change a property.",
        shell_complete=completions.settings,
    )
    @click.option(
        "--option-bytes",
        multiple=True,
        metavar="NAME=VALUE",
        help="Option bytes of an STM32 that differ from a new chip's, as DBANK=0.",
    )
    @wraps(command)
    def with_options(
        *arguments: Any, sets: tuple[str, ...], option_bytes: tuple[str, ...], **others: Any
    ) -> Any:
        own = (f"{_OPTION_BYTES}={','.join(option_bytes)}",) if option_bytes else ()
        return command(*arguments, sets=(*sets, *own), **others)

    return with_options


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
