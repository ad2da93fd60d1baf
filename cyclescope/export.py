"""The bench's results as files: JSON and CSV, the same bytes for the same results."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from cyclescope.results import ExperimentResult, flat_row


def to_json(results: Iterable[ExperimentResult]) -> str:
    """A list of objects, one a row, as `cyclescope bench --json` gives it."""
    rows = [row.to_dict() for result in results for row in result.rows]
    return json.dumps(rows, indent=2) + "\n"


def to_notes(results: Iterable[ExperimentResult]) -> str:
    """What the rows do not say, by experiment: notes and findings, and why runs failed."""
    notes = {
        result.name: {
            "notes": result.notes,
            "failures": [{"run": run.label, "error": run.error} for run in result.failures],
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
