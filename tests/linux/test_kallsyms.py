"""The symbols in a kernel, found without any symbol, in the forms that kernels have had."""

from __future__ import annotations

import struct

import pytest

from cyclescope.linux import kallsyms, kernels

COUNT = 700
BASE = 0xC0008000
# Tokens of more than one character, as the compressor makes them of frequent pairs.
LONG = {0x01: "sys_", 0x02: "_init", 0xF0: "Tfunction"}


def symbols() -> list[tuple[int, str]]:
    """Addresses and names with types: functions, every fifth of them an object; one is known."""
    names = [f"{'d' if n % 5 == 4 else 'T'}function{n}_init" for n in range(COUNT)]
    names[9] = "dmodules"
    return [(BASE + 0x8000 + 16 * n, name) for n, name in enumerate(names)]


def tokens() -> list[str]:
    return [LONG.get(n, chr(n) if 0x20 < n < 0x7F else "") for n in range(256)]


def compressed(name: str) -> bytes:
    for byte, text in sorted(LONG.items(), key=lambda one: -len(one[1])):
        name = name.replace(text, chr(byte))
    data = name.encode("latin-1")
    return bytes([len(data)]) + data


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def tables(*, is_new: bool, is_relative: bool, with_sequence: bool = False) -> bytes:
    """The tables as `scripts/kallsyms.c` of Linux writes them."""
    places = [address for address, _ in symbols()]
    names = [compressed(name) for _, name in symbols()]
    markers = [sum(map(len, names[:n])) for n in range(0, COUNT, 256)]
    texts = [text.encode() + b"\0" for text in tokens()]
    index = [sum(map(len, texts[:n])) for n in range(256)]
    if is_relative:
        offsets = [place - places[0] for place in places]
        addresses = struct.pack(f"<{COUNT}II", *offsets, places[0])
    else:
        addresses = struct.pack(f"<{COUNT}I", *places)
    sequence = padded(bytes(range(1, 4)) * COUNT) if with_sequence else b""
    inner = [
        struct.pack("<I", COUNT),
        padded(b"".join(names)),
        struct.pack(f"<{len(markers)}I", *markers),
        sequence,
        padded(b"".join(texts)),
        struct.pack("<256H", *index),
    ]
    return b"".join([*inner, addresses] if is_new else [addresses, *inner])


def image(**form: bool) -> bytes:
    """A kernel whose text begins at `BASE` + 0x8000, after zeroes."""
    code = bytes(0x8000) + struct.pack("<I", 0xE1A00000) * 3000
    return struct.pack("<I", 0xE10F9000) + code[4:] + b"rodata: 0\x001\x002\0  " + tables(**form)


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("is_relative", [False, True])
def test_functions_have_names_and_sizes(is_new: bool, is_relative: bool) -> None:
    found = kallsyms.functions(image(is_new=is_new, is_relative=is_relative))
    expected = [
        kallsyms.KernelSymbol(address, 16, name[1:], name[0] == "T")
        for address, name in symbols()[:-1]
        if name[0] == "T" or name == "dmodules"
    ]
    assert found == expected


def test_the_plainest_of_several_names_is_kept() -> None:
    names = ("mmioset", "__memset", "memset")
    symbols = [kallsyms.KernelSymbol(BASE, 4, name) for name in names]
    assert [one.name for one in kallsyms.distinct(symbols)] == ["memset"]


def test_a_sequence_of_names_may_come_before_the_tokens() -> None:
    found = kallsyms.functions(image(is_new=False, is_relative=True, with_sequence=True))
    assert found[0].name == "function0_init"
    assert len(found) > COUNT // 2


def test_an_image_is_placed_by_its_text() -> None:
    kernel = kernels.recognised(image(is_new=True, is_relative=True), "Image")
    assert kernel.text_offset == kernels.TEXT_OFFSET


@pytest.mark.parametrize("cut", [1, 300, 2000, 9000])
def test_cut_tables_give_no_names(cut: int) -> None:
    whole = image(is_new=True, is_relative=True)
    assert kallsyms.functions(whole[:-cut]) == []


@pytest.mark.parametrize("at", range(0, 9000, 701))
def test_damaged_tables_end_without_an_error(at: int) -> None:
    data = bytearray(image(is_new=False, is_relative=False))
    data[-at - 1] ^= 0xFF
    for one in kallsyms.functions(bytes(data)):
        assert one.size > 0


def test_other_data_have_no_names() -> None:
    assert kallsyms.functions(b"") == []
    assert kallsyms.functions(bytes(1 << 16)) == []
    assert kallsyms.functions(b"0\x001\x002\x003\x004\x005\x006\x007\x008\x009\x00" * 300) == []
