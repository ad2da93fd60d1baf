"""Names and numbers as the report writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cyclescope.bench.rows import Row
from cyclescope.bench.uncertainty import LEVEL_PCT
from cyclescope.board.results import Value

_TIME_UNITS_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}


@dataclass(frozen=True)
class RowName:
    """A name that distinguishes a row in its table: its label, and settings if needed."""

    label: str
    settings: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.label, self.settings)))


def row_names(rows: Sequence[Row]) -> list[RowName]:
    """A name for each row, with those settings in which the rows of one label differ."""
    return [
        RowName(row.label, _differing(row, [other for other in rows if other.label == row.label]))
        for row in rows
    ]


def _differing(row: Row, same_label: Sequence[Row]) -> str:
    names = [
        name
        for name in row.settings
        if len({repr(other.settings.get(name)) for other in same_label}) > 1
    ]
    parts = [f"{short_name(name)}={row.settings[name]}" for name in names]
    if len({other.board for other in same_label}) > 1:
        parts.insert(0, row.board)
    if len({other.metric for other in same_label}) > 1:
        parts.insert(0, row.metric)
    return " ".join(parts)


def short_name(path: str) -> str:
    """The last part of a setting's path: "spi0.xlnx,sck-ratio" is sck-ratio."""
    return path.rpartition(".")[2].rpartition(",")[2]


def setting_text(name: str, value: Value) -> str:
    """A setting as `--set` takes it."""
    return f"{name}={value}"


@dataclass(frozen=True)
class Scale:
    """The unit of a plot for numbers that were measured in another."""

    unit: str
    factor: float

    def of(self, value: float) -> float:
        """A number in the plot's unit."""
        return value * self.factor

    @property
    def quantity(self) -> str:
        """The quantity of an axis in this unit."""
        return f"time, {self.unit}" if self.unit in _TIME_UNITS_PS else self.unit

    def text(self, value: float) -> str:
        """A number in the plot's unit with 4 digits, and the unit."""
        return f"{plain(self.of(value), 4)} {self.unit}".rstrip()


def scale_for(unit: str, values: Iterable[float]) -> Scale:
    """The unit of time that keeps the largest value below 10,000; other units stay."""
    if unit not in _TIME_UNITS_PS:
        return Scale(unit, 1)
    largest_ps = max(values, default=0) * _TIME_UNITS_PS[unit]
    fitting = [name for name, ps in _TIME_UNITS_PS.items() if largest_ps < 10_000 * ps]
    return scale_to(unit, fitting[0] if fitting else "s")


def scale_to(unit: str, time_unit: str) -> Scale:
    """From a unit of time to another one; other units stay."""
    if unit not in _TIME_UNITS_PS:
        return Scale(unit, 1)
    return Scale(time_unit, _TIME_UNITS_PS[unit] / _TIME_UNITS_PS[time_unit])


def plain(value: float, digits: int = 6) -> str:
    """A number without exponent: integers in full, others with `digits` digits; 12,345.6."""
    if isinstance(value, int) or abs(value) >= 10**digits:
        return f"{round(value):,}"
    before_point = math.floor(math.log10(abs(value))) + 1 if value else 1
    text = f"{value:,.{max(digits - before_point, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def plausible(row: Row) -> str:
    """The interval of a simulated number, as a line of its own; empty if it is unknown."""
    if row.interval is None:
        return ""
    low, high = map(plain, row.interval)
    return f"\n{LEVEL_PCT} % of runs with plausible values: {low} to {high} {row.unit}".rstrip()


def signed_percent(value: float | None) -> str:
    """A deviation such as "+1.2 %", with a true minus; empty for none."""
    if value is None:
        return ""
    return f"{value:+.1f} %".replace("-", "\N{MINUS SIGN}")
