"""Times and numbers in text, converted to and from exact integers.

Simulated time is an integer of picoseconds everywhere; a human unit appears only where text is
read or printed.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from cyclescope.errors import UsageError

_PS_PER = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|ms|us|ns|ps)")
_FACTORS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
# K is not an SI prefix: it is common for memory sizes.
_FACTORS["K"] = _FACTORS["Ki"]
_NUMBER = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|\d+)(k|K|M|G|Ki|Mi|Gi)?")
# A longer number is out of every range, and would take time to parse.
_MOST_DIGITS = 40

# The engine counts picoseconds in 64 bits.
MAX_PS = 2**64 - 1

_SIZE = re.compile(r"(\d{1,12})\s*(KiB|MiB|GiB|)")
_SHIFTS = {"": 0, "KiB": 10, "MiB": 20, "GiB": 30}


def parse_time_ps(text: str) -> int:
    """A time such as "10s", "500ms", "20us" or "3ns" in picoseconds.

    Raises `UsageError` if the text is not a time, is not a whole number of picoseconds, is 0 or is
    above 213 days.
    """
    match = _TIME.fullmatch(text.strip())
    if not match:
        raise UsageError(f"time {text!r}: expected a number and s, ms, us, ns or ps, as in 10s")
    # exact, with all digits
    time_ps = Fraction(Decimal(match[1])) * _PS_PER[match[2]]
    if time_ps.denominator != 1:
        raise UsageError(f"time {text!r}: finer than a picosecond")
    if not 0 < time_ps <= MAX_PS:
        raise UsageError(f"time {text!r}: must be above 0 and below 213 days")
    return int(time_ps)


def parse_bytes(text: str) -> int:
    """A size such as "64MiB", "512 KiB" or "1000000" in bytes; raises `UsageError`."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"size {text!r}: expected a number and KiB, MiB or GiB, or of bytes")
    return int(match[1]) << _SHIFTS[match[2] or ""]


def format_bytes(size_bytes: int) -> str:
    """A size in the largest binary unit in which it is a whole number: "16 KiB", "100 bytes"."""
    for unit in ("GiB", "MiB", "KiB"):
        if size_bytes and size_bytes % (1 << _SHIFTS[unit]) == 0:
            return f"{size_bytes >> _SHIFTS[unit]} {unit}"
    return count(size_bytes, "byte")


def format_ps(time_ps: int) -> str:
    """A time in the unit that keeps it readable, with 6 digits: "94.338 ms"."""
    for unit in ("s", "ms", "us", "ns"):
        if time_ps >= _PS_PER[unit]:
            return f"{time_ps / _PS_PER[unit]:.6g} {unit}"
    return f"{time_ps} ps"


def format_share(part: int, whole: int) -> str:
    """A share in percent; empty if the whole is 0."""
    return f"{part / whole:.1%}".replace("%", " %") if whole else ""


def format_hz(hz: int) -> str:
    """A frequency in the unit that keeps it readable: "100 MHz"."""
    for unit, factor in (("GHz", 10**9), ("MHz", 10**6), ("kHz", 10**3)):
        if hz >= factor:
            return f"{hz / factor:.6g} {unit}"
    return f"{hz} Hz"


def parse_number(text: str) -> int | None:
    """A decimal or hexadecimal integer; k, M, G are powers of 1000, Ki (or K), Mi, Gi of 1024.

    A number with very many digits is parsed as one that is out of every range.
    """
    match = _NUMBER.fullmatch(text.strip())
    if not match:
        return None
    is_hexadecimal = match[2][:2].lower() == "0x"
    digits = (match[2][2:] if is_hexadecimal else match[2]).lstrip("0")[:_MOST_DIGITS] or "0"
    number = int(digits, 16 if is_hexadecimal else 10) * _FACTORS[match[3] or ""]
    return -number if match[1] else number


def rounded(value: float, digits: int) -> str:
    """A number with `digits` digits, including trailing zeros: 3.90; larger ones in full: 12345."""
    before_point = math.floor(math.log10(abs(value))) + 1 if value else digits
    return f"{value:.{max(digits - before_point, 0)}f}"


def format_duration(seconds: float) -> str:
    """A duration for people: "1 min 35 s"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def count(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun: "1 cell", "no cells", "4 cells"."""
    noun = singular if number == 1 else plural or f"{singular}s"
    return f"{number:,} {noun}" if number else f"no {noun}"
