"""A sweep's result as files: CSV, JSON and Parquet; equal results give equal bytes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import IO, Any

from cyclescope.errors import UsageError
from cyclescope.sweeps.results import ERROR, PRICE, SweepResult

NO_PYARROW = "pyarrow is not installed: pip install 'cyclescope[sweeps]'"


def to_csv(result: SweepResult) -> str:
    """One line for each run; missing values are empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, result.table_columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(result.table())
    return text.getvalue()


def to_dict(result: SweepResult) -> dict[str, Any]:
    """What was varied, and one row for each run with its settings, numbers and error, for JSON."""
    rows = [
        {
            "settings": dict(row.settings),
            **({PRICE: row.price} if result.is_priced else {}),
            ERROR: row.error,
            "values": dict(row.values),
        }
        for row in result.rows
    ]
    design = result.design
    return {
        "target": result.target,
        "board": result.board,
        "design": design.kind,
        "samples": design.samples,
        "seed": design.seed,
        "axes": [
            {"path": axis.path, "values": list(axis.values)}
            if axis.span is None
            else {"path": axis.path, **vars(axis.span)}
            for axis in result.axes
        ],
        "metrics": [
            {"name": name, "unit": measure.unit, "worse_by": measure.worse}
            for name in result.metrics
            if (measure := result.measures.get(name))
        ],
        "planned": result.planned,
        "rows": rows,
    }


def to_json(result: SweepResult) -> str:
    """The JSON text of `to_dict`."""
    return json.dumps(to_dict(result), indent=1) + "\n"


def to_parquet(result: SweepResult, path: Path | str | IO[bytes]) -> None:
    """Write the table of `to_csv` as Parquet, columns with their types.

    Raises `UsageError` without pyarrow, `OSError` if the file can't be written.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as absent:
        raise UsageError(NO_PYARROW) from absent
    rows = result.table()
    columns = {name: _column([row[name] for row in rows]) for name in result.table_columns}
    parquet.write_table(pyarrow.table(columns), path)


def has_parquet() -> bool:
    """Whether Parquet can be written here."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return False
    return True


def _column(values: list[Any]) -> list[Any]:
    """A column of one type: text unless all values are numbers, floats if one value is a float."""
    kinds = {type(value) for value in values if value is not None}
    if str in kinds and len(kinds) > 1:
        return [None if value is None else str(value) for value in values]
    if float in kinds:
        return [None if value is None else float(value) for value in values]
    return values
