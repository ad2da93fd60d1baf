"""`cyclescope advise`: changes that would make a program faster, each measured by a run."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Group
from rich.text import Text

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
from cyclescope.cli.tables import advise as advise_tables
from cyclescope.cli.tables import run as tables
from cyclescope.errors import SettingError
from cyclescope.host import interrupts, outputs, processors, terminal
from cyclescope.host.interrupts import Held, Interrupted
from cyclescope.units import count, format_duration

if TYPE_CHECKING:
    from cyclescope.advising.results import Advice
    from cyclescope.advising.study import Study

_GROUPS = {
    "Goal": ("metrics", "sections", "more_is_worse", "less_is_worse"),
    "Trials": ("tries", "quick"),
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
    "Output": ("json_file", "no_color"),
    "Execution": ("jobs", "again"),
}


@click.command("advise", cls=GroupedCommand, groups=_GROUPS)
@click.argument("target", metavar="ELF|EXPERIMENT", shell_complete=completions.sweeps)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help=(
        "The metric to improve [default: the times and rates that the firmware "
        "prints, else the run's time]."
    ),
)
@click.option(
    "--section",
    "sections",
    multiple=True,
    metavar="FUNCTION",
    help="Also measure the calls of a function, for --metric FUNCTION.ps.",
)
@direction_options
@click.option(
    "--try",
    "tries",
    multiple=True,
    metavar="PATH=VALUE",
    help=("Also try this value of a board property, or of a setting of an experiment's app."),
    shell_complete=completions.settings,
)
@click.option("--quick", is_flag=True, help="Use the experiment's short form.")
@board_option
@sets_option
@devices_option
@program_options
@run_limit_option
@click.option("--json", "json_file", metavar="FILE|-", help="Write all trials as JSON.")
@no_color_option
@jobs_option
@again_option
def advise_command(
    target: str,
    metrics: tuple[str, ...],
    sections: tuple[str, ...],
    worse: Mapping[str, str],
    tries: tuple[str, ...],
    quick: bool,
    board: str | None,
    sets: tuple[str, ...],
    program: Loading,
    limit: str | None,
    json_file: str | None,
    jobs: int | None,
    again: bool,
) -> int:
    """Try changes to board and code, and rank them by the gain.

    For a firmware ELF: larger caches and faster buses where the designer chooses them, registers
    that the firmware could set, hot code in other memories. For an experiment: other settings of
    its app and other compiler flags. Each line is the result of a run, not an estimate.
    """
    from cyclescope.advising import study
    from cyclescope.sweeps.requests import Request

    request = Request(
        target,
        board,
        sets=dict(map(parse_set, sets)),
        metrics=metrics,
        worse=worse,
        sections=sections,
        limit=limit,
        loading=program,
    )
    if board is None and not request.is_experiment:
        program.load(
            board, request.sets, Path(target)
        )  # the error names the boards that the program fits
    own_json = None if json_file == "-" else json_file
    outputs.check_outputs({"--json": own_json}, {target: "the program to advise on"})
    began_s = time.monotonic()
    with interrupts.held_back() as held:
        try:
            planned = study.study(request, dict(map(_tried, tries)), quick, held.stop)
            found = _run(planned, jobs or processors.count(), again, held)
        except study.StoppedError:
            message = "the same command continues from there"
            reason = f"interrupted by {held.name}: {message}"
            raise Interrupted(held.number or 0, reason) from None
        text = json.dumps(found.to_dict(), indent=1) + "\n"
        with terminal.shown(held.number is not None):
            screen = tables.console(stderr=json_file == "-")
            screen.print(Group(*advise_tables.screen(found)))
            took = format_duration(time.monotonic() - began_s)
            screen.print(Text(f"{count(len(found.tried), 'what-if')} in {took}"))
            if json_file == "-":
                sys.stdout.write(text)
    saved = own_json is None or outputs.save_all({own_json: text})
    return 0 if saved else 1


def _run(planned: Study, threads: int, again: bool, held: Held) -> Advice:
    from cyclescope.advising.study import Running
    from cyclescope.sweeps.store import Store

    title = f"{count(len(planned.what_ifs), 'what-if')} for {planned.target.name}"
    with CountedRuns("advise", title) as shown:
        how = Running(threads, held.stop, None if again else Store(), shown.progress)
        return planned.run(how)


def _tried(argument: str) -> tuple[str, str]:
    try:
        return parse_set(argument)
    except SettingError as error:
        raise SettingError(str(error).replace("--set", "--try", 1)) from None
