"""Picks rows by what they measured, for the sentences in which experiments answer their questions.

An answer is calculated from the rows of a run of the bench: rows may be missing if runs failed,
were stopped or had other settings, and then there is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cyclescope.bench.rows import Row
from cyclescope.board.results import Value


def pick(rows: Iterable[Row], metric: str, **settings: Value) -> Row | None:
    """The first row of a metric whose settings have these values; None without such a row."""
    return next(iter(pick_all(rows, metric, **settings)), None)


def pick_all(rows: Iterable[Row], metric: str, **settings: Value) -> list[Row]:
    """All rows of a metric whose settings have these values, in their order."""
    return [
        row
        for row in rows
        if row.metric == metric
        and all(row.settings.get(name) == value for name, value in settings.items())
    ]


def times(value: float, of: float) -> str:
    """How many times one number is another, with two digits: "1.6", "19"."""
    if not of:
        return "\N{INFINITY}"
    ratio = value / of
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"


def listed(values: Sequence[object]) -> str:
    """Words or numbers one after the other: "1, 2 and 3"."""
    *most, last = map(str, values)
    return f"{', '.join(most)} and {last}" if most else last
