"""Options for loading a program: its core, its addresses, and unmodelled peripherals."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from cyclescope.board.setup.loading import Loading
from cyclescope.errors import UsageError
from cyclescope.units import parse_number

_Command = Callable[..., Any]


class Address(click.ParamType):
    """An address, as in 0x8000000."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Raises `UsageError` if it is not an address of 32 bits."""
        number = parse_number(value) if isinstance(value, str) else value
        if not isinstance(number, int) or not 0 <= number < 2**32:
            name = param.opts[0] if param else "address"
            raise UsageError(f"{name} {value}: expected an address such as 0x8000000")
        return number


def program_options(command: _Command) -> _Command:
    """Give a command these options; it gets them as `program`, a `Loading`."""

    @click.option("--core", metavar="NAME", help="The core that runs the program: cm4.")
    @click.option("--base", type=Address(), help="Load address of a raw binary: 0x8000000.")
    @click.option("--entry", type=Address(), help="Entry address, if it differs from the file's.")
    @click.option(
        "--unmapped",
        type=click.Choice(["fault", "warn"]),
        help=(
            "Access to an unmapped address: a bus fault, or answered with 0 and reported "
            "in a table."
        ),
    )
    @click.option(
        "--svd",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help=(
            "CMSIS-SVD file of the chip: peripherals without a model become registers "
            "that keep what is written."
        ),
    )
    @wraps(command)
    def with_options(
        *,
        core: str | None,
        base: int | None,
        entry: int | None,
        unmapped: str | None,
        svd: Path | None,
        **others: Any,
    ) -> Any:
        return command(program=Loading(core, base, entry, unmapped, svd), **others)

    return with_options
