"""A suite's results as a table on a terminal: hardware's numbers, simulated ones, errors."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.cli.tables.columns import Fitted
from cyclescope.suites import summary
from cyclescope.suites.running import span
from cyclescope.suites.suite import Suite

# Columns that are left out on a narrow screen, the lowest first.
_GOES = {"unit": 1, "inside": 2, "min": 3, "max": 4}
_GROUPS_GO = {"steady": 1, "from .. to": 2}


def table(suite: Suite, result: ExperimentResult) -> Group:
    """All rows, a summary of their errors, failures, and notes."""
    boards = dict.fromkeys(row.board for row in result.rows)
    shown = [_of_board(suite, board, result) for board in boards]
    title = Text(f"{suite.name}: {suite.title}")
    source = Text(f"published: {result.source}")
    failed = [Text(f"failed: {run.label}: {run.error}") for run in result.failures]
    return Group(title, *shown, *_close(suite, result), source, *map(Text, result.notes), *failed)


def _of_board(suite: Suite, board: str, result: ExperimentResult) -> Table:
    shown = Fitted(title=board, title_justify="left")
    shown.add_column("row", is_name=True)
    for heading in _headings(suite):
        goes = _GOES.get(heading)
        shown.add_column(heading, justify="right", no_wrap=True, goes=goes)
    for row in result.rows:
        if row.board == board:
            shown.add_row(row.label, *_cells(suite, row))
    return shown


def _headings(suite: Suite) -> tuple[str, ...]:
    if suite.has_span:
        return "min", "mean", "max", "simulated", "error", "inside"
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


def _close(suite: Suite, result: ExperimentResult) -> Iterator[Table]:
    """The errors of the published numbers, by class of code."""
    found = summary.groups(suite, result.rows)
    if not found:
        return
    shown = Fitted()
    heads = ("board", "class", "published", "steady", "median error", "from .. to")
    for number, heading in enumerate((*heads, *(f"within {pct} %" for pct in summary.CLOSE_PCT))):
        justify = "right" if number > 1 else "left"
        shown.add_column(heading, justify=justify, no_wrap=True, goes=_GROUPS_GO.get(heading))
    for group in found:
        ends = group.ends_pct
        shown.add_row(
            group.board,
            group.kind,
            str(group.published),
            str(len(group.errors_pct)),
            "" if group.median_pct is None else f"{group.median_pct:+.1f} %",
            "" if ends is None else f"{ends[0]:+.1f} .. {ends[1]:+.1f} %",
            *(str(group.within(pct)) for pct in summary.CLOSE_PCT),
        )
    yield shown
