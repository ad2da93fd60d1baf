"""Formats numbers for pages."""

from __future__ import annotations

from cyclescope.bench.rows import Row
from cyclescope.units import rounded

ABSENT = "\N{EN DASH}"
"""Text in place of a missing number, and of one that was not measured."""

# Units of one kind, and the number of each that equals one of the first unit.
_KINDS = (
    {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9},
    {"MB/s": 1, "kB/s": 10**3, "B/s": 10**6},
)
_WORDS = (
    "none",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def plain(value: float) -> str:
    """A value with all its digits: 86103, 4.766213; 7152 for 7152.0."""
    return str(int(value)) if value == int(value) else str(value)


def percent(value: float, spec: str = ".1f") -> str:
    """A deviation with its sign: "+5.7 %", "0.0 %"."""
    text = format(value, spec)
    zero = format(0.0, spec)
    if text.lstrip("-") == zero:
        return f"{zero} %"
    return f"{'' if text.startswith('-') else '+'}{text} %"


def error(row: Row, spec: str = ".1f") -> str:
    """A row's error; absent if nothing was published, or a 0."""
    return ABSENT if row.error_pct is None else percent(row.error_pct, spec)


def in_words(number: int) -> str:
    """A small number as a word, such as "nine"; others in digits."""
    return _WORDS[number] if 0 <= number < len(_WORDS) else str(number)


def scale(unit: str, wanted: str) -> float:
    """The divisor that converts a time or a rate to another unit.

    Raises `ValueError` for units that are not of one kind.
    """
    for kind in _KINDS:
        if unit in kind and wanted in kind:
            return kind[unit] / kind[wanted]
    raise ValueError(f"{unit or 'no unit'} is not turned into {wanted}")


def shown(value: float, per: float = 1, digits: int | None = None) -> str:
    """A value divided by `per`, with at most `digits` significant digits; with all if None."""
    scaled = value / per if per != 1 else value
    text = plain(scaled)
    has = len(text.lstrip("-0.").replace(".", ""))
    return text if digits is None or has <= digits else rounded(scaled, digits)


def interval(row: Row, per: float = 1) -> str:
    """The range of a row's value over all assumptions, with four digits."""
    if row.interval is None:
        return ABSENT
    return " to ".join(shown(end, per, 4) for end in row.interval)
