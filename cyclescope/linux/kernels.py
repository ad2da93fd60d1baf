"""Kernels of Linux for 32-bit Arm: a zImage, which decompresses itself, or an Image.

The header of a zImage is described in arch/arm/boot/compressed/head.S and vmlinux.lds.S of Linux.
An Image has none: it begins with its first instruction.
"""

from __future__ import annotations

import lzma
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from cyclescope.errors import UsageError
from cyclescope.linux import kallsyms

# Where a kernel is linked, from the start of RAM on, unless its header says otherwise.
TEXT_OFFSET = 0x8000
_TEXT_OFFSETS = (0x8000, 0x108000, 0x208000, 0x308000)
# The virtual addresses at which a kernel may begin are multiples of this.
LINKED_PER = 1 << 28

_ZIMAGE_MAGIC_AT, _ZIMAGE_MAGIC = 0x24, 0x016F2818
_TABLE_MAGIC_AT, _TABLE_MAGIC = 0x34, 0x45454545
_TABLE_TAG = 0x5A534C4B
_ARM64_MAGIC_AT, _ARM64_MAGIC = 0x38, b"ARM\x64"
# Instructions of A32 that are always executed have this condition.
_ALWAYS = 0xE
# More than any kernel; a damaged stream must not fill the host's memory.
_MOST_BYTES = 256 << 20

# First bytes of other files that users have at hand, and what to do.
_OTHERS = (
    (b"\x7fELF", "an ELF file: give the zImage or Image beside it, and vmlinux to --symbols"),
    (b"\x27\x05\x19\x56", "a uImage of U-Boot: give the zImage that it contains"),
    (b"\xd0\x0d\xfe\xed", "a devicetree or a FIT image: give the zImage or Image itself"),
    (b"\x1f\x8b", "a gzip file: decompress it first"),
    (b"MZ", "an EFI program for another processor: give a zImage of a 32-bit Arm kernel"),
)


@dataclass(frozen=True)
class Kernel:
    """A kernel as it is loaded, and what is known about it when it runs.

    `image` is the decompressed kernel, None if its compression is unknown; `bss_bytes` is the
    memory that it needs beyond, where the header says it.
    """

    name: str
    data: bytes
    is_compressed: bool
    text_offset: int
    image: bytes | None
    bss_bytes: int

    @property
    def running_bytes(self) -> int:
        """The memory of the running kernel, or an upper bound."""
        if self.image is None:
            return 8 * len(self.data)  # no kernel is compressed better
        return len(self.image) + self.bss_bytes

    @property
    def decompressed(self) -> Kernel:
        """The kernel as it is after it has decompressed itself; itself if that can't be done here.

        It boots in less time, as a boot loader that decompresses it has spent that.
        """
        if self.image is None:
            return self
        return replace(self, data=self.image, is_compressed=False)


def recognised(data: bytes, name: str) -> Kernel:
    """The kernel in a file's bytes. Raises `UsageError` if they are neither zImage nor Image."""
    if _word(data, _ZIMAGE_MAGIC_AT) == _ZIMAGE_MAGIC:
        return _zimage(data, name)
    for begin, what in _OTHERS:
        if data.startswith(begin):
            raise UsageError(f"{name}: {what}")
    if data[_ARM64_MAGIC_AT:][:4] == _ARM64_MAGIC:
        raise UsageError(f"{name}: a kernel for 64-bit Arm: the board's cores have 32 bits")
    first = _word(data, 0)
    if first is None or first >> 28 != _ALWAYS:
        raise UsageError(
            f"{name}: neither a zImage nor an Image of a 32-bit Arm kernel: give a build's "
            "arch/arm/boot/zImage, or a distribution's vmlinuz"
        )
    # An Image does not say how much it clears: kernels have at most a third of their size.
    return Kernel(name, data, False, _offset_of_image(data), data, len(data) // 2)


def _offset_of_image(image: bytes) -> int:
    """Where an Image is linked, from the start of RAM on (arch/arm/Makefile, textofs-y).

    The kernel's text begins at a section of its own, after zeroes: its address is in kallsyms.
    """
    code = kallsyms.functions(image)
    text = code[0].address % LINKED_PER if code else 0
    for offset in _TEXT_OFFSETS if text else ():
        at = text - offset
        if 0 < at < len(image) and not any(image[at - 16 : at]) and any(image[at : at + 4]):
            return offset
    return TEXT_OFFSET


def _zimage(data: bytes, name: str) -> Kernel:
    end = _word(data, _ZIMAGE_MAGIC_AT + 8) or 0
    start = _word(data, _ZIMAGE_MAGIC_AT + 4) or 0
    if end - start > len(data):
        raise UsageError(
            f"{name}: a truncated zImage: it has {len(data)} of its {end - start} bytes"
        )
    bss_bytes, text_offset = _table(data)
    image = decompressed(data)
    return Kernel(name, data, True, text_offset, image, bss_bytes)


def _table(data: bytes) -> tuple[int, int]:
    """The size of the kernel's cleared memory and its text offset; kernels before 4.15 say none."""
    if _word(data, _TABLE_MAGIC_AT) == _TABLE_MAGIC and (at := _word(data, _TABLE_MAGIC_AT + 4)):
        words = [_word(data, at + 4 * number) or 0 for number in range(6)]
        if words[1] == _TABLE_TAG:
            # its words: their number, the tag, where the size is, cleared bytes, text offset
            return words[3], words[4] if words[0] > 4 and words[4] else TEXT_OFFSET
    return 8 << 20, TEXT_OFFSET


def _word(data: bytes, at: int) -> int | None:
    return struct.unpack_from("<I", data, at)[0] if 0 <= at <= len(data) - 4 else None


def decompressed(data: bytes) -> bytes | None:
    """The largest compressed stream in a zImage, decompressed; None without such a stream.

    Known are gzip, XZ and LZMA; a kernel may also be compressed by lzo, lz4 or zstd.
    """
    found: bytes = b""
    for magic, reader in _STREAMS:
        for at in _places(data, magic):
            image = _read(reader, data[at:])
            if len(image) > max(len(found), len(data) // 2):
                found = image
        if found:
            return found
    return None


def _places(data: bytes, magic: bytes) -> Iterator[int]:
    at = data.find(magic)
    while at >= 0:
        yield at
        at = data.find(magic, at + 1)


def _read(reader: Callable[[bytes], bytes], data: bytes) -> bytes:
    """A whole stream; b"" if its first bytes only look like one."""
    try:
        return reader(data)
    except (lzma.LZMAError, OSError, EOFError, zlib.error, ValueError):
        return b""


def _xz(data: bytes) -> bytes:
    return _whole(lzma.LZMADecompressor(lzma.FORMAT_XZ), data)


def _lzma(data: bytes) -> bytes:
    return _whole(lzma.LZMADecompressor(lzma.FORMAT_ALONE), data)


def _whole(stream: lzma.LZMADecompressor, data: bytes) -> bytes:
    image = stream.decompress(data, _MOST_BYTES)
    if not stream.eof:
        raise ValueError("the stream does not end")
    return image


def _gzip(data: bytes) -> bytes:
    stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
    image = stream.decompress(data, _MOST_BYTES)
    if not stream.eof:
        raise ValueError("the stream does not end")
    return image


_STREAMS: tuple[tuple[bytes, Callable[[bytes], bytes]], ...] = (
    (b"\xfd7zXZ\0", _xz),
    (b"\x1f\x8b\x08", _gzip),
    (b"\x5d\0\0", _lzma),
)
