"""`cyclescope compare`: the differences between two runs, by function and cause."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from cyclescope.board.setup.loading import Loading
from cyclescope.cli import compared_revisions, compared_runs, completions
from cyclescope.cli.colour import no_color_option
from cyclescope.cli.compared_revisions import Revisions
from cyclescope.cli.compared_runs import Given
from cyclescope.cli.options.board import board_option, devices_option, limit_option, sets_option
from cyclescope.cli.options.directions import direction_options
from cyclescope.cli.options.groups import TakesArguments
from cyclescope.cli.options.program import program_options
from cyclescope.cli.options.semihosting import semihosting_dir_option
from cyclescope.cli.options.serial import script_option
from cyclescope.cli.shown_run import print_note
from cyclescope.cli.tables import run as tables
from cyclescope.comparing import limits
from cyclescope.comparing.code import decisive, instruction_changes
from cyclescope.comparing.differences import Comparison, compare
from cyclescope.comparing.limits import Exceeded
from cyclescope.comparing.plain import Instructions, plain
from cyclescope.comparing.runs import Run
from cyclescope.errors import UsageError, complain
from cyclescope.host import interrupts, terminal
from cyclescope.host.outputs import check_outputs, write_text
from cyclescope.statuses import Status
from cyclescope.units import parse_time_ps

_GROUPS = {
    "Board and limit": (
        "board",
        "sets",
        "option_bytes",
        "baud",
        "sets_b",
        "devices",
        "unmapped",
        "svd",
        "limit",
    ),
    "Program": ("core", "base", "entry", "scripts", "semihosting_dir"),
    "Git revisions": ("build", "elf", "experiment"),
    "Output": ("top", "quiet", "no_color"),
    "Limits": ("fail_over", "functions", "more_is_worse", "less_is_worse"),
    "Files": ("markdown_file", "json_file"),
}


@click.command("compare", cls=TakesArguments, groups=_GROUPS)
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="B", type=click.Path(path_type=Path))
@board_option
@sets_option
@click.option(
    "--set-b",
    "sets_b",
    multiple=True,
    metavar="PATH=VALUE",
    help="Set a board property for B only; A and B may be the same ELF.",
    shell_complete=completions.settings,
)
@devices_option
@program_options
@limit_option
@script_option
@semihosting_dir_option
@click.option(
    "--top",
    type=click.IntRange(1, 1_000_000),
    default=20,
    show_default=True,
    metavar="N",
    help="Show the N functions with the largest difference.",
)
@click.option(
    "--fail-over",
    metavar="PERCENT",
    help=(
        "Exit with status 1 if a core's cycles, a metric or a --function got worse by "
        "more than this: 2%."
    ),
)
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="NAME",
    help="Apply --fail-over to this function and all that it calls, too.",
)
@direction_options
@click.option(
    "--build",
    metavar="COMMAND",
    help=("Compare git revisions A and B: run this command in a copy of each to build --elf."),
)
@click.option(
    "--elf",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The program that --build builds.",
)
@click.option(
    "--experiment",
    metavar="NAME",
    help=("Compare the rows of this experiment between git revisions A and B of Cyclescope."),
    shell_complete=completions.experiments,
)
@click.option("-q", "--quiet", is_flag=True, help="Suppress notes and warnings.")
@no_color_option
@click.option(
    "--markdown",
    "markdown_file",
    metavar="FILE|-",
    help="Write a Markdown summary for a pull request.",
)
@click.option("--json", "json_file", metavar="FILE|-", help="Write the comparison as JSON.")
def compare_command(
    before: Path,
    after: Path,
    board: str | None,
    sets: tuple[str, ...],
    sets_b: tuple[str, ...],
    program: Loading,
    limit: str | None,
    scripts: tuple[str, ...],
    semihosting_dir: str | None,
    top: int,
    fail_over: str | None,
    functions: tuple[str, ...],
    worse: dict[str, str],
    quiet: bool,
    markdown_file: str | None,
    json_file: str | None,
    build: str | None,
    elf: Path | None,
    experiment: str | None,
    arguments: tuple[str, ...],
) -> int:
    """Compare two runs: cycles by function and cause, metrics.

    A and B are each a firmware ELF, which is run with a profile, or the JSON file of a run
    (`run --json`, `profile --json`) or of a bench (results.json). With --build or --experiment they
    are git revisions, and a dot is the working tree. Runs are deterministic: a difference of one
    cycle is real. Arguments after -- are passed to the firmware.
    """
    percent = None if fail_over is None else limits.parse_percent(fail_over)
    if functions and percent is None:
        raise UsageError("--function needs --fail-over PERCENT")
    if markdown_file == json_file == "-":
        raise UsageError("--markdown and --json can't both go to standard output")
    if limit is not None:
        parse_time_ps(limit)
    given = Given(board, sets, sets_b, program, limit, scripts, semihosting_dir, quiet, arguments)
    revisions = Revisions(build, elf, experiment)
    outputs = {"--markdown": markdown_file, "--json": json_file}
    both = _runs((before, after), revisions, given, outputs)
    comparison = compare(*both, worse)
    exceeded = [] if percent is None else limits.exceeded(comparison, percent, functions)
    with terminal.shown(False):
        _show(comparison, exceeded, top, fail_over, {"md": markdown_file, "json": json_file})
    for note in () if quiet else _notes(comparison, percent is not None, worse):
        print_note(note)
    for one in exceeded:
        complain(_complaint(one, fail_over))
    return _status(comparison, exceeded, percent is not None)


def _runs(
    names: tuple[Path, Path],
    revisions: Revisions,
    given: Given,
    files: dict[str, str | None],
) -> tuple[Run, Run]:
    """Make or read both runs, one after the other."""
    revisions.check()
    if revisions.experiment is not None:
        given.check_experiment()
    with compared_revisions.files(names, revisions, given.sets) as (before, after):
        sides = (
            compared_runs.load(before[0], given, is_second=False, revision=before[1]),
            compared_runs.load(after[0], given, is_second=True, revision=after[1]),
        )
        if revisions.experiment is None:
            given.check(sides)
        outputs = {option: None if path == "-" else path for option, path in files.items()}
        check_outputs(outputs, {**sides[0].inputs, **sides[1].inputs})
        with interrupts.held_back() as held:
            one, other = (compared_runs.run(side, given, held) for side in sides)
        return compared_runs.labelled(one, other, sides)


def _show(
    comparison: Comparison,
    exceeded: list[Exceeded],
    top: int,
    fail_over: str | None,
    files: dict[str, str | None],
) -> None:
    """Write the files and show the tables; on stderr if a file is standard output."""
    from cyclescope.cli.tables import compare as compare_tables  # imported while the firmware ran

    instructions = _instructions(comparison, top)
    if files["md"] is not None:
        from cyclescope.comparing.markdown import markdown

        _write(files["md"], markdown(comparison, instructions, exceeded, fail_over))
    if files["json"] is not None:
        data = plain(comparison, instructions, exceeded)
        _write(files["json"], json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    screen = tables.console(stderr="-" in files.values())
    screen.print(compare_tables.comparison(comparison, instructions, top))
    sys.stdout.flush()


def _write(file: str, text: str) -> None:
    if file == "-":
        sys.stdout.write(text)
    else:
        write_text(file, text)


def _instructions(comparison: Comparison, top: int) -> Instructions:
    """The instructions that explain the differences of the first functions."""
    both = comparison.before, comparison.after
    return {
        (core.name, one.name): decisive(instruction_changes(*both, core.name, one))
        for core in comparison.cores
        for one in core.differing[:top]
    }


def _notes(comparison: Comparison, is_limited: bool, worse: dict[str, str]) -> list[str]:
    both = comparison.before, comparison.after
    notes = [f"{run.label}: {run.message}" for run in both if run.outcome in ("limit", "asleep")]
    notes += [f"{run.label}: {note}" for run in both if run.profile for note in run.profile.notes]
    names = {metric.name for metric in comparison.metrics}
    notes += [f"no metric is called {name}" for name in worse if name not in names]
    if is_limited:
        unknown = dict.fromkeys(one.name for one in comparison.metrics if one.verdict == "other")
        notes += [
            f"{name} changed: give --more-is-worse {name} or --less-is-worse {name} to check it"
            for name in unknown
        ]
    return notes


def _complaint(one: Exceeded, fail_over: str | None) -> str:
    from cyclescope.comparing import words

    change = one.change
    numbers = f"{words.number(change.before)} -> {words.number(change.after)} {one.unit}"
    return f"{one.what}: {numbers} ({words.percent(change)}): more than {fail_over} worse"


def _status(comparison: Comparison, exceeded: list[Exceeded], is_limited: bool) -> int:
    """The exit status: a failed run first; a difference is an error only with --fail-over."""
    for run in (comparison.before, comparison.after):
        if run.outcome in ("fault", "script") and run.profile:
            complain(f"{run.label}: {run.message or run.outcome}")
            return Status.SCRIPT if run.outcome == "script" else Status.FIRMWARE_FAULT
    if is_limited and not comparison.has_equal_end:
        from cyclescope.comparing import words

        complain(words.ends(comparison) or "")
        return Status.FAILED
    return Status.FAILED if exceeded else Status.SUCCESS
