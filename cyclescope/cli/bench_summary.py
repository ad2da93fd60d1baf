"""The last screen of `cyclescope bench`: an experiment a line, what failed, where the report is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from cyclescope.bench import trust
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import RunRecord
from cyclescope.bench.trust import Trust
from cyclescope.units import count, format_duration

# The screen has 24 lines: of more failures the report tells.
MOST_FAILURES = 3
_MOST_REASON = 150
_GOOD_PCT = 10


def screen(results: Sequence[ExperimentResult], report: Path | None, took_s: float) -> Group:
    """A table of all experiments, failures with their reasons, and where to read on.

    `report` is the report's path, None if it could not be saved.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=len(results) > 1)
    found = trust.overall(results).measured
    runs = [run for result in results for run in result.runs]
    seconds = f"{_host_s(runs):.1f}"
    table.add_column("experiment", footer="measured on hardware", no_wrap=True)
    table.add_column("cells", footer=str(found.published), justify="right")
    table.add_column("within 10 %", footer=_within(found), justify="right", no_wrap=True)
    table.add_column("worst", footer=_worst(found), overflow="ellipsis", no_wrap=True)
    table.add_column("host s", footer=seconds, justify="right")
    for result in results:
        table.add_row(*_line(result))
    return Group(table, *_rests_on(found), *_failures(runs), *_where(results, report, took_s))


def _rests_on(found: Trust) -> Iterator[Text]:
    """What the published numbers rest on, counted by what moves them."""
    if not found.published:
        return
    yield Text(
        f"{found.published} cells stand for {count(found.effective, 'independent number')}. "
        f"{found.predicted} cells are predicted,"
    )
    inside = f", {found.inside} within what is plausible" if found.with_interval else ""
    yield Text(
        f"{found.calibrated} calibrated (by {count(len(found.fitted), 'value')}){inside}; "
        f"{found.within(_GOOD_PCT)} are within {_GOOD_PCT} %, {found.within(25)} within 25 %."
    )


def _line(result: ExperimentResult) -> tuple[str, ...]:
    found = trust.of(result)
    seconds = f"{_host_s(result.runs):.1f}"
    if not found.published:
        return result.name, "-", "", "nothing was published", seconds
    if result.exact:
        met = f"{found.met} equal"
        return result.name, str(found.published), met, _worst_exact(found), seconds
    return result.name, str(found.published), _within(found), _worst(found), seconds


def _within(found: Trust) -> str:
    good = [
        row for row in found.rows if row.error_pct is not None and abs(row.error_pct) <= _GOOD_PCT
    ]
    return str(len(good)) if found.published else ""


def _worst(found: Trust) -> str:
    rows = [row for row in found.rows if row.error_pct is not None]
    if not rows:
        return ""
    worst = max(rows, key=lambda row: abs(row.error_pct or 0))
    return f"{worst.error_pct:+.1f} % {worst.label}"


def _worst_exact(found: Trust) -> str:
    off = [row for row in found.exact if not row.is_exact]
    return f"{len(off)} differ, as {off[0].label}" if off else "each equal to its RTL"


def _host_s(runs: Sequence[RunRecord]) -> float:
    return sum(run.result.wall_ns for run in runs if run.result is not None) / 1e9


def _failures(runs: Sequence[RunRecord]) -> Iterator[Text]:
    failed = [run for run in runs if run.error is not None]
    for run in failed[:MOST_FAILURES]:
        reason = " ".join((run.error or "").split())
        if len(reason) > _MOST_REASON:
            reason = reason[: _MOST_REASON - 1] + "…"
        yield Text(f"failed: {run.label}: {reason}", style="bold red")
    if len(failed) > MOST_FAILURES:
        yield Text(f"and {len(failed) - MOST_FAILURES} more that failed: the report has them all")


def _where(
    results: Sequence[ExperimentResult], report: Path | None, took_s: float
) -> Iterator[Text]:
    runs = [run.result for result in results for run in result.runs if run.result is not None]
    instructions = sum(run.instructions for run in runs) / 1e9
    yield Text(f"{instructions:.1f} billion instructions in {format_duration(took_s)}.")
    if report is not None:
        yield Text(f"Report: {report} (opens offline). Full tables: cyclescope show [EXPERIMENT]")
