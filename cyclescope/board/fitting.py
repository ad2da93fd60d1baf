"""Which boards a program may be for: those that can hold it, the likeliest first."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from cyclescope.board.board import Board
from cyclescope.board.programs import Parts, Program, read_program
from cyclescope.board.trees import shipped_boards
from cyclescope.errors import EngineError

# More names than that help nobody.
_MOST_TOLD = 4
_WORD_BYTES = 4
_Span = tuple[int, int]


@dataclass(frozen=True)
class Map:
    """Where a board has memory and devices, each as first address and the one behind."""

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
    """The boards that a program fits, as in "a, b or c"; "" where there is none.

    Raises as `read_program` does.
    """
    return _listed(fitting_boards(read_program(file, base, entry), core))


def parts_of(program: Program) -> Parts:
    """What a program puts in memory; nothing of what is no ELF file of 32 bits."""
    if program.parts or not program.elf:
        return program.parts
    try:
        file = ELFFile(io.BytesIO(program.elf))
        loaded = [(segment["p_paddr"], segment.data()) for segment in file.iter_segments("PT_LOAD")]
        is_meant = file.elfclass == 32 and file.little_endian
    except (ELFError, ValueError, struct.error, OverflowError, MemoryError, TypeError, KeyError):
        return ()
    return tuple((address, data) for address, data in loaded if data) if is_meant else ()


def _listed(names: list[str]) -> str:
    left = len(names) - _MOST_TOLD
    shown = names if left <= 1 else [*names[:_MOST_TOLD], f"{left} others"]
    *first, last = shown or [""]
    return f"{', '.join(first)} or {last}" if first else last


def _holding(name: str, program: Program, core: str | None) -> Board | None:
    """The board with the program; `None` if it can't have it."""
    try:
        board = Board(name)
        board.load_program(program, core)
    except EngineError:
        return None
    return board


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
