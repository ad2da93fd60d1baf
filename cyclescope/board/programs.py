"""Programs in their files: ELF, and formats without headers that programmers of flashes take."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cyclescope._engine import Machine
from cyclescope.errors import UsageError
from cyclescope.host import inputs

_MOST_ADDRESS = 2**32

_UF2_BLOCK_BYTES = 512
_UF2_MAGIC = (0x0A324655, 0x9E5D5157, 0x0AB16F30)
_UF2_NOT_FOR_FLASH = 1
_UF2_FILE = 0x1000

# An Intel HEX record of type 3: the start address as a segment of 16 bytes, and an offset.
_SEGMENTED_START = "^:04[0-9A-Fa-f]{4}03"

Parts = tuple[tuple[int, bytes], ...]


@dataclass(frozen=True)
class Program:
    """A program that can be loaded: the bytes of an ELF file, or parts of memory.

    `entry` is the address of the first instruction of one in parts, where that is known.
    """

    name: str
    elf: bytes = b""
    parts: Parts = ()
    entry: int | None = None

    def load_into(self, machine: Machine, core: str | None) -> None:
        """Load it for the core of this name, or for the first that it fits.

        Raises `ElfError` if the board can't hold it, `EngineError` if there is no such core.
        """
        if self.parts:
            machine.load_raw(list(self.parts), self.entry, self.name, core)
        else:
            machine.load(self.elf, self.name, core)


def read_program(
    file: str | os.PathLike[str] | bytes, base: int | None = None, entry: int | None = None
) -> Program:
    """Read a program: an ELF, Intel HEX, S-record or UF2 file, or, with `base`, any bytes.

    `base` is the address of the first byte of a file that says nothing of addresses, `entry` that
    of the first instruction where the file does not say it. Raises `UsageError` if the file is
    damaged, or none of these, or does not go with `base` or `entry`; `OSError` if it can't be read.
    """
    if isinstance(file, bytes):
        name, data = "firmware", file
    else:
        name, data = inputs.printable(file), inputs.read(Path(file), inputs.MOST_ELF_BYTES)
    if data.startswith(b"\x7fELF"):
        if base is not None or entry is not None:
            raise UsageError(f"{name}: an ELF file has its addresses: --base and --entry are not")
        return Program(name, elf=data)
    if base is not None:
        return Program(name, parts=_raw(name, data, base), entry=entry)
    parts, told = _parts(name, data)
    if not parts:
        # The engine says what is wrong with it.
        return Program(name, elf=data)
    return Program(name, parts=parts, entry=entry if entry is not None else told)


def _raw(name: str, data: bytes, base: int) -> Parts:
    if not data:
        raise UsageError(f"{name}: the file is empty")
    if not 0 <= base <= _MOST_ADDRESS - len(data):
        raise UsageError(f"{name}: --base {base:#x}: its {len(data)} bytes end behind 4 GiB")
    return ((base, data),)


def _parts(name: str, data: bytes) -> tuple[Parts, int | None]:
    """The parts of a file without ELF's magic, and the entry; none if it is of no format."""
    if struct.unpack_from("<I", data.ljust(4, b"\0"))[0] == _UF2_MAGIC[0]:
        return tuple(_joined(_uf2(name, data))), None
    begin = data[:2]
    if begin[:1] == b":" or (begin[:1] == b"S" and begin[1:].isdigit()):
        return _records(name, data)
    return (), None


def _records(name: str, data: bytes) -> tuple[Parts, int | None]:
    """Intel HEX or S-records."""
    import bincopy  # only such files need it

    file = bincopy.BinFile()
    try:
        text = data.decode("ascii")
        (file.add_ihex if text.startswith(":") else file.add_srec)(text)
    except (bincopy.Error, ValueError) as error:
        raise UsageError(f"{name}: {' '.join(str(error).split())}") from None
    parts = tuple((segment.address, bytes(segment.data)) for segment in file.segments)
    if not parts:
        raise UsageError(f"{name}: it has no data")
    entry = file.execution_start_address
    if entry is not None and re.search(_SEGMENTED_START, text, re.MULTILINE):
        entry = (entry >> 16) * 16 + (entry & 0xFFFF)
    # S-records without a start address say 0
    return parts, entry or None


def _uf2(name: str, data: bytes) -> Iterator[tuple[int, bytes]]:
    """The blocks of a UF2 file (https://github.com/microsoft/uf2) that go to flash."""
    if len(data) % _UF2_BLOCK_BYTES:
        raise UsageError(f"{name}: a UF2 file has blocks of 512 bytes; this one is cut off")
    for number, at in enumerate(range(0, len(data), _UF2_BLOCK_BYTES)):
        first, second, flags, addr, size, *_ = struct.unpack_from("<8I", data, at)
        (last,) = struct.unpack_from("<I", data, at + _UF2_BLOCK_BYTES - 4)
        if (first, second, last) != _UF2_MAGIC or size > 476 or addr + size > _MOST_ADDRESS:
            raise UsageError(f"{name}: block {number} is no block of a UF2 file")
        if not flags & (_UF2_NOT_FOR_FLASH | _UF2_FILE) and size:
            yield addr, data[at + 32 : at + 32 + size]


def _joined(blocks: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Blocks that follow each other as one."""
    at, part = 0, bytearray()
    for addr, block in blocks:
        if part and at + len(part) != addr:
            yield at, bytes(part)
            part = bytearray()
        if not part:
            at = addr
        part += block
    if part:
        yield at, bytes(part)
