"""Tables of suites in pages, from docs/suites.csv.

suite NAME BOARD            a line for each number of a board
suite-classes NAME          their errors, by board and class of code
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import figures
from keys import Source, UnknownKeyError
from tables import table

from cyclescope import suites
from cyclescope.bench.rows import Row
from cyclescope.suites import summary
from cyclescope.suites.running import span
from cyclescope.suites.suite import Suite


def numbers(source: Source, words: Sequence[str]) -> str:
    """All numbers of a suite on a board."""
    if len(words) != 2 or words[0] not in suites.ALL:
        raise UnknownKeyError("expected a suite and a board")
    suite, board = suites.ALL[words[0]], words[1]
    rows = [row for row in source.suites.get(suite.name, []) if row.board == board]
    spans = ("min", "mean", "max") if suite.has_span else ("published",)
    inside = ("inside",) if suite.has_span else ()
    headings = ("row", *spans, "simulated", "error", *inside)
    return table(headings, [tuple(_cells(suite, row)) for row in rows])


def _cells(suite: Suite, row: Row) -> Iterator[str]:
    yield row.label
    found = span(suite, row)
    numbers = (row.published,)
    if suite.has_span:
        low, high = found or (None, None)
        numbers = (low, row.published, high)
    yield from ("" if one is None else f"{one:,}" for one in numbers)
    yield f"{row.simulated:,}" + (f" {row.unit}" if row.unit not in ("", "cycles") else "")
    yield figures.error(row) if row.published is not None else ""
    if suite.has_span:
        yield "" if found is None else ("yes" if found[0] <= row.simulated <= found[1] else "no")


def classes(source: Source, words: Sequence[str]) -> str:
    """The errors of a suite's numbers."""
    if len(words) != 1 or words[0] not in suites.ALL:
        raise UnknownKeyError("expected a suite")
    suite = suites.ALL[words[0]]
    close = tuple(f"within {pct} %" for pct in summary.CLOSE_PCT)
    headings = ("board", "class", "published", "steady", "median error", "from", "to", *close)
    lines = []
    for group in summary.groups(suite, source.suites.get(suite.name, [])):
        ends = group.ends_pct or (None, None)
        errors = (group.median_pct, *ends)
        shown = ("" if one is None else f"{one:+.1f} %" for one in errors)
        counts = (str(group.published), str(len(group.errors_pct)))
        within = (str(group.within(pct)) for pct in summary.CLOSE_PCT)
        lines.append((f"`{group.board}`", group.kind, *counts, *shown, *within))
    return table(headings, lines, left=2)
