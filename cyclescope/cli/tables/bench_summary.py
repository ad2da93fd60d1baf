"""The last screen of `cyclescope bench`: a table of experiments, failures, the report's path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Group
from rich.text import Text

from cyclescope.bench import trust
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row, RunRecord
from cyclescope.bench.trust import Trust
from cyclescope.cli.tables.columns import Fitted
from cyclescope.units import count, format_duration

# The screen has 24 lines: the report lists further failures.
MOST_FAILURES = 3
_MOST_REASON = 150
_GOOD_PCT = 10


@dataclass(frozen=True)
class Took:
    """The duration of a bench, and its forecast, which may be missing.

    `kept` is the number of cached runs.
    """

    seconds: float
    expected_s: float | None = None
    kept: int = 0


def screen(results: Sequence[ExperimentResult], report: Path | None, took: Took) -> Group:
    """A table of all experiments, failures with their reasons, and the report's path.

    `report` is the report's path, None if it could not be saved.
    """
    table = Fitted(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=len(results) > 1)
    found = trust.overall(results).measured
    runs = [run for result in results for run in result.runs]
    seconds = f"{_host_s(runs):.1f}"
    table.add_column("experiment", footer="measured on hardware", no_wrap=True)
    table.add_column("cells", footer=str(found.published), justify="right", goes=2)
    table.add_column("within 10 %", footer=_within(found), justify="right", no_wrap=True)
    table.add_column("worst", footer=_worst(found), is_name=True)
    table.add_column("host s", footer=seconds, justify="right", goes=1)
    for result in results:
        table.add_row(*_line(result))
    return Group(table, *_rests_on(found), *_failures(runs), *_where(results, report, took))


def _rests_on(found: Trust) -> Iterator[Text]:
    """The basis of the published numbers, counted by the values that move them."""
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
        return result.name, "-", "", "no published numbers", seconds
    if result.exact:
        met = f"{found.met} equal"
        return result.name, str(found.published), met, _worst_exact(found), seconds
    return result.name, str(found.published), _within(found), _worst(found), seconds


def cells(rows: Iterable[Row]) -> tuple[int, int, str]:
    """The number of rows with a published number, the number of close ones, and the worst row."""
    published = [row for row in rows if row.published is not None]
    off = [row for row in published if row.error_pct is not None]
    good = sum(abs(row.error_pct or 0) <= _GOOD_PCT for row in off)
    worst = max(off, key=lambda row: abs(row.error_pct or 0), default=None)
    return len(published), good, "" if worst is None else f"{worst.error_pct:+.1f} % {worst.label}"


def _within(found: Trust) -> str:
    published, good, _ = cells(found.rows)
    return str(good) if published else ""


def _worst(found: Trust) -> str:
    return cells(found.rows)[2]


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
        yield Text(f"and {len(failed) - MOST_FAILURES} more failed: see the report")


def _where(results: Sequence[ExperimentResult], report: Path | None, took: Took) -> Iterator[Text]:
    runs = [run.result for result in results for run in result.runs if run.result is not None]
    instructions = sum(run.instructions for run in runs) / 1e9
    guess = f" (guessed: {format_duration(took.expected_s)})" if took.expected_s else ""
    seconds = format_duration(took.seconds)
    if took.kept:
        kept = f"{took.kept} of {count(len(runs), 'run')} were made before (--again makes all)"
        yield Text(f"{kept}; it took {seconds}{guess}.")
    else:
        yield Text(f"{instructions:.1f} billion instructions in {seconds}{guess}.")
    unmade = sum(result.unmade for result in results)
    if unmade or any(result.unexplained for result in results):
        further = f", and {count(unmade, 'further run')}" if unmade else ""
        few = any(result.unexplained < len(result.runs) for result in results)
        now = "One run of each" if few else "No run"
        yield Text(f"{now} is explained. --explain: waits and profiles of all{further}.")
    if report is not None:
        yield Text(f"Report: {report} (opens offline). Full tables: cyclescope show [EXPERIMENT]")
