"""docs/suites.csv: rows of suites, from programs that somebody built, kept for what pages say.

Nobody else has these very programs, so no test runs them again: `keep` puts the rows of a suite's
JSON (`cyclescope bench SUITE --elfs DIR`) in place of those of the same suite and boards.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from store import COLUMNS, parsed, settings_text

from cyclescope import suites
from cyclescope.bench.rows import Row, RunRecord
from cyclescope.errors import UsageError

_NO_RUN = RunRecord("", "", "", {}, None)


def keep(given: Path, stored: Path) -> None:
    """Put a suite's rows into the file. Raises `UsageError` if they are none."""
    try:
        rows = [_line(row) for row in json.loads(given.read_text(encoding="utf-8"))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{given}: no rows of `cyclescope bench SUITE --elfs DIR`") from error
    fresh = {(line["experiment"], line["board"]) for line in rows}
    if not rows or any(name not in suites.ALL for name, _ in fresh):
        raise UsageError(f"{given}: no rows of {', '.join(suites.ALL)}")
    kept = [line for line in _read(stored) if (line["experiment"], line["board"]) not in fresh]
    order = list(suites.ALL)
    lines = sorted(kept + rows, key=lambda line: (order.index(line["experiment"]), line["board"]))
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    stored.write_text(text.getvalue(), encoding="utf-8")


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    changed = {"settings": settings_text(row["settings"]), "calibrated_by": ""}
    return {name: row[name] for name in COLUMNS} | changed


def _read(stored: Path) -> list[dict[str, Any]]:
    if not stored.is_file():
        return []
    with stored.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def load(stored: Path) -> dict[str, list[Row]]:
    """The rows by suite."""
    found: dict[str, list[Row]] = {name: [] for name in suites.ALL}
    for line in _read(stored):
        row = parsed(line)
        kept = ("experiment", "board", "settings", "metric", "unit", "simulated", "published")
        values = (row[name] for name in (*kept, "basis", "label"))
        found[line["experiment"]].append(Row(*values, run=_NO_RUN))
    return found
