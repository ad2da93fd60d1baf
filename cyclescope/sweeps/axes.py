"""Axes of a sweep: what is varied, and which values it takes.

An axis is written as `PATH=VALUES`. Values are separated by commas, or by semicolons if they
contain commas. A value may be a range: `10M:40M:10M` in steps, `1K:32K:x2` by a factor, `0:32K:x2`
by a factor but starting with 0. For designs that draw samples, `10M:40M` is a span of all integers
from one end to the other, and `10M:40M:log` a span in which each octave has the same probability.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cyclescope.errors import SettingError
from cyclescope.host.inputs import printable
from cyclescope.units import parse_number

_RANGE = re.compile(r"(?P<low>[^:]+):(?P<high>[^:]+)(?::(?P<step>[^:]+))?")
EXAMPLE = "spi0.clock-frequency=10M,20M"
# The most values of one axis: a longer sweep would take too much time.
MOST_VALUES = 1_000_000
LOG = "log"


@dataclass(frozen=True)
class Span:
    """All integers between two ends, including the ends; `is_log` draws by their logarithm."""

    low: int
    high: int
    is_log: bool = False

    def at(self, part: float) -> str:
        """The value at a fraction of the span, 0 to 1."""
        if self.is_log:
            return str(round(math.exp(_between(math.log(self.low), math.log(self.high), part))))
        return str(round(_between(self.low, self.high, part)))


@dataclass(frozen=True)
class Axis:
    """What is varied, by its path, with its values in order.

    A value is text as `--set` takes it. An axis with a `span` has no `values`.
    """

    path: str
    values: tuple[str, ...]
    span: Span | None = None

    def at(self, part: float) -> str:
        """The value at a fraction of the axis, from 0 to below 1: each value has an equal share."""
        if self.span is not None:
            return self.span.at(part)
        return self.values[min(int(part * len(self.values)), len(self.values) - 1)]

    @property
    def numbers(self) -> tuple[int, ...] | None:
        """The values as numbers; None if one of them is not a number."""
        found = [parse_number(value) for value in self.values]
        return None if None in found else tuple(number for number in found if number is not None)


def parse_vary(argument: str) -> Axis:
    """The axis of `PATH=VALUES`. Raises `SettingError` for other text, or without values."""
    path, equals, text = argument.partition("=")
    if not equals or not path.strip() or not argument.isprintable():
        shown = printable(argument)
        raise SettingError(f"--vary {shown}: expected PATH=VALUES, as in {EXAMPLE}")
    return axis(path.strip(), text)


def axis(path: str, values: str | Sequence[object]) -> Axis:
    """The axis of a path; `values` as `--vary` has them, or one by one.

    Raises `SettingError` for an invalid range, for no values, or for a repeated value.
    """
    if not isinstance(values, str):
        return _checked(path, tuple(_word(value) for value in values))
    separator = ";" if ";" in values else ","
    words = [word.strip() for word in values.split(separator)]
    if "" in words and len(words) > 1:
        raise SettingError(f"--vary {path}={printable(values)}: nothing between two {separator}")
    if len(words) == 1 and (span := _span(path, words[0])) is not None:
        return Axis(path, (), span)
    return _checked(path, tuple(value for word in words for value in _range(path, word)))


def _word(value: object) -> str:
    """A value of Python's or TOML's types as `--set` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def _checked(path: str, values: tuple[str, ...]) -> Axis:
    if not values or values == ("",):
        raise SettingError(f"--vary {path}: there are no values")
    unique = dict.fromkeys(values)
    if len(unique) < len(values):
        twice = next(value for value in unique if values.count(value) > 1)
        raise SettingError(f"--vary {path}: {printable(twice)} is given twice")
    return Axis(path, values)


def _ends(path: str, word: str) -> tuple[int, int, str | None, re.Match[str]] | None:
    """Low and high end of a range, and its step; None for a value that is not a numeric range."""
    match = _RANGE.fullmatch(word)
    if match is None:
        return None
    low, high = (parse_number(match[end]) for end in ("low", "high"))
    if low is None and high is None:
        # a name may contain colons
        return None
    if low is None or high is None:
        wrong = match["low"] if low is None else match["high"]
        raise SettingError(
            f"--vary {path}={printable(word)}: {printable(wrong)} is no number such as 10, 40M, 32K"
        )
    if low > high:
        raise SettingError(f"--vary {path}={word}: an empty range: {low:,} is above {high:,}")
    return low, high, match["step"], match


def _span(path: str, word: str) -> Span | None:
    ends = _ends(path, word)
    if ends is None or ends[2] not in (None, LOG):
        return None
    low, high, step, _ = ends
    if step == LOG and low <= 0:
        raise SettingError(f"--vary {path}={word}: {LOG} begins above 0")
    return Span(low, high, step == LOG)


def _range(path: str, word: str) -> Iterator[str]:
    """The values of a word: the word itself, or the values of its range."""
    ends = _ends(path, word)
    if ends is None:
        yield word
        return
    low, high, step, match = ends
    if step is None or step == LOG:
        raise SettingError(f"--vary {path}={word}: a range beside other values needs its step")
    factor = parse_number(step[1:]) if step[0] in "x*" else None
    plus = parse_number(step.removeprefix("+")) if factor is None else None
    if (factor or 0) < 2 and (plus or 0) < 1:
        wrong = printable(step)
        raise SettingError(f"--vary {path}={word}: {wrong} is no step such as x2 or 10M")
    length = _length(low, high, factor, plus)
    if length > MOST_VALUES:
        raise SettingError(f"--vary {path}={word}: {length:,} values: at most {MOST_VALUES:,}")
    value = low
    while value <= high:
        yield str(value)
        value = _next(value, factor, plus, match["high"])


def _next(value: int, factor: int | None, plus: int | None, high: str) -> int:
    if factor is None:
        return value + (plus or 1)
    # no factor leads from 0 to another value: continue with 1 of the upper end's unit
    return value * factor if value else _unit(high)


def _unit(number: str) -> int:
    unit = number.strip().lstrip("-0123456789")
    return (parse_number(f"1{unit}") if not number.lower().startswith("0x") else None) or 1


def _length(low: int, high: int, factor: int | None, plus: int | None) -> int:
    """The approximate number of values in a range, without making them."""
    if factor is None:
        return (high - low) // (plus or 1) + 1
    return int(math.log(max(high, 1) / max(low, 1), factor)) + 2


def _between(low: float, high: float, part: float) -> float:
    return low + (high - low) * part
