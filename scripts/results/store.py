"""docs/results.csv: the rows of a whole bench, kept for the pages.

An experiment with exact published numbers (from an RTL simulation) has one line: the count of its
numbers, and of those that are met. Other experiments have each row, in the form of results.json.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cyclescope import experiments
from cyclescope.bench import planning, published, result_files
from cyclescope.bench.experiment import Experiment
from cyclescope.bench.planning import Job
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import PREDICTED, Row, RunRecord
from cyclescope.bench.trust import Trust, overall
from cyclescope.board import Board
from cyclescope.errors import UsageError

MET = "met to the last digit"
"""The label of an exact experiment's line."""

COLUMNS = (
    "experiment",
    "board",
    "label",
    "settings",
    "metric",
    "unit",
    "simulated",
    "published",
    "error_pct",
    "basis",
    "calibrated_by",
    "interval_low",
    "interval_high",
)
_SETTING = re.compile(r"(?:^| )([^\s=]+)=(.*?)(?= [^\s=]+=|$)")
_INTEGER = re.compile(r"-?\d+")
_MOST_NAMED = 3

Stored = Mapping[str, Any]


# ---- from results.json


def to_csv(path: Path) -> str:
    """The file's text for the results.json of a bench.

    Raises `UsageError` if the file is of another kind, or lacks a part of a bench.
    """
    results = result_files.load(path, experiments.ALL)
    missing = list(_missing(results))
    if missing:
        raise UsageError(
            f"{path}: not all of `cyclescope bench --explain`; missing: {'; '.join(missing)}"
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in results:
        writer.writerows(lines(result))
    return text.getvalue()


def _missing(results: Sequence[ExperimentResult]) -> Iterator[str]:
    """The experiments of a whole bench, in words."""
    found = {result.name: result for result in results}
    for name, experiment in experiments.ALL.items():
        if name not in found or not found[name].rows:
            yield name
            continue
        absent = list(_absent_runs(experiment, found[name].rows))
        if absent:
            named = ", ".join(absent[:_MOST_NAMED])
            more = f" and {len(absent) - _MOST_NAMED} more" if len(absent) > _MOST_NAMED else ""
            yield f"{name} ({named}{more})"


def _absent_runs(experiment: Experiment, rows: Sequence[Row]) -> Iterator[str]:
    """The runs of an experiment, in their full form, that gave no row."""
    for job in planning.plan([experiment]):
        if job.run.frame_on is None and not any(_is_of(row, job) for row in rows):
            yield job.run.label


def _is_of(row: Row, job: Job) -> bool:
    """Whether a row may come from a run: its settings are the run's, except those of its own."""
    stated = {name for cell in job.experiment.cells_of(job.run) for name in cell.measured}
    wanted = {name: value for name, value in job.run.all_settings.items() if name not in stated}
    changed = {name for name in row.settings if "." in name}
    return (
        row.board == job.run.board
        and wanted.items() <= row.settings.items()
        and changed == {name for name in wanted if "." in name}
    )


def lines(result: ExperimentResult) -> Iterator[list[Any]]:
    """An experiment's lines of the file."""
    if result.exact:
        numbers = [row for row in result.rows if row.published is not None]
        met = sum(row.is_exact for row in numbers)
        line = {"experiment": result.name, "label": MET, "simulated": met}
        yield [(line | {"published": len(numbers)}).get(name) for name in COLUMNS]
        return
    for row in result.rows:
        yield list(line_of(row.to_dict()).values())


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings as one text. Raises `UsageError` for those that can't be read again."""
    text = " ".join(f"{name}={value}" for name, value in settings.items())
    if _settings(text) != settings:
        raise UsageError(f"settings that can't be written as a text: {json.dumps(dict(settings))}")
    return text


def _settings(text: str) -> dict[str, Any]:
    return {name: _value(value) for name, value in _SETTING.findall(text)}


def _value(text: str) -> int | str:
    return int(text) if _INTEGER.fullmatch(text) else text


# ---- for the pages


@dataclass(frozen=True)
class Results:
    """The contents of docs/results.csv: experiments by name, each with its rows.

    An exact experiment has a row for each of its numbers, which says only whether it is met.
    """

    experiments: Mapping[str, ExperimentResult]

    def named(self, name: str) -> list[ExperimentResult]:
        """The experiment of a name, or with "all" those that were measured on hardware."""
        if name == "all":
            return [result for result in self.published if not (result.exact or result.by_hand)]
        return [self.experiments[name]]

    def trust(self, name: str) -> Trust:
        """The counts of an experiment, or of "all"."""
        return overall(self.named(name))

    @cached_property
    def published(self) -> list[ExperimentResult]:
        """The experiments that have published numbers."""
        return [one for one in self.experiments.values() if overall([one]).published]


def load(path: Path) -> Results:
    """A file's content. Raises `UsageError` if it is missing or of another kind."""
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            stored = list(reader)
    except OSError as error:
        hint = "python scripts/results RESULTS.json makes it"
        raise UsageError(f"{path}: {error.strerror}; {hint}") from error
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise UsageError(f"{path}: its columns are not {', '.join(COLUMNS)}")
    exact = {line["experiment"]: line for line in stored if line["label"] == MET}
    rows = [parsed(line) for line in stored if line["label"] != MET]
    results = {
        result.name: result for result in result_files.of_rows(rows, {}, path, experiments.ALL)
    }
    results |= {name: _exact(name, line) for name, line in exact.items()}
    order = dict.fromkeys(line["experiment"] for line in stored)
    return Results({name: results[name] for name in order})


def parsed(line: Mapping[str, str]) -> Stored:
    """A line of the file in the form of results.json."""
    numbers = ("simulated", "published", "error_pct", "interval_low", "interval_high")
    return {
        **line,
        "settings": _settings(line["settings"]),
        "calibrated_by": [name for name in line["calibrated_by"].split("; ") if name],
        **{name: _number(line[name]) for name in numbers},
    }


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of rows beside docs/results.csv; empty without such a file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write such a file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    path.write_text(text.getvalue(), encoding="utf-8")


def line_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a JSON file as a line."""
    changed = {
        "settings": settings_text(row["settings"]),
        "calibrated_by": "; ".join(row["calibrated_by"]),
    }
    return {name: row[name] for name in COLUMNS} | changed


def row_of(line: Mapping[str, str]) -> Row:
    """A line as a row without further data."""
    stored = parsed(line)
    names = ("experiment", "board", "settings", "metric", "unit", "simulated", "published")
    values = (stored[name] for name in (*names, "basis", "label"))
    return Row(*values, run=RunRecord("", "", "", {}, None))


def _number(text: str) -> int | float | None:
    if not text:
        return None
    return int(text) if _INTEGER.fullmatch(text) else float(text)


def _exact(name: str, line: Mapping[str, str]) -> ExperimentResult:
    experiment = experiments.ALL[name]
    met, total = int(line["simulated"]), int(line["published"])
    boards = dict.fromkeys(run.board for run in experiment.runs)
    return ExperimentResult(
        name=name,
        title=experiment.title,
        source=published.load(experiment.published).citation,
        notes=(),
        rows=tuple(_met_or_not(name, met, total)),
        runs=(),
        parameters={board: Board(board).parameters for board in boards},
        exact=True,
    )


def _met_or_not(name: str, met: int, total: int) -> Iterable[Row]:
    """A row for each of `total` numbers, since the file has only their counts."""
    run = RunRecord("", "", "", {}, None)
    for number in range(total):
        is_met = number < met
        yield Row(
            name,
            "",
            {},
            "",
            "",
            int(is_met),
            1,
            PREDICTED,
            str(number),
            run,
            counts_as=str(number),
        )
