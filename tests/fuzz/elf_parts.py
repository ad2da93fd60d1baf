"""ELF files by hand with all that the loader reads, and where their fields are."""

from __future__ import annotations

import struct
from random import Random

_HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
_SEGMENT_BYTES, _SECTION_BYTES, _SYMBOL_BYTES = 32, 40, 16
_EDGES = (0, 1, 2, 3, 4, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0, 0xFFFF_FFFC, 0xFFFF_FFFF)


def _words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def _debug_sections(text: int, text_bytes: int) -> list[tuple[str, int, int, bytes]]:
    """DWARF 4: one unit whose line table says that `text` is line 3 of a.c."""
    abbreviations = bytes((1, 0x11, 0, 0x10, 0x17, 0x11, 1, 0x12, 6, 0, 0, 0))
    unit = struct.pack("<HIBBIII", 4, 0, 4, 1, 0, text, text_bytes)
    tables = (
        bytes((1, 1, 1, 0xFB, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0)) + b"a.c\0\0\0\0\0"
    )
    # set the address; lines 2 on and 1 on, at 0 and 4 bytes further; 12 bytes on; the end
    line_program = b"\0\5\2" + _words(text) + bytes((20, 75, 2, 12, 0, 1, 1))
    lines = struct.pack("<HI", 4, len(tables)) + tables + line_program
    return [
        (".debug_abbrev", 1, 0, abbreviations),
        (".debug_info", 1, 0, _words(len(unit)) + unit),
        (".debug_line", 1, 0, _words(len(lines)) + lines),
    ]


def executable(machine: int, text: int, code: bytes, data: int) -> bytes:
    """An executable with two segments, symbols and line numbers."""
    symbols = bytes(16)
    for name, address, size, info in ((1, text, 8, 0x12), (6, text + 8, 0, 0x10), (1, text, 8, 3)):
        symbols += _words(name, address, size) + struct.pack("<BBH", info, 0, 1)
    values = _words(1, 2, 3)
    sections = [
        ("", 0, 0, b""),
        (".text", 1, 0, code),
        (".data", 1, 0, values),
        (".symtab", 2, 4, symbols),
        (".strtab", 3, 0, b"\0main\0end\0"),
        *_debug_sections(text, len(code)),
    ]
    names = b"".join(name.encode() + b"\0" for name in [each[0] for each in sections])
    sections.append((".shstrtab", 3, 0, names + b".shstrtab\0"))
    offset = first = _HEADER.size + 2 * _SEGMENT_BYTES
    headers = contents = b""
    at_name = 0
    for name, kind, link, held in sections:
        address = text if name == ".text" else 0
        size = _SYMBOL_BYTES if kind == 2 else 0
        headers += _words(at_name, kind, 0, address, offset, len(held), link, 1, 4, size)
        contents += held
        offset += len(held)
        at_name += len(name) + 1
    segments = _words(1, first, text, text, len(code), len(code), 5, 4)
    segments += _words(1, first + len(code), data, data, len(values), 256, 6, 4)
    ident = b"\x7fELF\x01\x01\x01" + bytes(9)
    header = _HEADER.pack(
        ident,
        2,
        machine,
        1,
        text,
        _HEADER.size,
        offset,
        0,
        _HEADER.size,
        _SEGMENT_BYTES,
        2,
        _SECTION_BYTES,
        len(sections),
        len(sections) - 1,
    )
    return header + segments + contents + headers


def fields(elf: bytes) -> list[tuple[int, int]]:
    """Place and size of each field of headers, and of some symbols, of a sound file."""
    found = [(at, 1) for at in range(4, 8)] + [(at, 2) for at in (16, 18, *range(40, 52, 2))]
    found += [(at, 4) for at in range(20, 40, 4)]
    parts = _HEADER.unpack_from(elf)
    segments, sections, count, section_count = parts[5], parts[6], parts[10], parts[12]
    for at in range(segments, segments + count * _SEGMENT_BYTES, 4):
        found.append((at, 4))
    for index in range(section_count):
        at = sections + index * _SECTION_BYTES
        found += [(at + field, 4) for field in range(0, _SECTION_BYTES, 4)]
        kind, offset, size = struct.unpack_from("<I8xII", elf, at + 4)
        if kind == 2:
            for symbol in range(offset, offset + min(size, 8 * _SYMBOL_BYTES), _SYMBOL_BYTES):
                found += [(symbol, 4), (symbol + 4, 4), (symbol + 8, 4), (symbol + 12, 1)]
    return [(at, size) for at, size in found if at + size <= len(elf)]


def spoil(random: Random, elf: bytearray, places: list[tuple[int, int]]) -> None:
    """Change something, a field of a header more often than not."""
    chance = random.random()
    at = random.randrange(len(elf)) if elf else 0
    if len(elf) < 64:
        elf += random.randbytes(random.randrange(1, 80))
    elif chance < 0.6:
        place, size = random.choice(places)
        number = random.choice((*_EDGES, random.randrange(1024), random.getrandbits(32), len(elf)))
        if place + size <= len(elf):
            old = int.from_bytes(elf[place : place + size], "little")
            near = old + random.choice((-4, -1, 1, 4, 16)) if random.random() < 0.3 else number
            elf[place : place + size] = (near % (1 << 8 * size)).to_bytes(size, "little")
    elif chance < 0.8:
        for _ in range(random.choice((1, 1, 4))):
            elf[random.randrange(len(elf))] = random.getrandbits(8)
    elif chance < 0.88:
        del elf[at : at + random.randrange(1, 64)]
    elif chance < 0.96:
        elf[at:at] = random.randbytes(random.randrange(1, 64))
    else:
        del elf[at:]
