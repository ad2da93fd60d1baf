"""A suite's results as a table on a terminal: hardware's numbers, ours, and what is off."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.suites.running import span
from cyclescope.suites.suite import Suite
from cyclescope.units import count

_CLOSE_PCT = (2, 6, 12)


def table(suite: Suite, result: ExperimentResult) -> Group:
    """All rows, how many are how close, what failed, and what a reader must know."""
    shown = Table(title=f"{suite.name}: {suite.title}", title_justify="left")
    shown.add_column("board", no_wrap=True)
    shown.add_column("row", overflow="fold")
    for heading in _headings(suite):
        shown.add_column(heading, justify="right", no_wrap=True)
    for row in result.rows:
        shown.add_row(row.board, row.label, *_cells(suite, row))
    source = Text(f"published: {result.source}")
    failed = [Text(f"failed: {run.label}: {run.error}") for run in result.failures]
    return Group(shown, *_close(result), source, *map(Text, result.notes), *failed)


def _headings(suite: Suite) -> tuple[str, ...]:
    if suite.has_span:
        return "min", "mean", "max", "simulated", "error", "within min..max"
    return "published", "simulated", "unit", "error"


def _cells(suite: Suite, row: Row) -> Iterator[str]:
    error = "" if row.error_pct is None else f"{row.error_pct:+.1f} %"
    if not suite.has_span:
        yield from (_number(row.published), _number(row.simulated), row.unit, error)
        return
    found = span(suite, row)
    low, high = found or (None, None)
    yield from map(_number, (low, row.published, high, row.simulated))
    yield error
    yield "" if found is None else ("yes" if found[0] <= row.simulated <= found[1] else "no")


def _number(value: int | float | None) -> str:
    return "" if value is None else f"{value:,}"


def _close(result: ExperimentResult) -> Iterator[Text]:
    """How many of the published numbers are how close."""
    errors = [abs(row.error_pct) for row in result.rows if row.error_pct is not None]
    if errors:
        within = ", ".join(
            f"{sum(error <= pct for error in errors)} within {pct} %" for pct in _CLOSE_PCT
        )
        yield Text(f"{count(len(errors), 'published number')}: {within}.")
