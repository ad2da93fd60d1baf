"""`cyclescope bench --sensitivity`: its progress, its tables, its file."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import Group
from rich.text import Text

from cyclescope.bench import influence, moves, sensitivity
from cyclescope.bench.experiment import Experiment
from cyclescope.bench.influence import MOST_PCT, Change, Influence
from cyclescope.cli.counted_runs import CountedRuns
from cyclescope.cli.tables import run as tables
from cyclescope.cli.tables.columns import Fitted
from cyclescope.errors import UsageError
from cyclescope.host import interrupts, outputs
from cyclescope.host.interrupts import Interrupted
from cyclescope.units import count, format_duration

# The screen shows the parameters that move a cell by at least this percentage.
_LEAST_PCT = 0.5


def run(experiments: Sequence[Experiment], out: Path, threads: int) -> int:
    """Measure how far published cells move, write the file, and print the strongest parameters.

    Raises `UsageError` if no experiment has published cells, `EngineError` for a run that fails,
    `OutputError` if the file can't be written, `Interrupted` after a signal.
    """
    nothing = [one.name for one in experiments if not moves.published_runs(one)]
    if len(nothing) == len(experiments):
        raise UsageError(f"{', '.join(nothing)}: no published numbers to compare with")
    outputs.check_folder(out)
    began_s = time.monotonic()
    pairs = sensitivity.plan(experiments)
    moved = {pair.move for pair in pairs}
    title = f"{count(len(moved), 'move')} of parameters and choices"
    shown = CountedRuns("sensitivity", title)
    with interrupts.held_back() as held, shown:
        changes = sensitivity.measure(pairs, threads, held.stop, shown.progress)
    if held.number is not None:
        message = f"interrupted by {held.name}: the same command continues from there"
        raise Interrupted(held.number, message)
    sensitivity.check_complete(experiments, changes)
    outputs.make_folder(out)
    path = out / influence.NAME
    outputs.write_text(path, influence.to_csv(changes))
    screen = tables.console()
    screen.print(*_tables(experiments, changes))
    took = format_duration(time.monotonic() - began_s)
    screen.print(Text(f"{count(len(moved), 'move')} in {took}. Changes of all cells: {path}"))
    return 0


def _tables(experiments: Sequence[Experiment], changes: Sequence[Change]) -> Iterator[Group]:
    found = Influence(tuple(changes))
    for experiment in experiments:
        strongest = found.strongest(experiment.name)
        if strongest:
            yield _table(experiment.name, strongest)


def _table(name: str, strongest: Sequence[tuple[influence.Move, str, float]]) -> Group:
    table = Fitted(title=name, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("class", "parameter or choice", "value", "moved to", "cell that moves most"):
        table.add_column(heading, overflow="fold")
    table.add_column("change", justify="right", no_wrap=True)
    shown = [one for one in strongest if abs(one[2]) >= _LEAST_PCT]
    for move, cell, pct in shown:
        style = "bold" if abs(pct) > MOST_PCT else ""
        change = Text(f"{pct:+.1f} %", style=style)
        name = move.parameter.replace("cyclescope,", "")
        table.add_row(move.basis, name, move.value, move.to, cell, change)
    rest = len(strongest) - len(shown)
    others = Text(f"{rest} others move no cell by {_LEAST_PCT} %")
    return Group(table, others)
