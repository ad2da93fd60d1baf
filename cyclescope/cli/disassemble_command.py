"""`cyclescope disassemble`: the code of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from cyclescope import _engine
from cyclescope.errors import EngineError, UsageError
from cyclescope.host import inputs
from cyclescope.near import did_you_mean_or

_Row = tuple[int, int, int, str, str | None, list[str]]
# An address without its 0x, and not a word such as "add".
_BARE_NUMBER = re.compile(r"[0-9a-fA-F]*[0-9][0-9a-fA-F]*")


@click.command("disassemble")
@click.argument("elf", type=click.Path(path_type=Path))
@click.argument("places", nargs=-1, metavar="[FUNCTION|ADDRESS]...")
def disassemble_command(elf: Path, places: tuple[str, ...]) -> None:
    """Show the instructions of ELF: all of them, or those of functions.

    The ELF says for which instruction set it was built. An ADDRESS (0x80000124) shows the function
    that holds it.
    """
    functions = list(_functions(_rows(elf)))
    for function in [_found(elf, functions, place) for place in places] or functions:
        for line in _lines(function):
            click.echo(inputs.printable(line))


def _rows(elf: Path) -> list[_Row]:
    try:
        rows = _engine.listing(inputs.read(elf, inputs.MOST_ELF_BYTES))
    except _engine.ElfError as error:
        raise EngineError(f"{inputs.printable(elf)}: {error}") from error
    if not rows:
        raise EngineError(f"{inputs.printable(elf)}: it has no sections with code")
    return rows


def _functions(rows: list[_Row]) -> Iterator[list[_Row]]:
    """Rows from one name to the next."""
    function: list[_Row] = []
    for row in rows:
        if row[5] and function:
            yield function
            function = []
        function.append(row)
    yield function


def _found(elf: Path, functions: list[list[_Row]], place: str) -> list[_Row]:
    named = [function for function in functions if place in function[0][5]]
    if named:
        return named[0]
    try:
        address = int(place, 16) if place.lower().startswith("0x") else None
    except ValueError:
        address = None
    for function in functions:
        if address is not None and any(row[0] <= address < row[0] + row[2] for row in function):
            return function
    if address is None:
        told = f"function {place}{_function_hint(functions, place)}"
    else:
        told = f"code at {place}; {_code_hint(functions)}"
    raise UsageError(inputs.printable(f"{elf} has no {told}"))


def _function_hint(functions: list[list[_Row]], place: str) -> str:
    """What to ask for in the place of a function that is not there."""
    names = dict.fromkeys(name for function in functions for name in function[0][5])
    if _BARE_NUMBER.fullmatch(place):
        return f"; an address begins with 0x: 0x{place}"
    return did_you_mean_or(place, names, "without names all functions are shown")


def _code_hint(functions: list[list[_Row]]) -> str:
    begin = min(row[0] for function in functions for row in function)
    end = max(row[0] + row[2] for function in functions for row in function)
    return f"its code lies between {begin:#010x} and {end:#010x}"


def _lines(function: list[_Row]) -> Iterator[str]:
    for address, encoding, length, text, target, names in function:
        for name in names:
            yield f"{address:08x} <{name}>:"
        leads = f"  <{target}>" if target else ""
        yield f"{address:08x}:  {encoding:0{2 * length}x}{' ' * (8 - 2 * length)}  {text}{leads}"
