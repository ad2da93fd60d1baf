"""Runs `cyclescope bench` in a checkout's own Python, and writes the data that its files omit.

python recorded_bench.py RUNS.json ARGUMENTS...

Cyclescope's files have the rows, not the output and the counters of each run. This script takes
them from the bench's `ExperimentResult`s. It depends on this class's `name` and `rows`, on the
`stack` of a row, and on the fields in `LEFT_OUT`, but on no module. So it works with any checkout
that has these, whatever its layout.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

# Fields that may differ between two checkouts, by class and field.
LEFT_OUT = {
    ("RunResult", "wall_ns"): "the host's time",
    ("RunResult", "host_work"): "what was compiled, which depends on when the host did it",
    ("Parameter", "at"): "where the board's file is on this host",
    ("Row", "run"): "a run stands among the runs once",
    ("Row", "pivot"): "how rows are shown; the report has it",
    ("Row", "sweeps"): "how rows are shown; the report has it",
    ("RunRecord", "short"): "a run that explains another; a bench with --explain has no such run",
    ("ExperimentResult", "frames"): "how frames are shown; the report has it",
    ("ExperimentResult", "in_short"): "rows of runs that explain others",
    ("ExperimentResult", "unexplained"): "what a bench without --explain lacks",
    ("ExperimentResult", "unmade"): "what a bench without --explain lacks",
}


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        name = type(value).__name__
        names = [one.name for one in fields(value) if (name, one.name) not in LEFT_OUT]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return f"{type(value).__name__}: {value}"


def record(result: Any) -> dict[str, Any]:
    """An experiment's result: its rows have the stack that is shown beside them, too."""
    found = plain(result)
    for row, recorded in zip(result.rows, found["rows"], strict=True):
        recorded["stack"] = plain(row.stack)
    return found


def main() -> None:
    """Run the bench; its status is this program's."""
    runs, *arguments = sys.argv[1:]
    import cyclescope

    made: dict[str, Any] = {}
    result_class = cyclescope.ExperimentResult
    original = result_class.__init__

    def remembering(self: Any, *given: Any, **named: Any) -> None:
        original(self, *given, **named)
        made[self.name] = self

    result_class.__init__ = remembering
    try:
        sys.argv = ["cyclescope", "bench", *arguments]
        runpy.run_module("cyclescope", run_name="__main__")
    finally:
        text = json.dumps({name: record(result) for name, result in made.items()}, indent=1)
        # messages may name files of the checkout
        root = str(Path(cyclescope.__file__).parents[1])
        Path(runs).write_text(text.replace(root, "CHECKOUT") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
