"""`cyclescope sweep`: a program or an experiment with many settings, and the results as files."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Group
from rich.text import Text

from cyclescope import sweeps
from cyclescope.board.description.overrides import parse_set
from cyclescope.board.setup.loading import Loading
from cyclescope.cli import completions
from cyclescope.cli.colour import no_color_option
from cyclescope.cli.counted_runs import CountedRuns
from cyclescope.cli.options.board import board_option, devices_option, sets_option
from cyclescope.cli.options.directions import direction_options
from cyclescope.cli.options.groups import GroupedCommand
from cyclescope.cli.options.program import program_options
from cyclescope.cli.options.runs import again_option, jobs_option, run_limit_option
from cyclescope.cli.options.serial import script_option
from cyclescope.cli.tables import run as tables
from cyclescope.cli.tables import sweep as sweep_tables
from cyclescope.errors import warn
from cyclescope.host import interrupts, outputs, processors, terminal
from cyclescope.host.interrupts import Held, Interrupted
from cyclescope.sweeps import designs, files
from cyclescope.sweeps import scripts as line_scripts
from cyclescope.sweeps.axes import parse_vary
from cyclescope.sweeps.designs import Design
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.planning import Plan
from cyclescope.sweeps.prices import Prices, parse_price
from cyclescope.sweeps.requests import Request, Runner
from cyclescope.sweeps.results import SweepResult
from cyclescope.units import count, format_duration

JSON, CSV, PARQUET, REPORT = "sweep.json", "sweep.csv", "sweep.parquet", "sweep.html"
TOML = ".toml"

_GROUPS = {
    "Settings to vary": ("vary", "zips", "samples", "sampling", "seed"),
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
    "Program": ("core", "base", "entry", "scripts"),
    "Measurements": (
        "metrics",
        "sections",
        "more_is_worse",
        "less_is_worse",
        "price_texts",
    ),
    "Output": ("out", "json_file", "no_color"),
    "Execution": ("jobs", "dask", "again"),
}


@click.command("sweep", cls=GroupedCommand, groups=_GROUPS)
@click.argument("target", metavar="ELF|EXPERIMENT|FILE.toml", shell_complete=completions.sweeps)
@click.option(
    "--vary",
    multiple=True,
    metavar="PATH=VALUES",
    help=("Setting to vary: 10M,20M or 10M:40M:10M or 1K:32K:x2; elf=*.elf; flags=-O2,-Os."),
    shell_complete=completions.settings,
)
@click.option(
    "--zip",
    "zips",
    multiple=True,
    metavar="'PATH PATH...'",
    help="Vary these settings together instead of in all combinations.",
)
@click.option(
    "--samples",
    type=click.IntRange(1, designs.MOST_RUNS),
    metavar="N",
    help=(
        "Draw this many random points instead of a grid; 10M:40M and 10M:40M:log are then ranges."
    ),
)
@click.option(
    "--sampling",
    type=click.Choice(designs.SAMPLINGS),
    help="Sampling method: random (default), Latin hypercube, or for Sobol' indices.",
)
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Seed of the random points.")
@board_option
@sets_option
@devices_option
@program_options
@run_limit_option
@script_option
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="The metric to compare [default: what the firmware prints, else elapsed_ps].",
)
@click.option(
    "--section",
    "sections",
    multiple=True,
    metavar="FUNCTION",
    help="Also measure the calls of a function: FUNCTION.ps.",
)
@direction_options
@click.option(
    "--price",
    "price_texts",
    multiple=True,
    metavar="PATH=PRICES",
    help="Price of a setting's values: cpu0.i-cache-size=0:0,4K:0.1 or ...=0.02/1K.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("sweep"),
    show_default=True,
    metavar="DIR",
    help=f"Output folder: {JSON}, {CSV}, {PARQUET}, {REPORT}.",
)
@click.option(
    "--json", "json_file", metavar="FILE|-", help="Also write the rows as JSON to this file."
)
@no_color_option
@jobs_option
@click.option(
    "--dask",
    metavar="ADDRESS|local",
    help="Run on a Dask cluster: tcp://host:8786; `local` starts --jobs processes.",
)
@again_option
def sweep_command(
    target: str,
    vary: tuple[str, ...],
    zips: tuple[str, ...],
    samples: int | None,
    sampling: str | None,
    seed: int | None,
    board: str | None,
    sets: tuple[str, ...],
    program: Loading,
    limit: str | None,
    scripts: tuple[str, ...],
    metrics: tuple[str, ...],
    sections: tuple[str, ...],
    worse: dict[str, str],
    price_texts: tuple[str, ...],
    out: Path,
    json_file: str | None,
    jobs: int | None,
    dask: str | None,
    again: bool,
) -> int:
    """Run a program or an experiment in many settings.

    For a firmware ELF, --vary takes board properties, `elf` and `board`; for an experiment, also
    the settings of its app and the compiler's `flags`. FILE.toml holds all settings of a sweep.
    Results are cached: a sweep that was interrupted continues where it stopped.
    """
    request = sweeps.read_toml(Path(target)) if target.endswith(TOML) else Request(target)
    request = replace(
        request,
        board=board or request.board,
        axes=(*request.axes, *map(parse_vary, vary)),
        sets={**request.sets, **dict(map(parse_set, sets))},
        design=_design(request.design, zips, samples, sampling, seed),
        metrics=metrics or request.metrics,
        sections=(*request.sections, *sections),
        worse={**request.worse, **worse},
        prices=Prices((*request.prices.axes, *map(parse_price, price_texts))),
        limit=limit or request.limit,
        loading=program,
        scripts=(*request.scripts, *map(line_scripts.read, scripts)),
    )
    own_json = None if json_file == "-" else json_file
    planned = request.plan()
    _check_places(request, target, out, own_json)
    threads = jobs or processors.count()
    began_s = time.monotonic()
    where = f"{threads} at a time" if dask is None else f"on Dask, {dask}"
    with sweeps.runner(threads, dask) as runner, interrupts.held_back() as held:
        result = _run(request, planned, runner, where, held, again)
        saved = _write(result, out, own_json)
        with terminal.shown(held.number is not None):
            screen = tables.console(stderr=json_file == "-")
            screen.print(Group(*sweep_tables.screen(result)))
            screen.print(Text(_summary(result, out if saved else None, began_s)), soft_wrap=True)
            if json_file == "-":
                sys.stdout.write(files.to_json(result))
    if held.number is not None and len(result.rows) < result.planned:
        message = f"{len(result.rows)} of {result.planned} runs are finished"
        raise Interrupted(
            held.number,
            f"interrupted by {held.name}: {message}; the same command continues from there",
        )
    return 0 if saved and len(result.failures) < len(result.rows) else 1


def _design(
    before: Design,
    zips: Sequence[str],
    samples: int | None,
    sampling: str | None,
    seed: int | None,
) -> Design:
    kind = sampling or (designs.RANDOM if samples and before.kind == designs.GRID else before.kind)
    together = tuple(tuple(group.split()) for group in zips)
    return Design(
        kind,
        samples or before.samples,
        (*before.zips, *together),
        before.seed if seed is None else seed,
    )


def _check_places(request: Request, target: str, out: Path, json_file: str | None) -> None:
    """Raises `OutputError` if results can't be saved at the user's paths."""
    outputs.check_folder(out)
    places = {f"{name} of --out": out / name for name in (JSON, CSV, PARQUET, REPORT)}
    inputs = {target: "the program to sweep", request.target: "the program to sweep"}
    outputs.check_outputs({**places, "--json": json_file}, inputs, folder=out)


def _run(
    request: Request, planned: Plan, runner: Runner, where: str, held: Held, again: bool
) -> SweepResult:
    total = len(planned.rows)
    title = f"{count(total, 'run')} of {planned.target.name}, {where}"
    store = None if again else sweeps.Store()
    done = 0
    with CountedRuns("sweep", title) as shown:

        def ended(row: int, outcome: Outcome) -> None:
            nonlocal done
            done += 1
            shown.progress(done, total)

        return request.run(planned, runner, held.stop, store, ended)


def _write(result: SweepResult, out: Path, json_file: str | None) -> bool:
    """Write the files; whether all of them could be written."""
    if not result.rows:
        return True
    from cyclescope.report import sweep_page

    rows = files.to_json(result)
    texts: dict[outputs.AnyPath, str] = {
        out / JSON: rows,
        out / CSV: files.to_csv(result),
        out / REPORT: sweep_page.render(result),
    }
    if json_file is not None:
        texts[json_file] = rows
    saved = outputs.save_all(texts)
    if saved and files.has_parquet():
        with outputs.opened(out / PARQUET, "wb") as file:
            files.to_parquet(result, file)
    elif saved:
        warn(f"{PARQUET} was not written: {files.NO_PYARROW}")
    return saved


def _summary(result: SweepResult, out: Path | None, began_s: float) -> str:
    kept = sum(row.is_kept for row in result.rows)
    took = format_duration(time.monotonic() - began_s)
    parts = [f"{count(len(result.rows), 'run')} in {took}"]
    if kept:
        parts.append(f"{kept:,} of them cached")
    if result.failures:
        parts.append(f"{len(result.failures):,} failed")
    summary = ", ".join(parts)
    where = f"; see {out / CSV} and {out / REPORT}" if out is not None and result.rows else ""
    return f"{summary}{where}"
