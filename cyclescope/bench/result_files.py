"""Results of a bench as files, the same bytes for the same results, and read again for tables.

A row of results.json has what was simulated; what belongs to its experiment (its table, what was
fitted) is taken from there. Facts that only the runs had are in notes.json beside it: findings, and
why runs failed.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cyclescope.bench import planning, published
from cyclescope.bench.experiment import Cell, Experiment
from cyclescope.bench.planning import Job
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row, RunRecord, flat_row
from cyclescope.bench.views import takes
from cyclescope.board import Board
from cyclescope.board.results import Settings, WaitEntry
from cyclescope.errors import UsageError
from cyclescope.host import inputs

NOTES = "notes.json"
"""The file beside the rows with the facts that only the runs had."""

# The numbers of what a bench without --explain lacks.
_LACKS = ("unexplained", "unmade")
# Far more than a bench writes: a file of another kind is not read to its end.
_MOST_BYTES = 256 * 2**20
_MOST_DIGITS = 7


# ---- written


def to_json(results: Iterable[ExperimentResult]) -> str:
    """A list of objects, one for each row, as `cyclescope bench --json` gives it."""
    rows = [row.to_dict() for result in results for row in result.rows]
    return json.dumps(rows, indent=2) + "\n"


def to_notes(results: Iterable[ExperimentResult]) -> str:
    """What the rows do not contain: notes, findings, failed runs and `lacks`, by experiment.

    The last is the number of runs without waits, and of further runs that `--explain` makes.
    """
    notes = {
        result.name: {
            "notes": result.notes,
            "failures": [{"run": run.label, "error": run.error} for run in result.failures],
            **{name: number for name in _LACKS if (number := getattr(result, name))},
        }
        for result in results
    }
    return json.dumps(notes, indent=2) + "\n"


def to_csv(results: Iterable[ExperimentResult]) -> str:
    """The rows with a column for each setting that occurs, in the order of first occurrence."""
    rows = [flat_row(row) for result in results for row in result.rows]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    settings = [column for column in columns if column.startswith("settings.")]
    others = [column for column in columns if column not in settings]
    text = io.StringIO()
    writer = csv.DictWriter(text, others[:2] + settings + others[2:], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


# ---- read


def load(path: Path, known: Mapping[str, Experiment]) -> list[ExperimentResult]:
    """The experiments of a results file, in its order, without their runs' results.

    `known` are the known experiments, by name. Raises `UsageError` if the file can't be read or is
    not of a bench.
    """
    rows = _read(path, list)
    beside = path.with_name(NOTES)
    notes: Mapping[str, Any] = _read(beside, dict) if beside.is_file() else {}
    return of_rows(rows, notes, path, known)


def of_rows(
    rows: Sequence[Any], notes: Mapping[str, Any], path: Path, known: Mapping[str, Experiment]
) -> list[ExperimentResult]:
    """The experiments of rows as `Row.to_dict` gives them, in their order; `path` is their file.

    Raises `UsageError` for rows of another kind.
    """
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in notes}
    for number, row in enumerate(rows):
        name = row.get("experiment") if isinstance(row, dict) else None
        if name not in known:
            raise UsageError(f"{path}: row {number} belongs to no experiment of this version")
        found.setdefault(str(name), []).append(row)
    try:
        return [_result(known[name], rows, notes) for name, rows in found.items()]
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}: not a results.json of this version: {error!r}") from error


def _read(path: Path, kind: type) -> Any:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{path}: too large for the results of a bench")
        found = json.loads(inputs.read(path, _MOST_BYTES))
    except OSError as error:
        hint = "; `cyclescope bench` makes it" if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"{path}: {error.strerror}{hint}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error}") from error
    if not isinstance(found, kind):
        raise UsageError(f"{path}: not a results.json of a bench, nor its notes.json")
    return found


def _result(
    experiment: Experiment, stored: Sequence[Mapping[str, Any]], notes: Mapping[str, Any]
) -> ExperimentResult:
    own = notes.get(experiment.name, {"notes": experiment.notes, "failures": ()})
    failed = [RunRecord(run["run"], "", "", {}, None, run["error"]) for run in own["failures"]]
    plans = [planning.plan([experiment], quick=quick, with_extra=True) for quick in (False, True)]
    runs = [(job, job.record(None, None)) for jobs in plans for job in jobs]
    rows = [_row(experiment, runs, row) for row in stored]
    boards = dict.fromkeys(row.board for row in rows)
    table = published.load(experiment.published)
    return ExperimentResult(
        name=experiment.name,
        title=experiment.title,
        source=table.citation,
        notes=tuple(own["notes"]),
        rows=tuple(rows),
        runs=(*{id(row.run): row.run for row in rows}.values(), *failed),
        parameters={board: Board(board).parameters for board in boards},
        exact=table.is_exact,
        by_hand=table.is_by_hand,
        choices=tuple(choice.parameter for choice in experiment.choices),
        left_out=experiment.left_out,
        frames=experiment.frames,
        unexplained=int(own.get("unexplained", 0)),
        unmade=int(own.get("unmade", 0)),
    )


def _row(
    experiment: Experiment, runs: Sequence[tuple[Job, RunRecord]], stored: Mapping[str, Any]
) -> Row:
    settings: Settings = stored["settings"]
    job, run = _run(runs, stored["board"], settings)
    cells = experiment.cells_of(job.run) if job else experiment.cells
    cell = next((cell for cell in cells if _is_of(cell, stored)), None)
    row = Row(
        experiment=experiment.name,
        board=stored["board"],
        settings=settings,
        metric=stored["metric"],
        unit=stored["unit"],
        simulated=stored["simulated"],
        published=stored["published"],
        basis=stored["basis"],
        label=stored["label"],
        run=run,
        calibrated_by=tuple(stored["calibrated_by"]),
        interval_pct=_interval_pct(stored),
        waits=tuple(WaitEntry(**entry) for entry in stored.get("waits", ())),
    )
    if cell is None:
        pivot = experiment.derived_pivots.get(row.metric)
        return replace(row, pivot=pivot, digits=_digits(row, stored["error_pct"]))
    return replace(
        row,
        timed=cell.timed,
        pivot=next((pivot for pivot in cell.pivots if takes(pivot, settings)), None),
        digits=experiment.printed_digits(job.run, cell, settings) if job else None,
        counts_as=""
        if row.published is None
        else experiment.independent(cell, row.label, settings),
    )


def _interval_pct(stored: Mapping[str, Any]) -> tuple[float, float] | None:
    ends = stored["interval_low"], stored["interval_high"]
    if None in ends or not stored["simulated"]:
        return None
    low, high = ((end / stored["simulated"] - 1) * 100 for end in ends)
    return low, high


def _is_of(cell: Cell, stored: Mapping[str, Any]) -> bool:
    if cell.metric != stored["metric"]:
        return False
    try:
        return cell.label.format_map(stored["settings"]) == stored["label"]
    except KeyError:
        return False


def _digits(row: Row, error_pct: float | None) -> int | None:
    """The number of digits that the document prints: the number that gives the stored error."""
    for digits in (None, *range(1, _MOST_DIGITS)):
        if replace(row, digits=digits).error_pct == error_pct:
            return digits
    return None


def _run(
    runs: Sequence[tuple[Job, RunRecord]], board: str, settings: Settings
) -> tuple[Job | None, RunRecord]:
    """The run as it was planned, or the most similar one.

    A measurement may state its own value of a setting, and `--set` may have changed one.
    """
    similar: tuple[Job, RunRecord] | None = None
    most = -1
    for job, record in runs:
        if job.run.board != board:
            continue
        same = record.settings.items() & settings.items()
        if len(same) == len(record.settings):
            return job, record
        if record.settings.keys() <= settings.keys() and len(same) > most:
            similar, most = (job, record), len(same)
    if similar is None:
        return None, RunRecord("", "", board, settings, None)
    job, record = similar
    stated = {name for cell in job.experiment.cells_of(job.run) for name in cell.measured}
    implied = (
        name for name in record.implied if name in stated or record.settings[name] == settings[name]
    )
    return job, replace(record, settings=settings, implied=tuple(implied))
