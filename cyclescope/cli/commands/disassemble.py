"""`cyclescope disassemble`: the code of a program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from cyclescope.cli.tables import listings
from cyclescope.cli.tables.listings import Row
from cyclescope.host import inputs

_OTHERWISE = "without names all functions are shown"


@click.command("disassemble")
@click.argument("elf", type=click.Path(path_type=Path))
@click.argument("places", nargs=-1, metavar="[FUNCTION|ADDRESS]...")
def disassemble_command(elf: Path, places: tuple[str, ...]) -> None:
    """Show the instructions of an ELF, or of some functions.

    The instruction set is that of the ELF. An ADDRESS (0x80000124) shows the function that contains
    it.
    """
    functions = listings.functions(listings.rows(elf))
    chosen = [listings.found(elf, functions, place, _OTHERWISE) for place in places]
    for function in chosen or functions:
        for line in _lines(function):
            click.echo(inputs.printable(line))


def _lines(function: list[Row]) -> Iterator[str]:
    for address, encoding, length, text, target, names in function:
        for name in names:
            yield f"{address:08x} <{name}>:"
        leads = f"  <{target}>" if target else ""
        yield f"{address:08x}:  {encoding:0{2 * length}x}{' ' * (8 - 2 * length)}  {text}{leads}"
