"""The symbols that a kernel has in itself: its kallsyms tables, found without any symbol.

scripts/kallsyms.c of Linux writes them. Names are compressed: each is a number of bytes, and each
byte stands for one of 256 tokens. The tables are, in the kernel's read-only data:

- up to Linux 6.3: addresses, their number, names, markers, tokens, places of tokens
- from Linux 6.4 on: number, names, markers, tokens, places of tokens, addresses

Addresses are words, or, with CONFIG_KALLSYMS_BASE_RELATIVE, offsets that a base follows. A marker
is the place of each 256th name.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

_TOKENS = 256
_FIRST_DIGIT = ord("0")
# Each digit is in some name, and so stands for itself.
_DIGITS = b"".join(bytes((digit, 0)) for digit in b"0123456789")
_MARKED = 256
# A name has at most 511 characters, and at least one byte and its length.
_MOST_NAME_BYTES = 513
_MOST_TOKEN_BYTES = 512
_MOST_TABLE_BYTES = 0xFFFF
# Kernels run in the upper part of the address space.
_LOWEST_OF_KERNEL = 1 << 30
# Types of symbols of functions, as in nm: T, W in capitals if global.
_OF_CODE = frozenset("TtWw")


VARIABLES = frozenset({"modules"})
"""Variables beside the functions: the list of modules, from which a profile has their names."""


@dataclass(frozen=True)
class KernelSymbol:
    """A function of the kernel, or one of `VARIABLES`: virtual address, size, name.

    The size is the number of bytes up to the next symbol.
    """

    address: int
    size: int
    name: str
    is_code: bool = True


def functions(image: bytes) -> list[KernelSymbol]:
    """The functions of a decompressed kernel, and `VARIABLES`, by address.

    The list is empty if it has no such tables.
    """
    for tokens in _tokens(image):
        for names_at, count in _names(image, tokens):
            names = list(_decoded(image, names_at, count, tokens.texts))
            addresses = _addresses(image, names_at, count, tokens)
            if addresses is not None:
                return _sized(addresses, names)
    return []


@dataclass(frozen=True)
class _TokenTable:
    """The table of tokens: where it begins, where the table of their places ends, and the texts."""

    begin: int
    end: int
    texts: tuple[str, ...]


def _tokens(image: bytes) -> Iterator[_TokenTable]:
    """The tables of tokens: texts, and then their places, which confirm them."""
    digits = image.find(_DIGITS)
    while digits >= 0:
        for begin in _begins(image, digits):
            table = _token_table(image, begin)
            if table is not None:
                yield table
        digits = image.find(_DIGITS, digits + 1)


def _begins(image: bytes, digits: int) -> Iterator[int]:
    """Where a table may begin whose tokens of digits are here: the data before it are unknown."""
    second = digits
    for _ in range(_FIRST_DIGIT - 1):
        if second < 2:
            return
        second = image.rfind(b"\0", 0, second - 1) + 1
    first = max(image.rfind(b"\0", 0, max(second - 1, 0)) + 1, second - _MOST_TOKEN_BYTES)
    yield from range(first + -first % 4, second, 4)


def _token_table(image: bytes, begin: int) -> _TokenTable | None:
    """The table that begins here, if the table of places follows it."""
    end, places = begin, []
    for _ in range(_TOKENS):
        places.append(end - begin)
        end = image.find(b"\0", end) + 1
        if end == 0 or end - begin > _MOST_TABLE_BYTES:
            return None
    wanted = struct.pack(f"<{_TOKENS}H", *places)
    found = image.find(wanted, end, end + len(wanted) + 8)
    if found < 0:
        return None
    texts = image[begin:end].decode("ascii", "replace").split("\0")
    return _TokenTable(begin, found + len(wanted), tuple(texts[:_TOKENS]))


def _names(image: bytes, tokens: _TokenTable) -> Iterator[tuple[int, int]]:
    """Where the names begin, and their number: their markers lie between them and the tokens."""
    words = memoryview(image)
    for markers_at, markers in _markers(image, tokens.begin):
        last = markers_at - markers[-1]
        for at in range(last & ~3, max(last - _MARKED * _MOST_NAME_BYTES, 4), -4):
            (count,) = struct.unpack_from("<I", words, at - 4)
            if -(-count // _MARKED) == len(markers) and _match(image, at, count, markers):
                yield at, count


def _markers(image: bytes, end: int) -> Iterator[tuple[int, list[int]]]:
    """Arrays of words before `end` that begin with 0 and ascend as the places of names do."""
    at, run = end & ~3, list[int]()
    while at >= 4:
        at -= 4
        (word,) = struct.unpack_from("<I", image, at)
        if run and not 2 * _MARKED <= run[-1] - word <= _MARKED * _MOST_NAME_BYTES:
            run = []
        run.append(word)
        if word == 0:
            if len(run) > 1:
                yield at, run[::-1]
            run = []
        if end - at > _MARKED * (1 << 16):
            return


def _match(image: bytes, begin: int, count: int, markers: list[int]) -> bool:
    """Whether names that begin here have their markers."""
    at = begin
    for number in range(count):
        if number % _MARKED == 0 and markers[number // _MARKED] != at - begin:
            return False
        if at + 2 > len(image):
            return False
        size, at = _length(image, at)
        at += size
    return True


def _length(image: bytes, at: int) -> tuple[int, int]:
    """The number of bytes of a name, and where they begin; from Linux 6.1 on, above 127 in two."""
    size = image[at]
    if size & 0x80:
        return size & 0x7F | image[at + 1] << 7, at + 2
    return size, at + 1


def _decoded(image: bytes, begin: int, count: int, texts: tuple[str, ...]) -> Iterator[str]:
    """The names, each with its type before it."""
    at = begin
    for _ in range(count):
        size, at = _length(image, at)
        yield "".join([texts[byte] for byte in image[at : at + size]])
        at += size


def _addresses(image: bytes, names_at: int, count: int, tokens: _TokenTable) -> list[int] | None:
    """The addresses of symbols, in whichever of the known places and forms they are."""
    before, after = names_at - 4 - 4 * count, tokens.end + -tokens.end % 4
    for at, base_at in ((before - 4, names_at - 8), (after, after + 4 * count)):
        offsets = _ascending(image, at, count)
        if offsets is not None and offsets[0] == 0 and base_at + 4 <= len(image):
            (base,) = struct.unpack_from("<I", image, base_at)
            if base >= _LOWEST_OF_KERNEL and base + offsets[-1] < 1 << 32:
                return [base + offset for offset in offsets]
    for at in (before, after):
        addresses = _ascending(image, at, count)
        if addresses is not None and addresses[-1] >= _LOWEST_OF_KERNEL:
            return addresses
    return None


def _ascending(image: bytes, at: int, count: int) -> list[int] | None:
    """That many words, if none is below the one before."""
    if at < 0 or at + 4 * count > len(image):
        return None
    words = list(struct.unpack_from(f"<{count}I", image, at))
    return words if all(one <= other for one, other in pairwise(words)) else None


def _sized(addresses: list[int], names: list[str]) -> list[KernelSymbol]:
    found = []
    end, reached = addresses[-1], addresses[-1]
    for address, name in zip(reversed(addresses), reversed(names), strict=True):
        if address != reached:
            end, reached = reached, address
        is_code = name[:1] in _OF_CODE
        if end > address and (is_code or name[1:] in VARIABLES):
            found.append(KernelSymbol(address, end - address, name[1:], is_code))
    return distinct(found)


def distinct(symbols: Iterable[KernelSymbol]) -> list[KernelSymbol]:
    """The symbols by address; of several names for one address the plainest, as memset."""
    plainest: dict[int, KernelSymbol] = {}
    for one in sorted(symbols, key=lambda it: (it.name.startswith("_"), len(it.name), it.name)):
        plainest.setdefault(one.address, one)
    return sorted(plainest.values(), key=lambda it: it.address)
