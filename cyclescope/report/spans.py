"""The range of a plot's axis, linear or logarithmic, and which of its ticks have room."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """An axis from `low` to `high`; `low` of a logarithmic one is above 0."""

    low: float
    high: float
    log: bool

    def fraction(self, value: float) -> float:
        """The place of a value: 0 at the low end, 1 at the high one."""
        if not self.log:
            return (value - self.low) / (self.high - self.low)
        return math.log(self.drawn(value) / self.low) / math.log(self.high / self.low)

    def drawn(self, value: float) -> float:
        """The value that can be drawn: a logarithm has no place for 0."""
        return max(value, self.low) if self.log else value

    def roomy(self, values: Sequence[float], least: float) -> list[float]:
        """Those of the ascending values that are at least `least` of the axis apart."""
        kept: list[float] = []
        for value in values:
            if not kept or self.fraction(value) - self.fraction(kept[-1]) >= least:
                kept.append(value)
        return kept


def linear(values: Iterable[float]) -> Span:
    """From 0 to a little above the largest value."""
    return Span(0, max(values, default=0) * 1.06 or 1, log=False)


def logarithmic(values: Iterable[float], margin: float) -> Span:
    """From below the smallest value above 0 to above the largest, by a factor."""
    found = [value for value in values if value > 0] or [1]
    return Span(min(found) / margin, max(found) * margin, log=True)
