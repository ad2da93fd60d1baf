"""The code of an ELF file as a listing, by function."""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path

from cyclescope import _engine
from cyclescope.errors import EngineError, UsageError
from cyclescope.host import inputs
from cyclescope.similar_names import did_you_mean_or

Row = tuple[int, int, int, str, str | None, list[str]]
"""An instruction in the form of `_engine.listing`."""
# An address without its 0x, and not a word such as "add".
_BARE_NUMBER = re.compile(r"[0-9a-fA-F]*[0-9][0-9a-fA-F]*")


def rows(elf: Path) -> list[Row]:
    """The code of an ELF by address. Raises `EngineError` if it is not an ELF or has no code."""
    try:
        listed = _engine.listing(inputs.read(elf, inputs.MOST_ELF_BYTES))
    except _engine.ElfError as error:
        raise EngineError(f"{inputs.printable(elf)}: {error}") from error
    if not listed:
        raise EngineError(f"{inputs.printable(elf)}: it has no sections with code")
    return listed


def entry(elf: Path) -> int:
    """The entry address of an ELF, without the bit that marks a Thumb instruction."""
    # e_entry, after 16 bytes of e_ident, two half-words and a word
    header = inputs.read(elf, inputs.MOST_ELF_BYTES)[24:28]
    return int.from_bytes(header, "little") & ~1


def functions(listed: list[Row], entries: Container[int | None] = ()) -> list[list[Row]]:
    """The rows of each function: from a name, or from one of the unnamed `entries`, to the next."""
    found: list[list[Row]] = []
    for row in listed:
        if row[5] or row[0] in entries or not found:
            found.append([])
        found[-1].append(row)
    return found


def found(elf: Path, functions: list[list[Row]], place: str, otherwise: str) -> list[Row]:
    """The function of a name, or the one that contains an address (0x80000124).

    Names may be short: demangled, without parameters, or only their last parts. Raises
    `UsageError`; `otherwise` is the hint for a name without similar ones.
    """
    is_address = place.lower().startswith("0x")
    meant = None if is_address else _meant(elf, place)
    named = [function for function in functions if function[0][0] == meant]
    if named:
        return named[0]
    try:
        address = int(place, 16) if is_address else None
    except ValueError:
        address = None
    for function in functions:
        if address is not None and any(row[0] <= address < row[0] + row[2] for row in function):
            return function
    if address is None:
        missing = f"function {place}{_function_hint(functions, place, otherwise)}"
    else:
        missing = f"code at {place}; {_code_hint(functions)}"
    raise UsageError(inputs.printable(f"{elf} has no {missing}"))


def _meant(elf: Path, name: str) -> int | None:
    """The address of the function of a name. Raises `UsageError` if several functions match."""
    try:
        return _engine.function_meant(inputs.read(elf, inputs.MOST_ELF_BYTES), name)
    except EngineError as error:
        raise UsageError(inputs.printable(f"{elf}: {error}")) from error


def _function_hint(functions: list[list[Row]], place: str, otherwise: str) -> str:
    """A hint for the name of an unknown function."""
    names = dict.fromkeys(name for function in functions for name in function[0][5])
    if _BARE_NUMBER.fullmatch(place):
        return f"; to give an address, write 0x{place}"
    return did_you_mean_or(place, names, otherwise)


def _code_hint(functions: list[list[Row]]) -> str:
    begin = min(row[0] for function in functions for row in function)
    end = max(row[0] + row[2] for function in functions for row in function)
    return f"its code is at {begin:#010x} to {end:#010x}"
