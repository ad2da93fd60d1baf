"""Small ELF files made by hand, to be spoiled: the loader must refuse each with one line."""

from __future__ import annotations

import struct
from dataclasses import dataclass

EM_MIPS, EM_ARM, EM_RISCV = 8, 40, 243
DDR = 0x8000_0000
# slli x0,x0,0x1f; ebreak; srai x0,x0,7 with a0 = SYS_EXIT, a1 = ADP_Stopped_ApplicationExit
EXIT_0 = struct.pack(
    "<6I",
    0x01800513,  # li a0, 0x18
    0x000205B7,  # lui a1, 0x20
    0x02658593,  # addi a1, a1, 0x26
    0x01F01013,
    0x00100073,
    0x40705013,
)


@dataclass(frozen=True)
class Segment:
    """A PT_LOAD segment: where it goes, its bytes, and its size in memory."""

    address: int
    data: bytes
    memory_bytes: int | None = None


def executable(
    *segments: Segment,
    machine: int = EM_RISCV,
    entry: int = DDR,
    kind: int = 2,
    bits: int = 1,
    order: int = 1,
) -> bytes:
    """An ELF32 executable of `segments`; the defaults fit the board."""
    header_bytes = 52 + 32 * len(segments)
    ident = b"\x7fELF" + bytes([bits, order, 1]) + bytes(9)
    header = struct.pack(
        "<HHIIIIIHHHHHH", kind, machine, 1, entry, 52, 0, 0, 52, 32, len(segments), 40, 0, 0
    )
    table, contents = b"", b""
    for segment in segments:
        offset = header_bytes + len(contents)
        memory_bytes = len(segment.data) if segment.memory_bytes is None else segment.memory_bytes
        table += struct.pack(
            "<8I",
            1,
            offset,
            segment.address,
            segment.address,
            len(segment.data),
            memory_bytes,
            7,
            4,
        )
        contents += segment.data
    return ident + header + table + contents


GOOD = executable(Segment(DDR, EXIT_0))
