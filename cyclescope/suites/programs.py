"""The files of a suite's programs in a folder, and the board that each is for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclescope.board.results import Settings
from cyclescope.board.setup.fitting import Map, parts_of
from cyclescope.board.setup.programs import Parts, read_program
from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.suites.suite import Suite

# If a program exists in both formats, the one with symbols is run.
ENDINGS = (".elf", "", ".hex")


@dataclass(frozen=True)
class Program:
    """A program's file: what its name says, and the board that it is run on."""

    path: Path
    settings: Settings
    board: str
    has_symbols: bool


def find(suite: Suite, place: Path, board: str | None) -> tuple[list[Program], list[str]]:
    """The suite's programs in a folder, or the one file, by name; and the files that are left out.

    They are for `board`, or each for the suite's board that it fits. Raises `UsageError` if there
    are no programs, `OSError` if a folder can't be read.
    """
    if not place.exists():
        raise UsageError(f"{inputs.printable(place)}: no such file or folder; {suite.how}")
    named = _named(suite, place)
    if not named:
        what = f"no {suite.files} in it" if place.is_dir() else f"not named as {suite.files}"
        raise UsageError(f"{inputs.printable(place)}: {what}; {suite.how}")
    maps = [Map.of(name) for name in suite.tables] if board is None else []
    found, left_out = [], []
    for path, settings in named:
        try:
            parts, has_symbols = read(path)
            chosen = board if board is not None else board_of(path, parts, maps)
            found.append(Program(path, settings, chosen, has_symbols))
        except (UsageError, OSError) as error:
            left_out.append(str(error))
    return found, left_out


def _named(suite: Suite, place: Path) -> list[tuple[Path, Settings]]:
    """The files that are named as programs; for equal stems, the one with the first suffix."""
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    known = {path.stem if path.suffix in ENDINGS else path.name: path for path in files}
    for ending in reversed(ENDINGS):
        known |= {path.stem: path for path in files if path.suffix == ending}
    named = [(path, suite.identify(stem)) for stem, path in sorted(known.items())]
    return [
        (path, settings)
        for path, settings in named
        if settings is not None and path.suffix in ENDINGS
    ]


def read(path: Path) -> tuple[Parts, bool]:
    """The parts of a file in memory, and whether it has symbols. Raises `UsageError`, `OSError`."""
    program = read_program(path)
    parts = parts_of(program)
    if not parts:
        raise UsageError(f"{inputs.printable(path)}: neither an ELF file of 32 bits nor Intel HEX")
    return parts, bool(program.elf)


def board_of(path: Path, parts: Parts, maps: Sequence[Map]) -> str:
    """The board that a program is for: the program fits its memories, and looks made for it.

    Raises `UsageError` if it fits none, or several equally well.
    """
    fitting = [one for one in maps if one.fits(parts)]
    name = inputs.printable(path)
    if not fitting:
        boards = ", ".join(one.board for one in maps)
        raise UsageError(f"{name}: it fits none of the boards {boards}: --board says which it is")
    ranked = sorted(fitting, key=lambda one: one.likeness(parts), reverse=True)
    if len(ranked) > 1 and ranked[0].likeness(parts) == ranked[1].likeness(parts):
        boards = " and ".join(one.board for one in ranked[:2])
        raise UsageError(f"{name}: it fits {boards} equally: --board says which it is")
    return ranked[0].board
