"""How close a suite's numbers are, by class of code and by how much hardware itself varies."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cyclescope.bench.rows import DERIVED, Row
from cyclescope.suites.running import span
from cyclescope.suites.suite import Suite

STEADY_PCT = 2
CLOSE_PCT = (2, 6, 12)


@dataclass(frozen=True)
class Group:
    """The published numbers of one class of code on a board.

    `errors_pct` are the errors of the steady numbers: those whose executions on hardware differ by
    no more than 2 % of their mean, so that one simulated execution can be compared with them.
    """

    board: str
    kind: str
    published: int
    errors_pct: tuple[float, ...]

    @property
    def median_pct(self) -> float | None:
        """The median error; None if no number is steady."""
        return statistics.median(self.errors_pct) if self.errors_pct else None

    @property
    def ends_pct(self) -> tuple[float, float] | None:
        """The least and the greatest error."""
        return (min(self.errors_pct), max(self.errors_pct)) if self.errors_pct else None

    def within(self, pct: float) -> int:
        """The number of steady ones with no larger error than this."""
        return sum(abs(error) <= pct for error in self.errors_pct)


def groups(suite: Suite, rows: Sequence[Row]) -> list[Group]:
    """The groups of rows that have published numbers, in the order of first occurrence."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.published is not None and row.basis != DERIVED:
            found.setdefault((row.board, suite.kind_of(row)), []).append(row)
    return [
        Group(board, kind, len(own), tuple(_errors(suite, own)))
        for (board, kind), own in found.items()
    ]


def _errors(suite: Suite, rows: Sequence[Row]) -> Iterator[float]:
    for row in rows:
        if row.error_pct is not None and is_steady(suite, row):
            yield row.error_pct


def is_steady(suite: Suite, row: Row) -> bool:
    """Whether one execution can be compared with the published mean."""
    found = span(suite, row)
    if found is None or row.published is None:
        return not suite.has_span
    low, high = found
    return (high - low) * 100 <= STEADY_PCT * row.published
