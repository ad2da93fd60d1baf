"""Common code of the makers of programs for all instruction sets."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field


@dataclass
class Program:
    """Bytes at addresses, and where to begin."""

    machine: int
    entry: int
    segments: list[tuple[int, bytes | bytearray]] = field(default_factory=list)


def words(values: list[int]) -> bytes:
    """Little-endian words of 32 bits."""
    return struct.pack(f"<{len(values)}I", *(value & 0xFFFF_FFFF for value in values))


def halves(values: list[int]) -> bytes:
    """Little-endian words of 16 bits."""
    return struct.pack(f"<{len(values)}H", *(value & 0xFFFF for value in values))
