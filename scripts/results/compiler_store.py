"""Rows of files beside docs/results.csv: docs/compilers.csv and docs/linux.csv, for the pages.

The first has times of programs that other compilers built: `python scripts/compilers` makes its
rows, whose settings name the compiler and the sources. The other has the rows of experiments that
need packages of Debian.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import store

from cyclescope import experiments
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.errors import UsageError


def keep(rows: Iterable[Row], stored: Path) -> None:
    """Put rows in the place of those of the same experiment and label, new ones at the end."""
    _keep((store.line_of(row.to_dict()) for row in rows), stored)


def keep_of_linux(given: Path, stored: Path) -> None:
    """Put rows of `cyclescope bench` into docs/linux.csv. Raises `UsageError` for other files."""
    try:
        rows = [store.line_of(row) for row in json.loads(given.read_text(encoding="utf-8"))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{given}: no rows of `cyclescope bench`") from error
    if not rows or any(row["experiment"] not in experiments.OF_LINUX for row in rows):
        raise UsageError(f"{given}: no rows of {', '.join(experiments.OF_LINUX)}")
    _keep(rows, stored)


def _keep(fresh: Iterable[dict[str, Any]], stored: Path) -> None:
    lines = {(line["experiment"], line["label"]): line for line in store.read_lines(stored)}
    lines |= {(line["experiment"], line["label"]): line for line in fresh}
    order = list(dict.fromkeys(name for name, _ in lines))
    store.write_lines(stored, sorted(lines.values(), key=lambda x: order.index(x["experiment"])))


def load(stored: Path) -> Mapping[str, ExperimentResult]:
    """The file's rows, by experiment."""
    found: dict[str, list[Row]] = {}
    for line in store.read_lines(stored):
        found.setdefault(line["experiment"], []).append(store.row_of(line))
    return {
        name: ExperimentResult(
            name,
            "",
            "",
            (),
            tuple(rows),
            (),
            parameters={},
        )
        for name, rows in found.items()
    }
