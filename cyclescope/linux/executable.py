"""Executables in ELF format, made of parts of memory and of symbols."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from cyclescope.linux.kallsyms import KernelSymbol

_HEADER = struct.Struct("<16s2H5I6H")
_SEGMENT = struct.Struct("<8I")
_SECTION = struct.Struct("<10I")
_SYMBOL = struct.Struct("<3I2BH")

_IDENT = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
_EXECUTABLE, _ARM, _EABI5 = 2, 40, 0x05000000
_LOAD, _READ_WRITE_EXECUTE = 1, 7
_SYMBOLS, _STRINGS = 2, 3
_ABSOLUTE, _FUNCTION = 0xFFF1, 2
_SECTION_NAMES = b"\0.symtab\0.strtab\0.shstrtab\0"


@dataclass(frozen=True)
class Part:
    """A part of memory: where it is stored, where it runs, its bytes, and its size with zeroes."""

    address: int
    runs_at: int
    data: bytes
    memory_bytes: int

    @staticmethod
    def at(address: int, data: bytes) -> Part:
        """A part that runs where it is stored."""
        return Part(address, address, data, len(data))


def executable(entry: int, parts: Sequence[Part], symbols: Sequence[KernelSymbol]) -> bytes:
    """The bytes of an ELF file for 32-bit Arm with these segments and functions."""
    offset = _HEADER.size + _SEGMENT.size * len(parts)
    segments, content = [], []
    for part in parts:
        size = len(part.data)
        segments.append(
            _SEGMENT.pack(
                _LOAD,
                offset,
                part.runs_at,
                part.address,
                size,
                part.memory_bytes,
                _READ_WRITE_EXECUTE,
                4,
            )
        )
        content.append(_padded(part.data))
        offset += len(content[-1])
    table, names = _symbols(symbols)
    sections, tail = _sections(offset, table, names, len(symbols))
    header = _HEADER.pack(
        _IDENT,
        _EXECUTABLE,
        _ARM,
        1,
        entry,
        _HEADER.size,
        offset + len(tail),
        _EABI5,
        _HEADER.size,
        _SEGMENT.size,
        len(parts),
        _SECTION.size,
        len(sections),
        len(sections) - 1,
    )
    return b"".join([header, *segments, *content, tail, *sections])


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _symbols(symbols: Sequence[KernelSymbol]) -> tuple[bytes, bytes]:
    """The table of symbols, which begins with an empty one, and their names."""
    table, names = bytearray(_SYMBOL.size), bytearray(1)
    for one in symbols:
        table += _SYMBOL.pack(len(names), one.address, one.size, _FUNCTION, 0, _ABSOLUTE)
        names += one.name.encode("utf-8", "replace") + b"\0"
    return bytes(table), bytes(names)


def _sections(at: int, table: bytes, names: bytes, count: int) -> tuple[list[bytes], bytes]:
    """The headers of the sections, the first one empty, and the sections' contents."""
    contents = [_padded(table), _padded(names), _padded(_SECTION_NAMES)]
    starts = [at, at + len(contents[0]), at + len(contents[0]) + len(contents[1])]

    def section(name: bytes, kind: int, number: int, size: int, *more: int) -> bytes:
        place = _SECTION_NAMES.index(name + b"\0")
        return _SECTION.pack(place, kind, 0, 0, starts[number], size, *more)

    headers = [
        bytes(_SECTION.size),
        # the names are in section 2; all symbols are local
        section(b".symtab", _SYMBOLS, 0, len(table), 2, count + 1, 4, _SYMBOL.size),
        section(b".strtab", _STRINGS, 1, len(names), 0, 0, 1, 0),
        section(b".shstrtab", _STRINGS, 2, len(_SECTION_NAMES), 0, 0, 1, 0),
    ]
    return headers, b"".join(contents)
