"""The output of `cyclescope show` for results that a bench has stored."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from cyclescope import experiments
from cyclescope.bench import result_files
from cyclescope.bench.results import ExperimentResult
from cyclescope.cli.tables import experiment as experiment_tables


def table(result: ExperimentResult) -> str:
    """An experiment's tables as text."""
    screen = Console(width=120, file=io.StringIO())
    screen.print(experiment_tables.experiment_table(result))
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def table_from_files(result: ExperimentResult, folder: Path) -> str:
    """The output for the files that the bench writes of the experiment."""
    path = folder / "results.json"
    path.write_text(result_files.to_json([result]))
    path.with_name(result_files.NOTES).write_text(result_files.to_notes([result]))
    (again,) = result_files.load(path, experiments.ALL)
    return table(again)
