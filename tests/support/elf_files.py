"""Contents of built ELF files: segments, bytes, symbols."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path


def words(data: bytes, offset: int, count: int) -> tuple[int, ...]:
    """Words of 32 bits from an offset on."""
    return struct.unpack_from(f"<{count}I", data, offset)


def _loadable(data: bytes) -> list[tuple[int, ...]]:
    """The program headers of loaded segments."""
    (table,) = words(data, 28, 1)
    size, count = struct.unpack_from("<2H", data, 42)
    headers = [words(data, table + i * size, 8) for i in range(count)]
    return [header for header in headers if header[0] == 1]


def segments(elf: Path) -> list[range]:
    """The addresses that an ELF's loadable segments take."""
    headers = _loadable(elf.read_bytes())
    return [range(at, at + length) for _, _, at, _, _, length, _, _ in headers]


def loaded(elf: Path, start: int, end: int) -> bytes:
    """The bytes of an ELF file for a range of addresses."""
    data = elf.read_bytes()
    for _, offset, address, _, file_bytes, _, _, _ in _loadable(data):
        if address <= start and end <= address + file_bytes:
            return data[offset + start - address : offset + end - address]
    raise AssertionError(f"{elf.name} has nothing for {start:#x}")


def symbols(elf: Path) -> dict[str, int]:
    """The values of an ELF's symbols."""
    return {name: value for name, value, _ in _symbol_table(elf)}


def sizes(elf: Path) -> dict[str, int]:
    """The number of bytes that an ELF's symbols cover."""
    return {name: size for name, _, size in _symbol_table(elf)}


def _symbol_table(elf: Path) -> Iterator[tuple[str, int, int]]:
    """Names, values and sizes."""
    data = elf.read_bytes()
    (table,) = words(data, 32, 1)
    size, count = struct.unpack_from("<2H", data, 46)
    sections = [words(data, table + i * size, 10) for i in range(count)]
    (symbol_table,) = [section for section in sections if section[1] == 2]
    names = sections[symbol_table[6]][4]
    for at in range(symbol_table[4], symbol_table[4] + symbol_table[5], 16):
        name, value, bytes_of = words(data, at, 3)
        end = data.index(b"\0", names + name)
        yield data[names + name : end].decode(), value, bytes_of
