"""The boards that a program may be for: those that can hold it, the likeliest first."""

from __future__ import annotations

import struct
from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cyclescope.board.board import Board
from cyclescope.board.description.trees import shipped_boards
from cyclescope.board.setup.programs import Parts, Program, read_program
from cyclescope.errors import EngineError

# A message names at most this many boards.
_MOST_NAMES = 4
_WORD_BYTES = 4
# The number of a program's words that are checked for addresses of devices.
_MOST_WORDS = 1 << 18
# Loading is limited to the sizes that the engine accepts.
_MOST_SEGMENTS, _MOST_LOADS = 1024, 2
_ELF_32_LITTLE = b"\x7fELF\x01\x01"
_PT_LOAD = 1
_Span = tuple[int, int]


@dataclass(frozen=True)
class Map:
    """A board's memory and devices, each as its first address and the end after its last."""

    board: str
    memories: tuple[_Span, ...]
    devices: tuple[_Span, ...]

    @staticmethod
    def of(board: str) -> Map:
        """The map of a board by its name or path. Raises as `Board` does."""
        return Map.described(board, Board(board).describe()["map"])

    @staticmethod
    def described(board: str, places: Iterable[dict[str, Any]]) -> Map:
        """The map of a board from its description."""
        spans: dict[str, list[_Span]] = {"memory": [], "device": []}
        for place in places:
            span = (place["base"], place["base"] + place["size"])
            spans["memory" if place["kind"] == "memory" else "device"].append(span)
        return Map(board, tuple(spans["memory"]), tuple(spans["device"]))

    def fits(self, parts: Parts) -> bool:
        """Whether the parts lie at mapped addresses, and the vector table's stack in memory."""
        places = (*self.memories, *self.devices)
        ends = (address for at, data in parts for address in (at, at + len(data) - 1))
        return _is_in(self.memories, _stack(parts) - 1) and all(_is_in(places, end) for end in ends)

    def likeness(self, parts: Parts) -> tuple[bool, int]:
        """A measure of how likely a program that fits was made for the board: larger is likelier.

        Linker scripts put the stack at the end of a memory; after that, the number of device
        addresses in the program counts.
        """
        ends = {end for _, end in self.memories}
        return _stack(parts) in ends, self._used_devices(parts)

    def _used_devices(self, parts: Parts) -> int:
        """The number of words in a program that could be addresses of the board's devices.

        A flash that holds the program may be a device, too: it is not counted.
        """
        devices = [span for span in self.devices if not any(_is_in([span], at) for at, _ in parts)]
        # the boundaries between device addresses and unmapped ones
        edges = [edge for span in _merged(devices) for edge in span]
        words = (word for _, data in parts for word in _words(data))
        return sum(bisect(edges, word) % 2 for word in islice(words, _MOST_WORDS) if word)


def fitting_boards(program: Program, core: str | None = None) -> list[str]:
    """The shipped boards that a program can be loaded on, the likeliest first.

    `core` is the name of the core that is to run it.
    """
    parts = parts_of(program)
    boards = [(name, _holding(name, program, core)) for name in shipped_boards()] if parts else []
    maps = [Map.described(name, board.describe()["map"]) for name, board in boards if board]
    maps.sort(key=lambda one: one.likeness(parts), reverse=True)
    return [one.board for one in maps]


def in_words(file: Any, base: int | None, entry: int | None, core: str | None) -> str:
    """The boards that a program fits, as in "a, b or c"; "" without a fitting board.

    Raises as `read_program` does.
    """
    return _listed(fitting_boards(read_program(file, base, entry), core))


def parts_of(program: Program) -> Parts:
    """The parts of memory that a program fills; empty if it is not a 32-bit ELF file."""
    elf = program.elf
    if program.parts or not elf.startswith(_ELF_32_LITTLE):
        return program.parts
    try:
        (table,) = struct.unpack_from("<I", elf, 28)
        size, count = struct.unpack_from("<2H", elf, 42)
        if count > _MOST_SEGMENTS:
            return ()
        headers = [struct.unpack_from("<8I", elf, table + at * size) for at in range(count)]
    except struct.error:
        return ()
    loaded = [(at, offset, size) for kind, offset, _, at, size, *_ in headers if kind == _PT_LOAD]
    if sum(size for *_, size in loaded) > _MOST_LOADS * len(elf):
        return ()
    parts = ((at, elf[offset : offset + size]) for at, offset, size in loaded)
    return tuple((at, data) for at, data in parts if data)


def _listed(names: list[str]) -> str:
    left = len(names) - _MOST_NAMES
    shown = names if left <= 1 else [*names[:_MOST_NAMES], f"{left} others"]
    *first, last = shown or [""]
    return f"{', '.join(first)} or {last}" if first else last


def _holding(name: str, program: Program, core: str | None) -> Board | None:
    """The board with the program loaded; `None` if the program does not fit."""
    try:
        board = Board(name)
        board.load_program(program, core)
    except EngineError:
        return None
    return board


def _stack(parts: Parts) -> int:
    """The initial stack pointer: the first word of the vector table."""
    _, first = min(parts)
    (stack,) = struct.unpack_from("<I", first.ljust(_WORD_BYTES, b"\0"))
    return int(stack)


def _is_in(spans: Iterable[_Span], address: int) -> bool:
    return any(begin <= address < end for begin, end in spans)


def _merged(spans: Iterable[_Span]) -> Iterator[_Span]:
    """The same addresses as sorted ranges, with overlapping ranges merged."""
    merged_begin = merged_end = 0
    for begin, end in sorted(spans):
        if begin > merged_end:
            if merged_end > merged_begin:
                yield merged_begin, merged_end
            merged_begin = begin
        merged_end = max(merged_end, end)
    if merged_end > merged_begin:
        yield merged_begin, merged_end


def _words(data: bytes) -> Iterator[int]:
    whole = len(data) // _WORD_BYTES * _WORD_BYTES
    return (word for (word,) in struct.iter_unpack("<I", data[:whole]))
