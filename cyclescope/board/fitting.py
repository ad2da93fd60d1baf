"""Which shipped boards a program may be for: those that can hold it, for a core that can run it."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from cyclescope.board.board import Board
from cyclescope.board.programs import Program, read_program
from cyclescope.board.trees import shipped_boards
from cyclescope.errors import ElfError, EngineError

# More names than that help nobody.
_MOST_TOLD = 4


def fitting_boards(program: Program, core: str | None = None) -> list[str]:
    """The boards that a program can be loaded on, the likeliest first.

    A Cortex-M program begins with its stack pointer, which mostly is the end of a memory: boards
    with a memory that ends there come first. `core` is the name of the core that is to run it.
    """
    stack = _stack_pointer(program)
    found = [(name, board) for name in shipped_boards() if (board := _holds(name, program, core))]
    found.sort(key=lambda item: stack not in _ends(item[1].describe()["map"]))
    return [name for name, _ in found]


def in_words(file: Any, base: int | None, entry: int | None, core: str | None) -> str:
    """The boards that a program fits, as in "a, b or c"; "" where there is none.

    Raises as `read_program` does.
    """
    program = read_program(file, base, entry)
    is_program = bool(program.parts) or program.elf.startswith(b"\x7fELF")
    names = fitting_boards(program, core) if is_program else []
    return _listed(names)


def _listed(names: list[str]) -> str:
    left = len(names) - _MOST_TOLD
    shown = names if left <= 1 else [*names[:_MOST_TOLD], f"{left} others"]
    *first, last = shown or [""]
    return f"{', '.join(first)} or {last}" if first else last


def _holds(name: str, program: Program, core: str | None) -> Board | None:
    try:
        board = Board(name)
        board.load_program(program, core)
    except (ElfError, EngineError):
        return None
    return board


def _ends(regions: Iterable[dict[str, Any]]) -> set[int]:
    return {region["base"] + region["size"] for region in regions}


def _stack_pointer(program: Program) -> int | None:
    """The first word of what a program puts at its lowest address; `None` if it has none."""
    parts = list(program.parts)
    if program.elf:
        try:
            segments = list(ELFFile(io.BytesIO(program.elf)).iter_segments("PT_LOAD"))
            parts = [(segment["p_paddr"], segment.data()) for segment in segments]
        except (ELFError, ValueError, struct.error, OverflowError, MemoryError):
            return None
    parts = [(address, data) for address, data in parts if len(data) >= 4]
    return struct.unpack_from("<I", min(parts)[1])[0] if parts else None
