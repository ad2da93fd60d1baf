"""The results of a bench as one record: what is in its files, by experiment.

A record is plain data, whose lists of named things (the causes of a stack, sections, counters,
rows) are maps from names. So a difference has a place that says what differs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROWS, NOTES, CSV, REPORT = "results.json", "notes.json", "results.csv", "report.html"
RUNS = "runs.json"
FILES = ROWS, NOTES, CSV, REPORT, RUNS
"""Files of a bench that are compared."""

ORDER = "order"
"""In place of a list of named things: their names in order."""

# Parts of an experiment that a record has under other names.
_ELSEWHERE = ("runs", "rows", "notes")
# Keys that distinguish the items of a list.
_NAMES = ("cause", "name", "section", "property", "what")
# The report names the version that made it, which is no result.
_VERSION = re.compile(r"Cyclescope \d+\.\d+\.\d+\S*")


class ResultsError(Exception):
    """A folder has no results, or none that this script knows."""


@dataclass(frozen=True)
class Record:
    """The contents of a folder of results.

    `experiments` are the parts of each experiment by name. `files` are texts that are compared
    byte by byte; None if they include other experiments. `has_runs` says whether it has
    the output and the counters of runs.
    """

    experiments: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, str] | None
    has_runs: bool

    def only(self, names: Sequence[str]) -> Record:
        """The record of the named experiments; the whole record without names."""
        if not names:
            return self
        chosen = {name: self.experiments[name] for name in names if name in self.experiments}
        files = self.files if len(chosen) == len(self.experiments) else None
        return Record(chosen, files, self.has_runs)


def read(folder: Path) -> Record:
    """The record of a folder. Raises `ResultsError` if the folder has no record."""
    rows, notes = _json(folder / ROWS), _json(folder / NOTES)
    has_runs = (folder / RUNS).is_file()
    runs = _json(folder / RUNS) if has_runs else {}
    try:
        experiments = _experiments(rows, notes, runs)
        texts = {
            name: _VERSION.sub("Cyclescope", (folder / name).read_text(encoding="utf-8"))
            for name in (CSV, REPORT)
            if (folder / name).is_file()
        }
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ResultsError(
            f"{folder}: is no result of a bench; name a checkout, or what `cyclescope bench` wrote"
        ) from error
    return Record(experiments, texts, has_runs)


def _experiments(rows: Any, notes: Any, runs: Any) -> dict[str, dict[str, Any]]:
    """The parts of each experiment. Raises what Python does where files are of another shape."""
    if not (isinstance(rows, list) and isinstance(notes, dict) and isinstance(runs, dict)):
        raise TypeError
    experiments: dict[str, dict[str, Any]] = {name: {} for name in (*notes, *runs)}
    for row in rows:
        if not (isinstance(row["experiment"], str) and isinstance(row["basis"], str)):
            raise TypeError
        experiments.setdefault(row["experiment"], {}).setdefault("rows", []).append(row)
    for name, parts in experiments.items():
        parts["rows"] = _named(parts.get("rows", []), map(_row_name, parts.get("rows", [])))
        own = notes.get(name, {})
        if not isinstance(own, dict):
            raise TypeError
        parts |= own
        if name in runs:
            parts |= _run_parts(runs[name])
    return experiments


def _run_parts(result: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of an experiment that only runs.json has."""
    runs = result["runs"]
    made = {key: _keyed(value) for key, value in result.items() if key not in _ELSEWHERE}
    return {
        "runs": _named(map(_keyed, runs), (f"{run['label']} on {run['board']}" for run in runs)),
        "shown": _named(map(_keyed, result["rows"]), map(_row_name, result["rows"])),
        "result": made,
    }


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ResultsError(f"{path}: no such file; is it a folder of `cyclescope bench`?") from None
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{path}: {error}") from error


def _row_name(row: Mapping[str, Any]) -> str:
    settings = " ".join(f"{name}={value}" for name, value in row["settings"].items())
    return f"{row['label']} ({row['metric']}) on {row['board']}: {settings}"


def _keyed(value: Any) -> Any:
    """Data with maps in the place of lists of named things."""
    if isinstance(value, Mapping):
        return {key: _keyed(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    things = [_keyed(one) for one in value]
    for key in _NAMES:
        if things and all(isinstance(one, Mapping) and key in one for one in things):
            return _named(things, (str(one[key]) for one in things))
    return things


def _named(things: Iterable[Any], names: Iterable[str]) -> dict[str, Any]:
    """Things by name, and their order; those of the same name are numbered."""
    found: dict[str, Any] = {}
    for thing, name in zip(things, names, strict=True):
        number = 2
        unique = name
        while unique in found:
            unique = f"{name} #{number}"
            number += 1
        found[unique] = thing
    return found | {ORDER: list(found)}
