"""The files of a suite's programs: which there are in a folder, and for which board each is."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclescope.board import Board
from cyclescope.board.programs import Parts, read_program
from cyclescope.board.results import Settings
from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.suites.suite import Suite

# Of a program that is there as both, the one with symbols is run.
ENDINGS = (".elf", "", ".hex")
_MAGIC = b"\x7fELF"
_LOAD = 1
_WORD_BYTES = 4
_Span = tuple[int, int]


@dataclass(frozen=True)
class Program:
    """A program's file: what its name says of it, and the board that it is run on."""

    path: Path
    settings: Settings
    board: str
    has_symbols: bool


@dataclass(frozen=True)
class Map:
    """Where a board has memory and devices, each as first address and the one behind."""

    board: str
    memories: tuple[_Span, ...]
    devices: tuple[_Span, ...]

    @staticmethod
    def of(board: str) -> Map:
        """The map of a board by its name or path. Raises as `Board` does."""
        places = Board(board).describe()["map"]
        spans = {"memory": [], "device": []}
        for place in places:
            span = (place["base"], place["base"] + place["size"])
            spans["memory" if place["kind"] == "memory" else "device"].append(span)
        return Map(board, tuple(spans["memory"]), tuple(spans["device"]))

    def fits(self, parts: Parts) -> bool:
        """Whether the parts lie where something is, and the vector table's stack in memory."""
        places = (*self.memories, *self.devices)
        ends = (address for at, data in parts for address in (at, at + len(data) - 1))
        return _is_in(self.memories, _stack(parts) - 1) and all(_is_in(places, end) for end in ends)

    def likeness(self, parts: Parts) -> tuple[bool, int]:
        """How much a program that fits looks made for the board: the greater, the more.

        Linker scripts put the stack at the end of a memory; next to that counts which devices
        the program knows.
        """
        ends = {behind for _, behind in self.memories}
        return _stack(parts) in ends, self._used_devices(parts)

    def _used_devices(self, parts: Parts) -> int:
        """How many words of a program could be addresses of the board's devices.

        A flash that the program lies in may be a device, too: it is not meant.
        """
        devices = [span for span in self.devices if not any(_is_in([span], at) for at, _ in parts)]
        words = (word for _, data in parts for word in _words(data))
        return sum(_is_in(devices, word) for word in words if word)


def find(suite: Suite, place: Path, board: str | None) -> tuple[list[Program], list[str]]:
    """The suite's programs in a folder, or the one file, by name; and what files are left out.

    They are for `board`, or each for that of the suite's boards that it fits. Raises `UsageError`
    if there is none, `OSError` if a folder can't be read.
    """
    named = _named(suite, place)
    if not named:
        what = f"{suite.files}: there is none" if place.is_dir() else f"not named as {suite.files}"
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
    """The files whose names are those of programs: of the same stem, the first ending's."""
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
    """What a file puts in memory, and whether it has symbols. Raises `UsageError`, `OSError`."""
    program = read_program(path)
    parts = program.parts or tuple(_segments(program.elf))
    if not parts:
        raise UsageError(f"{inputs.printable(path)}: neither an ELF file of 32 bits nor Intel HEX")
    return parts, bool(program.elf)


def _segments(elf: bytes) -> Iterator[tuple[int, bytes]]:
    """What an ELF file of 32 bits, least byte first, has to be loaded; nothing of another file."""
    if not elf.startswith(_MAGIC + b"\x01\x01") or len(elf) < 52:
        return
    table, entry_bytes, entries = (
        struct.unpack_from("<I", elf, 28)[0],
        *struct.unpack_from("<HH", elf, 42),
    )
    for number in range(entries):
        at = table + number * entry_bytes
        if at + 32 > len(elf):
            return
        kind, offset, _, address, size = struct.unpack_from("<5I", elf, at)
        data = elf[offset : offset + size]
        if kind == _LOAD and data:
            yield address, data


def board_of(path: Path, parts: Parts, maps: Sequence[Map]) -> str:
    """The board that a program is for: it fits there, and looks made for it.

    Raises `UsageError` if it fits none, or several alike.
    """
    fitting = [one for one in maps if one.fits(parts)]
    name = inputs.printable(path)
    if not fitting:
        boards = ", ".join(one.board for one in maps)
        raise UsageError(f"{name}: it fits none of the boards {boards}: --board says which it is")
    ranked = sorted(fitting, key=lambda one: one.likeness(parts), reverse=True)
    if len(ranked) > 1 and ranked[0].likeness(parts) == ranked[1].likeness(parts):
        boards = " and ".join(one.board for one in ranked[:2])
        raise UsageError(f"{name}: it fits {boards} alike: --board says which it is")
    return ranked[0].board


def _stack(parts: Parts) -> int:
    """Where the stack begins: the first word of the vector table."""
    _, first = min(parts)
    (stack,) = struct.unpack_from("<I", first.ljust(_WORD_BYTES, b"\0"))
    return int(stack)


def _is_in(spans: Iterable[_Span], address: int) -> bool:
    return any(first <= address < behind for first, behind in spans)


def _words(data: bytes) -> Iterator[int]:
    whole = len(data) // _WORD_BYTES * _WORD_BYTES
    return (word for (word,) in struct.iter_unpack("<I", data[:whole]))
