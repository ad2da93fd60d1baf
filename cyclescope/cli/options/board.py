"""Options for the board and the limit of its run."""

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
        # imported on request only
        from cyclescope.devices import load

        for file in files:
            load(file)
    return files


board_option = click.option(
    "--board",
    help="The name of a shipped board, or the path of a .dts file.",
    shell_complete=completions.boards,
)

_OPTION_BYTES = "flash.cyclescope,option-bytes"
_FIRMWARE = "firmware"
_MOST_BAUD = 50_000_000


class _Baud(click.ParamType):
    """A rate of a serial line, or the firmware's."""

    name = "baud"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The setting that gives the console's line this rate."""
        if value == _FIRMWARE:
            return "chosen.stdout-path=:"
        is_number = value.isascii() and value.isdecimal() and len(value) <= len(str(_MOST_BAUD))
        if not is_number or not 1 <= int(value) <= _MOST_BAUD:
            self.fail(f"expected 1 to {_MOST_BAUD:,} baud, or {_FIRMWARE}", param, ctx)
        return f"chosen.stdout-path=:{int(value)}n8"


def sets_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--set`, `--option-bytes` and `--baud`; it gets all as `sets`, settings."""

    @click.option(
        "--set",
        "sets",
        multiple=True,
        metavar="PATH=VALUE",
        help="Set a board property.",
        shell_complete=completions.settings,
    )
    @click.option(
        "--option-bytes",
        multiple=True,
        metavar="NAME=VALUE",
        help="STM32 option bytes that differ from the factory values: DBANK=0.",
    )
    @click.option(
        "--baud",
        type=_Baud(),
        metavar="RATE",
        help=(
            "Baud rate of the terminal at the console; `firmware` follows the firmware's setting."
        ),
    )
    @wraps(command)
    def with_options(
        *arguments: Any,
        sets: tuple[str, ...],
        option_bytes: tuple[str, ...],
        baud: str | None,
        **others: Any,
    ) -> Any:
        own = (f"{_OPTION_BYTES}={','.join(option_bytes)}",) if option_bytes else ()
        line = (baud,) if baud else ()
        return command(*arguments, sets=(*sets, *own, *line), **others)

    return with_options


DEVICES_HELP = "Python file that defines device models for the board."

# The files are run before the command starts.
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
    help="Limit of simulated time [default: 10s; none on an interactive console].",
)
