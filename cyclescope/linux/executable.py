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
_EXECUTABLE_FILE, _ARM, _EABI5 = 2, 40, 0x05000000
_LOAD, _READ_WRITE_EXECUTE = 1, 7
_CODE, _SYMBOLS, _STRINGS, _NO_BYTES = 1, 2, 3, 8
_WRITE, _ALLOCATED, _EXECUTABLE = 1, 2, 4
_ABSOLUTE, _LABEL, _OBJECT, _FUNCTION = 0xFFF1, 0, 1, 2
_SECTION_NAMES = b"\0.text\0.data\0.symtab\0.strtab\0.shstrtab\0"


@dataclass(frozen=True)
class Part:
    """A part of memory: where it is stored, where it runs, its bytes, and its size with zeroes."""

    address: int
    runs_at: int
    data: bytes
    memory_bytes: int
    is_code: bool = True

    @staticmethod
    def at(address: int, data: bytes, *, is_code: bool = False) -> Part:
        """A part that runs where it is stored."""
        return Part(address, address, data, len(data), is_code)

    def has(self, address: int) -> bool:
        """Whether something at an address runs in this part."""
        return self.runs_at <= address < self.runs_at + self.memory_bytes


def executable(
    entry: int,
    parts: Sequence[Part],
    known: Sequence[KernelSymbol],
    labels: Sequence[KernelSymbol] = (),
) -> bytes:
    """The bytes of an ELF file for 32-bit Arm with these segments, symbols and labels."""
    symbols = [(one, _FUNCTION if one.is_code else _OBJECT) for one in known]
    symbols += [(one, _LABEL) for one in labels]
    contents = [_padded(part.data) for part in parts]
    places = [_HEADER.size + _SEGMENT.size * len(parts)]
    for content in contents:
        places.append(places[-1] + len(content))
    segments = [_segment(part, at) for part, at in zip(parts, places, strict=False)]
    sections, tail = _sections(parts, symbols, places)
    header = _HEADER.pack(
        _IDENT,
        _EXECUTABLE_FILE,
        _ARM,
        1,
        entry,
        _HEADER.size,
        places[-1] + len(tail),
        _EABI5,
        _HEADER.size,
        _SEGMENT.size,
        len(parts),
        _SECTION.size,
        len(sections),
        len(sections) - 1,
    )
    return b"".join([header, *segments, *contents, tail, *sections])


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _segment(part: Part, at: int) -> bytes:
    sizes = len(part.data), part.memory_bytes
    rights = _READ_WRITE_EXECUTE
    return _SEGMENT.pack(_LOAD, at, part.runs_at, part.address, sizes[0], sizes[1], rights, 4)


def _symbols(
    symbols: Sequence[tuple[KernelSymbol, int]], parts: Sequence[Part]
) -> tuple[bytes, bytes]:
    """The table of symbols, which begins with an empty one, and their names."""
    table, names = bytearray(_SYMBOL.size), bytearray(1)
    for one, kind in symbols:
        # the sections of parts follow an empty one
        owners = (number for number, part in enumerate(parts, 1) if part.has(one.address))
        owner = next(owners, _ABSOLUTE)
        table += _SYMBOL.pack(len(names), one.address, one.size, kind, 0, owner)
        names += one.name.encode("utf-8", "replace") + b"\0"
    return bytes(table), bytes(names)


def _sections(
    parts: Sequence[Part], symbols: Sequence[tuple[KernelSymbol, int]], places: Sequence[int]
) -> tuple[list[bytes], bytes]:
    """The headers of the sections, the first one empty, and the contents that follow the parts'.

    `places` are those of the parts in the file, and of what follows them.
    """
    table, names = _symbols(symbols, parts)
    headers = [bytes(_SECTION.size)]
    for part, at in zip(parts, places, strict=False):
        flags = _ALLOCATED | (_EXECUTABLE if part.is_code else _WRITE)
        kind = _CODE if part.data else _NO_BYTES
        name = b".text" if part.is_code else b".data"
        size = len(part.data) or part.memory_bytes
        headers.append(_SECTION.pack(_named(name), kind, flags, part.runs_at, at, size, 0, 0, 4, 0))
    tail = bytearray()
    strings = len(parts) + 2
    # a link to the names, the number of local symbols, alignment, bytes of a symbol
    for name, kind, data, more in (
        (b".symtab", _SYMBOLS, table, (strings, len(symbols) + 1, 4, _SYMBOL.size)),
        (b".strtab", _STRINGS, names, (0, 0, 1, 0)),
        (b".shstrtab", _STRINGS, _SECTION_NAMES, (0, 0, 1, 0)),
    ):
        at = places[-1] + len(tail)
        headers.append(_SECTION.pack(_named(name), kind, 0, 0, at, len(data), *more))
        tail += _padded(data)
    return headers, bytes(tail)


def _named(section: bytes) -> int:
    return _SECTION_NAMES.index(section + b"\0")
