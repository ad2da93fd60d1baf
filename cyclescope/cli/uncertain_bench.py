"""`cyclescope bench --uncertainty`: its progress, its table, its file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from rich import box
from rich.table import Table
from rich.text import Text

from cyclescope.bench import uncertainty
from cyclescope.bench.experiment import Experiment
from cyclescope.bench.uncertainty import LEVEL_PCT, Spread
from cyclescope.cli.counted_runs import CountedRuns
from cyclescope.cli.tables import run as tables
from cyclescope.cli.tables.columns import Fitted
from cyclescope.errors import UsageError, complain
from cyclescope.host import interrupts, outputs
from cyclescope.host.interrupts import Interrupted
from cyclescope.statuses import Status
from cyclescope.sweeps import Store, cell_draws
from cyclescope.sweeps.cell_draws import Study
from cyclescope.units import count, format_duration

_WITHIN = f"{LEVEL_PCT} % within: median"


def run(experiments: Sequence[Experiment], out: Path, threads: int, samples: int) -> int:
    """Draw values `samples` times, write the published cells' ranges, and print a summary.

    The exit status is 1 if runs failed; the numbers of the others are written all the same. Raises
    `UsageError` if there is no value to draw, `EngineError` if a run fails on the unchanged board,
    `OutputError` if the file can't be written, `Interrupted` after a signal.
    """
    planned = cell_draws.studies(experiments, samples)
    if not planned:
        names = ", ".join(one.name for one in experiments)
        raise UsageError(f"{names}: no published numbers that depend on assumed values of boards")
    outputs.check_folder(out)
    began_s = time.monotonic()
    title = f"{samples} draws of {count(sum(len(one.parameters) for one in planned), 'value')}"
    shown = CountedRuns("uncertainty", title)
    with interrupts.held_back() as held, shown:
        found = cell_draws.measure(planned, threads, held.stop, Store(), shown.progress)
    if found is None:
        assert held.number is not None  # only a signal stops it
        message = f"interrupted by {held.name}: the same command continues from there"
        raise Interrupted(held.number, message)
    outputs.make_folder(out)
    path = out / uncertainty.NAME
    outputs.write_text(path, uncertainty.to_csv(found.spreads))
    screen = tables.console()
    screen.print(_table(planned, found.spreads))
    took = format_duration(time.monotonic() - began_s)
    screen.print(Text(f"{samples} draws in {took}. The range of each cell: {path}"))
    for failure, runs in found.failures.items():
        complain(f"{count(runs, 'run')} failed: {failure}")
    return Status.FAILED if found.failures else Status.SUCCESS


def _table(planned: Sequence[Study], spreads: Sequence[Spread]) -> Table:
    table = Fitted(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("experiment", "board"):
        table.add_column(heading, is_name=True)
    for heading, goes in {"values drawn": 1, "cells": 2, _WITHIN: None}.items():
        table.add_column(heading, justify="right", goes=goes)
    table.add_column("the widest", justify="right")
    table.add_column("of", is_name=True)
    for study in planned:
        name, board = study.experiment.name, study.board
        own = [one for one in spreads if (one.experiment, one.board) == (name, board)]
        widest = max(own, key=_width)
        table.add_row(
            name,
            board,
            str(len(study.parameters)),
            str(len(own)),
            f"{median(map(_width, own)):.1f} %",
            f"{_width(widest):.1f} %",
            widest.cell,
        )
    return table


def _width(spread: Spread) -> float:
    low, high = spread.interval_pct
    return high - low
