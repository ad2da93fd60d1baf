"""Kernels are recognised by their first words, and decompressed."""

from __future__ import annotations

import gzip
import lzma
import struct

import pytest

from cyclescope.errors import UsageError
from cyclescope.linux import kernels

# mrs r9, cpsr, with which kernels begin
IMAGE = struct.pack("<I", 0xE10F9000) + b"some code of a kernel" * 1000


def zimage(payload: bytes, table: bool = True) -> bytes:
    """A zImage around a compressed kernel, with the table of sizes of newer kernels or without."""
    begin = bytearray(0x60)
    size = len(begin) + len(payload)
    struct.pack_into("<4I", begin, 0x24, 0x016F2818, 0, size, 0x04030201)
    if table:
        struct.pack_into("<3I", begin, 0x34, 0x45454545, 0x40, 0)
        struct.pack_into("<6I", begin, 0x40, 6, 0x5A534C4B, size - 4, 0x1234, 0x208000, 0x10000)
    return bytes(begin) + payload


@pytest.mark.parametrize(
    "compress",
    [gzip.compress, lzma.compress, lambda data: lzma.compress(data, lzma.FORMAT_ALONE)],
    ids=["gzip", "xz", "lzma"],
)
def test_a_zimage_is_decompressed(compress) -> None:
    payload = b"\x1f\x8b\x08 is no stream, \xfd7zXZ\0 neither" + compress(IMAGE) + b"size"
    kernel = kernels.recognised(zimage(payload), "zImage")
    assert kernel.is_compressed
    assert kernel.image == IMAGE
    assert (kernel.text_offset, kernel.bss_bytes) == (0x208000, 0x1234)
    assert kernel.running_bytes == len(IMAGE) + 0x1234


def test_an_old_zimage_has_no_sizes() -> None:
    kernel = kernels.recognised(zimage(b"unknown compression", table=False), "zImage")
    assert kernel.image is None
    assert kernel.text_offset == kernels.TEXT_OFFSET
    assert kernel.running_bytes > len(kernel.data)


def test_an_image_begins_with_an_instruction() -> None:
    kernel = kernels.recognised(IMAGE, "Image")
    assert not kernel.is_compressed
    assert kernel.image == IMAGE
    assert kernel.text_offset == kernels.TEXT_OFFSET


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"text of somebody", "neither a zImage nor an Image"),
        (b"", "neither a zImage nor an Image"),
        (b"\x7fELF" + bytes(64), "an ELF file: give the zImage or Image beside it"),
        (b"\x27\x05\x19\x56" + bytes(64), "a uImage of U-Boot"),
        (b"\xd0\x0d\xfe\xed" + bytes(64), "a devicetree or a FIT image"),
        (gzip.compress(IMAGE), "a gzip file: decompress it first"),
        (bytes(0x38) + b"ARM\x64" + bytes(8), "a kernel for 64-bit Arm"),
        (zimage(b"payload")[:0x50], "a truncated zImage"),
    ],
)
def test_other_files_are_refused_with_what_to_do(data: bytes, why: str) -> None:
    with pytest.raises(UsageError, match=f"^file: {why}"):
        kernels.recognised(data, "file")
