"""How many published numbers lie in intervals that should contain a given part of them.

If the boards' assumptions were the only source of errors, 90 % intervals would contain nine of ten
numbers. If they contain fewer, the model lacks something, or the document's measurements vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cyclescope.bench.rows import Row
from cyclescope.bench.uncertainty import LEVELS_PCT, Spreads


@dataclass(frozen=True)
class Coverage:
    """How many of `numbers` lie `inside` the intervals of a level."""

    level_pct: float
    inside: int
    numbers: int

    @property
    def pct(self) -> float:
        """The part of the numbers that lies inside."""
        return self.inside / self.numbers * 100


def curve(rows: Sequence[Row], known: Spreads) -> tuple[Coverage, ...]:
    """The coverage at each of `LEVELS_PCT`, of the published numbers with a known spread.

    It is empty without such numbers.
    """
    spreads = [(row, known.of(row.experiment, row.board, row.label)) for row in rows]
    pairs = [(row, one) for row, one in spreads if one is not None and row.published is not None]
    if not pairs:
        return ()
    return tuple(
        Coverage(level, sum(row.is_in(one.middle_pct(level)) for row, one in pairs), len(pairs))
        for level in LEVELS_PCT
    )


def independent(rows: Sequence[Row]) -> list[Row]:
    """The first of the rows that stand for one independent number."""
    found: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        if row.counts_as:
            found.setdefault((row.experiment, row.board, row.counts_as), row)
    return list(found.values())
