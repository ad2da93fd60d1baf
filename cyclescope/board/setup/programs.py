"""Program files: ELF, and the formats of flash programmers."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cyclescope._engine import Machine
from cyclescope.errors import ElfError, UsageError
from cyclescope.host import inputs

_MOST_ADDRESS = 2**32
# A vector table's stack pointer and reset vector.
TABLE_BYTES = 8
# The number of bytes at the start of a file that distinguish the formats.
_MARK_BYTES = 16
# No program of a Cortex-M is larger.
_MOST_PROGRAM_BYTES = 16 << 20

_UF2_BLOCK_BYTES = 512
_UF2_MAGIC = (0x0A324655, 0x9E5D5157, 0x0AB16F30)
_UF2_NOT_FOR_FLASH = 1
_UF2_FILE = 0x1000

# Types of Intel HEX records that extend the address of the records that follow.
_SEGMENT, _UPPER = 2, 4
# The longest message about a record, which quotes the record.
_MOST_REASON = 200
# The largest number of separate parts: real programs have a few.
_MOST_PARTS = 16384

Parts = tuple[tuple[int, bytes], ...]


@dataclass(frozen=True)
class Program:
    """A program that can be loaded: the bytes of an ELF file, or parts of memory.

    For a program in parts, `entry` is the address of its first instruction from the file, `start`
    from the user.
    """

    name: str
    elf: bytes = b""
    parts: Parts = ()
    entry: int | None = None
    start: int | None = None

    def load_into(self, machine: Machine, core: str | None) -> None:
        """Load the program for the core of this name, or for the first core that it fits.

        Raises `ElfError` if the board can't hold the program, `EngineError` if there is no such
        core.
        """
        if self.parts:
            machine.load_raw(list(self.parts), self.entry, self.start, self.name, core)
        else:
            machine.load(self.elf, self.name, core)


def read_program(
    file: str | os.PathLike[str] | bytes,
    base: int | None = None,
    entry: int | None = None,
    room: int | None = None,
) -> Program:
    """Read a program: an ELF, Intel HEX, S-record or UF2 file, or, with `base`, any bytes.

    `base` is the address of the first byte of a raw binary; `entry` is the address of the first
    instruction and overrides the file's. A raw binary without `base` is not read in full: loading
    it fails. Raises `ElfError` if a raw binary is far larger than `room` bytes, `UsageError` if the
    file is damaged, or can't be combined with `base` or `entry`, `OSError` if it can't be read.
    """
    if isinstance(file, bytes):
        name, data = "firmware", file
    else:
        name, path = inputs.printable(file), Path(file)
        mark = inputs.begin(path, _MARK_BYTES)
        if mark is not None and not _has_format(mark):
            size = path.stat().st_size
            if base is None and size <= inputs.MOST_ELF_BYTES:
                return Program(name, elf=mark)
            if base is not None and room is not None and size > max(room, _MOST_PROGRAM_BYTES):
                raise _too_large(name, size, base, room)
        data = inputs.read(path, inputs.MOST_ELF_BYTES)
    if data.startswith(b"\x7fELF"):
        if base is not None or entry is not None:
            raise UsageError(f"{name}: an ELF file takes no --base and no --entry")
        return Program(name, elf=data)
    if base is not None:
        return Program(name, parts=_raw(name, data, base), start=entry)
    parts, entry_in_file = _parts(name, data)
    if not parts:
        # The engine's message says why the file is not a program.
        return Program(name, elf=data)
    return Program(name, parts=parts, entry=entry_in_file, start=entry)


def _has_format(mark: bytes) -> bool:
    """Whether a file with this start has a format with addresses."""
    is_uf2 = mark[:4] == struct.pack("<I", _UF2_MAGIC[0])
    is_records = mark[:1] == b":" or (mark[:1] == b"S" and mark[1:2].isdigit())
    return mark.startswith(b"\x7fELF") or is_uf2 or is_records


def _too_large(name: str, size: int, base: int, room: int) -> ElfError:
    there = f"{room} bytes from there on" if room else "no memory there"
    return ElfError(f"{name}: its {size} bytes do not fit at {base:#010x}: the board has {there}")


def meant_base(words: bytes, size: int, places: Iterable[tuple[int, int]]) -> str:
    """A hint on the load address of a raw binary with a Cortex-M's vector table, or "".

    `words` are the first words of a file of `size` bytes. `places` are the first and last addresses
    of the board's mapped ranges: the stack pointer and the reset vector lie in them. Of all bases
    for which the reset vector points into the program, the hint has the one with the most trailing
    zeroes.
    """
    if len(words) < TABLE_BYTES or _has_format(words):
        return ""
    stack, first = struct.unpack("<2I", words)
    known = list(places)

    def is_there(address: int) -> bool:
        return any(begin <= address <= end for begin, end in known)

    if not first & 1 or stack % 4 or not (is_there(stack - 4) and is_there(first)):
        return ""
    highest, size = first - 1, min(size, _MOST_PROGRAM_BYTES)
    bases = (highest >> zeroes << zeroes for zeroes in range(32, 6, -1))
    base = next((base for base in bases if base > highest - size), None)
    if base is None:
        return ""
    what = f"stack pointer {stack:#010x}, reset vector {first:#010x}"
    return f"its first words ({what}) mean a base of {base:#010x}"


def _raw(name: str, data: bytes, base: int) -> Parts:
    if not data:
        raise UsageError(f"{name}: the file is empty")
    if not 0 <= base <= _MOST_ADDRESS - len(data):
        raise UsageError(f"{name}: --base {base:#x}: its {len(data)} bytes end beyond 4 GiB")
    return ((base, data),)


def _parts(name: str, data: bytes) -> tuple[Parts, int | None]:
    """The parts of a file that is not an ELF, and the entry; no parts for an unknown format."""
    if struct.unpack_from("<I", data.ljust(4, b"\0"))[0] == _UF2_MAGIC[0]:
        return tuple(_joined(name, _uf2(name, data))), None
    begin = data[:2]
    if begin[:1] == b":" or (begin[:1] == b"S" and begin[1:].isdigit()):
        return _records(name, data)
    return (), None


def _records(name: str, data: bytes) -> tuple[Parts, int | None]:
    """The parts and the entry of an Intel HEX or S-record file."""
    import bincopy  # only such files need it

    found = _Records()
    try:
        text = data.decode("ascii")
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None
    take = found.take_ihex if text.startswith(":") else found.take_srec
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.strip():
                take(line.strip())
        except (bincopy.Error, ValueError) as error:
            reason = " ".join(str(error).split())
            more = "..." if len(reason) > _MOST_REASON else ""
            raise UsageError(f"{name}:{number}: {reason[:_MOST_REASON]}{more}") from None
    parts = tuple(_joined(name, _in_order(name, found.data)))
    if not parts:
        raise UsageError(f"{name}: it has no data")
    # S-records without a start address say 0
    return parts, found.entry or None


class _Records:
    """A reader of records, one after the other: data with addresses, and the entry."""

    def __init__(self) -> None:
        self.data: list[tuple[int, bytes]] = []
        self.entry: int | None = None
        self._base = {_SEGMENT: 0, _UPPER: 0}

    def take_ihex(self, record: str) -> None:
        """Read an Intel HEX record. Raises `bincopy.Error` or `ValueError` for an invalid one."""
        import bincopy

        kind, addr, _, data = bincopy.unpack_ihex(record)
        number = int.from_bytes(data, "big")
        if kind == bincopy.IHEX_DATA:
            self._add(sum(self._base.values()) + addr, data)
        elif kind in self._base:
            self._base[kind] = number << (4 if kind == _SEGMENT else 16)
        elif kind == bincopy.IHEX_START_SEGMENT_ADDRESS:
            # a segment of 16 bytes, and an offset
            self.entry = (number >> 16) * 16 + (number & 0xFFFF)
        elif kind == bincopy.IHEX_START_LINEAR_ADDRESS:
            self.entry = number
        elif kind != bincopy.IHEX_END_OF_FILE:
            raise ValueError(f"expected type 1..5 in record {record}, but got {kind}")

    def take_srec(self, record: str) -> None:
        """Read an S-record. Raises as `take_ihex` does."""
        import bincopy

        kind, addr, _, data = bincopy.unpack_srec(record)
        if kind in "123":
            self._add(addr, data)
        elif kind in "789":
            self.entry = addr

    def _add(self, addr: int, data: bytes) -> None:
        if addr + len(data) > _MOST_ADDRESS:
            raise ValueError(f"its data at {addr:#x} end beyond 4 GiB")
        if data:
            self.data.append((addr, data))


def _in_order(name: str, data: list[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Data sorted by address. Raises `UsageError` if parts overlap."""
    end = 0
    for addr, block in sorted(data, key=lambda one: one[0]):
        if addr < end:
            raise UsageError(f"{name}: it has data for {addr:#x} twice")
        end = addr + len(block)
        yield addr, block


