"""Numbers as pages show them."""

from __future__ import annotations

from cyclescope.results import Row
from cyclescope.units import rounded

ABSENT = "\N{EN DASH}"
"""What stands where there is no number, or where it was not measured."""

_PER_S = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_WORDS = (
    *("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)


def plain(value: float) -> str:
    """A value with the digits that it has: 86103, 4.766213; 7152 for 7152.0."""
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
    """A small number as prose has it: "nine"; others in digits."""
    return _WORDS[number] if 0 <= number < len(_WORDS) else str(number)


def scale(unit: str, wanted: str) -> float:
    """What a time is divided by to be in another unit. Raises `ValueError` for what is no time."""
    if unit not in _PER_S or wanted not in _PER_S:
        raise ValueError(f"{unit or 'no unit'} is not turned into {wanted}")
    return _PER_S[unit] / _PER_S[wanted]


def shown(value: float, per: float = 1, digits: int | None = None) -> str:
    """A value divided by `per`, with at most so many significant digits; with all if None."""
    scaled = value / per if per != 1 else value
    text = plain(scaled)
    has = len(text.lstrip("-0.").replace(".", ""))
    return text if digits is None or has <= digits else rounded(scaled, digits)


def interval(row: Row, per: float = 1) -> str:
    """What a row's value may be for all that is assumed, with four digits."""
    if row.interval is None:
        return ABSENT
    return " to ".join(shown(end, per, 4) for end in row.interval)
