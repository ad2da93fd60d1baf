"""`cyclescope fit`: fits a board's parameters to measured numbers."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console, Group
from rich.text import Text

from cyclescope import fitting
from cyclescope.board.description.overrides import parse_set
from cyclescope.board.setup.loading import Loading
from cyclescope.cli import completions
from cyclescope.cli.colour import no_color_option
from cyclescope.cli.options.board import board_option, devices_option, sets_option
from cyclescope.cli.options.groups import GroupedCommand
from cyclescope.cli.options.program import program_options
from cyclescope.cli.options.runs import again_option, jobs_option, run_limit_option
from cyclescope.cli.tables import fit as fit_tables
from cyclescope.cli.tables import run as tables
from cyclescope.errors import UsageError, warn
from cyclescope.host import interrupts, outputs, processors, terminal
from cyclescope.host.interrupts import Held, Interrupted
from cyclescope.sweeps import Store
from cyclescope.units import count, format_duration

if TYPE_CHECKING:
    from cyclescope.fitting.requests import Plan, Request
    from cyclescope.fitting.results import FitResult

_GROUPS = {
    "Parameters": ("free", "prior"),
    "Measurements": ("table", "metric", "every", "seed"),
    "Board and limit": (
        "board",
        "sets",
        "option_bytes",
        "baud",
        "devices",
        "unmapped",
        "svd",
        "limit",
    ),
    "Program": ("core", "base", "entry"),
    "Output": ("out", "json_file", "no_color"),
    "Execution": ("jobs", "again"),
}


@click.command("fit", cls=GroupedCommand, groups=_GROUPS)
@click.argument("target", metavar="ELF|EXPERIMENT|FILE.toml", shell_complete=completions.sweeps)
@click.option(
    "--free",
    multiple=True,
    metavar="PATH[=LOW:HIGH]",
    help="A timing parameter to fit [default bounds: the board's plausible range].",
    shell_complete=completions.settings,
)
@click.option(
    "--prior",
    type=click.FloatRange(0, min_open=True),
    metavar="WIDTH",
    help=("Prior around the board's values: standard deviation, as a fraction of the bounds."),
)
@click.option(
    "--cells",
    "table",
    metavar="FILE.csv",
    help=(
        "CSV of measurements: one line per number, with value, metric, error, and settings by path."
    ),
)
@click.option("--metric", metavar="NAME", help="Metric of lines that do not name one.")
@click.option(
    "--every",
    type=click.IntRange(1),
    metavar="N",
    help="Fit to every N-th number; the others check the fit.",
)
@click.option(
    "--seed", type=click.IntRange(0), metavar="N", help="Seed for the cross-validation folds."
)
@board_option
@sets_option
@devices_option
@program_options
@run_limit_option
@click.option("--out", metavar="FILE.dts", help="Write a board file with the fitted values.")
@click.option("--json", "json_file", metavar="FILE|-", help="Write the result as JSON.")
@no_color_option
@jobs_option
@again_option
def fit_command(
    target: str,
    free: tuple[str, ...],
    prior: float | None,
    table: str | None,
    metric: str | None,
    every: int | None,
    seed: int | None,
    board: str | None,
    sets: tuple[str, ...],
    program: Loading,
    limit: str | None,
    out: str | None,
    json_file: str | None,
    jobs: int | None,
    again: bool,
) -> int:
    """Fit a board's timing parameters to measurements.

    Each parameter gets a value with a 95 % interval. The result says which parameters these
    measurements can't distinguish, and how well measurements are predicted that were left out.
    --out writes a board file. An experiment is fitted to its published numbers. FILE.toml holds all
    settings of a fit.
    """
    fitting.check_scipy()
    from cyclescope.fitting import parameters, requests

    request = requests.made(target, {})
    request = replace(
        request,
        board=board or request.board,
        table=table or request.table,
        free=(*request.free, *map(parameters.parse, free)),
        sets={**request.sets, **dict(map(parse_set, sets))},
        metric=metric or request.metric,
        prior=prior or request.prior,
        every=every or request.every,
        seed=request.seed if seed is None else seed,
        limit=limit or request.limit,
        loading=program,
    )
    _check_places(request, target, out, json_file)
    plan = request.plan()
    began_s = time.monotonic()
    with interrupts.held_back() as held:
        result = _run(plan, jobs or processors.count(), held, again)
        saved = _write(result, request, out, json_file)
        with terminal.shown(held.number is not None):
            screen = tables.console(stderr=json_file == "-")
            screen.print(Group(*fit_tables.screen(result)))
            took = format_duration(time.monotonic() - began_s)
            written = f"; the board is in {out}" if out is not None and saved else ""
            screen.print(Text(f"{count(result.runs, 'run')} in {took}{written}"), soft_wrap=True)
            if json_file == "-":
                sys.stdout.write(_json(result))
    for line in result.warnings:
        warn(line)
    return 0 if saved else 1


def _check_places(request: Request, target: str, out: str | None, json_file: str | None) -> None:
    """Raises `OutputError` if results can't be saved at the user's paths."""
    if out is not None and not out.endswith(".dts"):
        raise UsageError(f"--out {out}: the name of a board file must end in .dts")
    own_json = None if json_file == "-" else json_file
    inputs = {target: "the program to fit", request.target: "the program to fit"}
    if request.table is not None:
        inputs[request.table] = "the measurements"
    if request.board is not None and request.board.endswith(".dts"):
        inputs[request.board] = "the board"
    outputs.check_outputs({"--out": out, "--json": own_json}, inputs)


def _run(plan: Plan, threads: int, held: Held, again: bool) -> FitResult:
    from cyclescope.fitting.models import Running
    from cyclescope.sweeps.running import StoppedError

    console = Console(file=sys.stderr)
    names = count(len(plan.free), "parameter")
    at_a_time = count(threads, "run")
    console.print(Text(f"fit: {names} of {plan.board}, {at_a_time} at a time"), soft_wrap=True)
    done = 0
    with console.status("fit") as status:

        def ended(runs: int) -> None:
            nonlocal done
            done += runs
            status.update(f"fit: {count(done, 'run')}")

        how = Running(threads, held.stop, None if again else Store(), ended)
        try:
            return plan.run(how)
        except StoppedError:
            message = "the same command continues from there"
            raise Interrupted(held.number or 0, f"interrupted by {held.name}: {message}") from None


def _write(result: FitResult, request: Request, out: str | None, json_file: str | None) -> bool:
    from cyclescope.fitting import overlays

    texts: dict[outputs.AnyPath, str] = {}
    if json_file is not None and json_file != "-":
        texts[json_file] = _json(result)
    if out is not None and result.values:
        texts[out] = overlays.overlay(result, Path(out), request.sets)
    saved = outputs.save_all(texts)
    if out is not None and not result.values:
        warn(f"{out} was not written: no cell depends on the fitted parameters")
        return False
    return saved


def _json(result: FitResult) -> str:
    return json.dumps(result.to_dict(), indent=1) + "\n"