def _uf2(name: str, data: bytes) -> Iterator[tuple[int, bytes]]:
    """The blocks of a UF2 file (https://github.com/microsoft/uf2) that go to flash."""
    if len(data) % _UF2_BLOCK_BYTES:
        raise UsageError(f"{name}: a UF2 file has blocks of 512 bytes; this one is cut off")
    for number, at in enumerate(range(0, len(data), _UF2_BLOCK_BYTES)):
        first, second, flags, addr, size, *_ = struct.unpack_from("<8I", data, at)
        (last,) = struct.unpack_from("<I", data, at + _UF2_BLOCK_BYTES - 4)
        if (first, second, last) != _UF2_MAGIC or size > 476 or addr + size > _MOST_ADDRESS:
            raise UsageError(f"{name}: block {number} is not a valid UF2 block")
        if not flags & (_UF2_NOT_FOR_FLASH | _UF2_FILE) and size:
            yield addr, data[at + 32 : at + 32 + size]


def _joined(name: str, blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Joins adjacent blocks."""
    at, part, parts = 0, bytearray(), 0
    for addr, block in blocks:
        if part and at + len(part) != addr:
            parts += 1
            if parts >= _MOST_PARTS:
                raise UsageError(f"{name}: it has more than {_MOST_PARTS} parts with gaps between")
            yield at, bytes(part)
            part = bytearray()
        if not part:
            at = addr
        part += block
    if part:
        yield at, bytes(part)
