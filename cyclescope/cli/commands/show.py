"""`cyclescope show`: the tables of a finished bench."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from cyclescope import experiments
from cyclescope.bench import result_files
from cyclescope.cli import completions
from cyclescope.cli.tables import experiment as experiment_tables
from cyclescope.cli.tables import run as tables
from cyclescope.errors import UsageError


@click.command("show")
@click.argument(
    "names", nargs=-1, metavar="[EXPERIMENT]...", shell_complete=completions.experiments
)
@click.option(
    "--results",
    "path",
    type=click.Path(path_type=Path),
    default=Path("results/results.json"),
    show_default=True,
    metavar="FILE",
    help="results.json of a bench.",
)
def show_command(names: tuple[str, ...], path: Path) -> None:
    """Print the tables of a finished bench.

    Shows each row, fitted values, findings and failures: of all experiments in FILE, or of those
    named. Findings are in notes.json in FILE's folder.
    """
    wanted = [experiment.name for experiment in experiments.select(names)]
    results = result_files.load(path, experiments.KNOWN)
    found = [result for result in results if result.name in wanted]
    missing = [name for name in names if all(result.name != name for result in found)]
    if missing:
        raise UsageError(
            f"{path} has no row of {', '.join(missing)}: run `cyclescope bench {' '.join(missing)}`"
        )
    screen = tables.console()
    for result in found:
        screen.print(experiment_tables.experiment_table(result))
        for run in result.failures:
            screen.print(Text(f"failed: {run.label}: {run.error}"))
