"""`cyclescope run`: one firmware on one board, with its console on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import click

from cyclescope import statuses
from cyclescope.board import Board
from cyclescope.board.description.overrides import OverrideValue, parse_set
from cyclescope.board.observing import timelines, waveforms
from cyclescope.board.outcome.kept_calls import MOST_CALLS
from cyclescope.board.results import INTERRUPTED, RunResult
from cyclescope.board.setup import snapshots
from cyclescope.board.setup.loading import Loading
from cyclescope.cli import completions, shown_run, stopped_run
from cyclescope.cli.colour import no_color_option
from cyclescope.cli.options.board import board_option, devices_option, limit_option, sets_option
from cyclescope.cli.options.gdb import GdbOptions, gdb_options
from cyclescope.cli.options.groups import TakesArguments
from cyclescope.cli.options.program import program_options
from cyclescope.cli.options.semihosting import semihosting_dir_option, stdin_option
from cyclescope.cli.options.serial import LineOptions, line_options
from cyclescope.cli.options.triggers import NAMES, TriggerOptions, trigger_options
from cyclescope.cli.shown_run import print_note
from cyclescope.errors import OutputError, UsageError, complain, warn
from cyclescope.host import interrupts, terminal
from cyclescope.host.outputs import check_outputs, write_text
from cyclescope.host.terminal import Outlet
from cyclescope.statuses import Status
from cyclescope.units import parse_time_ps

_LONGEST_CALLS = 10
_TABLES = "cyclescope.cli.tables.run"
_DETAILS = "cyclescope.cli.tables.run_details"
# Outcomes other than the firmware's own exit.
_BY_OUTCOME = {"limit": Status.LIMIT, "asleep": Status.ASLEEP, "script": Status.SCRIPT}


GROUPS = {
    "Board and limit": (
        "board",
        "sets",
        "option_bytes",
        "baud",
        "devices",
        "unmapped",
        "svd",
        "limit",
        "start_from",
        "snapshot",
        "snapshot_at",
    ),
    "Program": ("core", "base", "entry"),
    "Serial lines": ("consoles", "scripts", "save_script", "pace", "no_console", "can"),
    "Measurements": (
        "sections",
        "calls",
        "longest",
        "waits",
        "waves",
        "vcd",
        "vcd_signals",
        "vcd_timescale",
        "trace",
        "trace_from",
        "trace_for",
        "trace_memory",
        "trace_kinds",
        "uncertainty",
    ),
    "Conditions": NAMES,
    "Debugger": ("gdb_address", "gdb_any_address"),
    "Semihosting": ("semihosting_dir", "stdin"),
    "Output": ("quiet", "verbose", "no_color", "json_file", "exit_status"),
    "Simulator": ("skip_polling", "compile_after"),
}
"""The options of `run` under headings."""


Load = Callable[[Mapping[str, OverrideValue]], Board]
Summary = Callable[[RunResult], Any]
"""What is printed of a result: anything that rich prints."""
"""Makes the board with its program, from the settings of `--set`."""


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a run other than those for its program; all are keywords."""

    @click.option(
        "--section",
        "sections",
        multiple=True,
        metavar="FUNCTION",
        help="Also show the cycle stack of a function's calls; CORE:FUNCTION for another core.",
    )
    @click.option(
        "--calls",
        multiple=True,
        metavar="FUNCTION",
        help="Also show what the longest calls of a function waited for.",
    )
    @click.option(
        "--longest",
        type=click.IntRange(1, MOST_CALLS),
        metavar="N",
        help="Number of calls to show for each function [default: 10].",
    )
    @click.option(
        "--waits",
        is_flag=True,
        help=(
            "Also show what each core waited for; with several cores, the critical path "
            "as well (slower)."
        ),
    )
    @click.option(
        "--skip-polling/--no-skip-polling",
        default=True,
        help="Fast-forward polling loops, or run each iteration. Does not change results.",
    )
    @click.option(
        "--compile-after",
        type=click.IntRange(0, 65535),
        metavar="RUNS",
        help="Compile a block after RUNS executions; 0 = never. Does not change results.",
    )
    @click.option("--json", "json_file", metavar="FILE|-", help="Write the result as JSON.")
    @click.option(
        "--waves",
        metavar="FILE",
        help="Write waveforms of wires and devices: FILE.fst or FILE.vcd.",
    )
    @click.option(
        "--vcd",
        metavar="FILE",
        help="Write waveforms as a Value Change Dump, whatever the file's name.",
    )
    @click.option(
        "--waves-signals",
        "--vcd-signals",
        "vcd_signals",
        multiple=True,
        metavar="PATTERN",
        help="Record only these signals: 'spi0.*'.",
        shell_complete=completions.wires,
    )
    @click.option(
        "--waves-timescale",
        "--vcd-timescale",
        "vcd_timescale",
        metavar="UNIT",
        help="Time unit of the waveforms: 10ns [default: the coarsest exact one].",
    )
    @click.option(
        "--trace",
        metavar="FILE",
        help="Write a timeline of devices and cores, for ui.perfetto.dev.",
    )
    @click.option("--trace-from", metavar="TIME", help="Start of the timeline: 10ms.")
    @click.option("--trace-for", metavar="TIME", help="Length of the timeline.")
    @click.option(
        "--trace-memory",
        metavar="SIZE",
        default=timelines.MEMORY,
        show_default=True,
        help="Memory for the timeline; when it is full, the oldest records are dropped.",
    )
    @click.option(
        "--trace-kind",
        "trace_kinds",
        multiple=True,
        type=click.Choice((timelines.DEFAULT, *timelines.KINDS)),
        metavar="KIND",
        help=f"Record only this kind of activity: {', '.join(timelines.KINDS)}; default is all but "
        f"{', '.join(timelines.ASKED_FOR)}.",
    )
    @click.option(
        "--from",
        "start_from",
        metavar="FILE",
        help="Continue from a snapshot of the same board and ELF.",
    )
    @click.option(
        "--snapshot",
        metavar="FILE",
        help="Write a snapshot of the board at --snapshot-at or --snapshot-when.",
    )
    @click.option("--snapshot-at", metavar="TIME", help="Time of the snapshot: 10ms.")
    @line_options
    @trigger_options
    @gdb_options
    @click.option(
        "-q", "--quiet", is_flag=True, help="Print the console output only: no summary, no notes."
    )
    @click.option(
        "-v", "--verbose", is_flag=True, help="Also print what was loaded, and all counters."
    )
    @no_color_option
    @click.option(
        "--exit-status",
        type=click.Choice(("firmware", "ran")),
        default="firmware",
        show_default=True,
        help="Exit with the firmware's status, or with 0 whenever it ran.",
    )
    @wraps(command)
    def with_options(**given: Any) -> Any:
        return command(**given)

    return with_options


@click.command("run", cls=TakesArguments, groups=GROUPS, epilog=statuses.EPILOG)
@click.argument("elf", type=click.Path(path_type=Path))
@board_option
@sets_option
@devices_option
@program_options
@limit_option
@run_options
@semihosting_dir_option
@stdin_option
@click.option(
    "--uncertainty",
    type=click.IntRange(10, 100_000),
    is_flag=False,
    flag_value=100,
    metavar="[RUNS]",
    help=(
        "Show the range of the results over the board's assumed values, from this many runs: 100."
    ),
)
def run_command(
    elf: Path,
    board: str | None,
    program: Loading,
    uncertainty: int | None,
    **options: Any,
) -> int:
    """Run a firmware ELF on a virtual board.

    The firmware's console is on standard output. Arguments after -- are passed to the firmware.
    Ctrl-C, SIGTERM and SIGHUP stop the simulation; results up to then are shown and written.
    """
    if uncertainty is not None:
        uncertain = import_module("cyclescope.cli.uncertain_run")
        asked = (options[name] for name in ("sets", "limit", "sections", "json_file"))
        sets, limit, sections, json_file = asked
        return uncertain.run(
            elf, board, sets, program, limit, sections, json_file, samples=uncertainty
        )
    return run_loaded(lambda overrides: program.load(board, overrides, elf), **options)


def run_loaded(
    load: Load,
    *,
    sets: tuple[str, ...],
    limit: str | None,
    sections: tuple[str, ...],
    calls: tuple[str, ...],
    longest: int | None,
    waits: bool,
    skip_polling: bool,
    compile_after: int | None,
    json_file: str | None,
    waves: str | None,
    vcd: str | None,
    vcd_signals: tuple[str, ...],
    vcd_timescale: str | None,
    trace: str | None,
    trace_from: str | None,
    trace_for: str | None,
    trace_memory: str,
    trace_kinds: tuple[str, ...],
    start_from: str | None,
    snapshot: str | None,
    snapshot_at: str | None,
    semihosting_dir: str | None = None,
    stdin: IO[bytes] | None = None,
    quiet: bool,
    verbose: bool,
    line: LineOptions,
    triggers: TriggerOptions,
    gdb: GdbOptions,
    exit_status: str,
    arguments: tuple[str, ...] = (),
    default_limit: str = shown_run.LIMIT,
    watch: Callable[[str], bool] | None = None,
    summary: Summary | None = None,
) -> int:
    """Run a board with its program, show its console and its results; gives the exit status.

    `load` is called once the options are known to fit together. `watch` is called with each piece
    of the console's text, and stops the run if it is true. `summary` is what is shown of the
    result, if not the usual tables.
    """
    limit_ps = None if limit is None else parse_time_ps(limit)
    _check_together(
        {
            "--quiet and --verbose exclude each other": quiet and verbose,
            "--longest needs --calls FUNCTION": longest is not None and not calls,
            "--waves-signals and --waves-timescale need --waves FILE": (
                waves is None and vcd is None and (vcd_signals or vcd_timescale)
            ),
            "--trace-from, --trace-for and --trace-kind need --trace FILE": (
                trace is None and (trace_from or trace_for or trace_kinds)
            ),
        }
    )
    waveforms.dump_of(waves, vcd, vcd_signals, vcd_timescale)
    triggers.check(trace, gdb.address)
    timelines.timeline_of(
        trace, trace_from, trace_for, trace_memory, trace_kinds, triggers.trace_when
    )
    loaded = load(dict(map(parse_set, sets)))
    for warning in () if quiet else loaded.warnings:
        warn(warning)
    for detail in import_module(_DETAILS).before(loaded) if verbose else ():
        print_note(detail)
    json_path = None if json_file == "-" else json_file
    outputs = {"--json": json_path, "--waves": waves, "--vcd": vcd}
    outputs |= {"--trace": trace, "--snapshot": snapshot} | line.outputs
    snapshots.wanted(snapshot, snapshot_at, limit_ps, triggers.snapshot_when)
    before = None if start_from is None else snapshots.read(start_from)
    kept = {} if start_from is None else {start_from: "the snapshot that the run starts from"}
    check_outputs(outputs, {**loaded.inputs, **kept})
    is_stdin_taken = stdin is not None and stdin is getattr(sys.stdin, "buffer", None)
    with (
        interrupts.held_back() as held,
        line.opened(loaded, is_stdin_taken) as lines,
        gdb.client(held, is_stdin_taken or lines.takes_stdin) as debugger,
    ):
        shown = shown_run.run(
            loaded,
            held,
            lines,
            limit_ps,
            to_stderr=json_file == "-",
            quiet=quiet,
            default_limit=default_limit,
            watch=watch,
            meanwhile=lambda: None if quiet else import_module(_TABLES),
            sections=sections,
            calls=calls,
            longest_calls=longest or _LONGEST_CALLS,
            waits=waits,
            skip_polling=skip_polling,
            compile_after=compile_after,
            waves=waves,
            vcd=vcd,
            vcd_signals=vcd_signals,
            vcd_timescale=vcd_timescale,
            trace=trace,
            trace_from=trace_from,
            trace_for=trace_for,
            trace_memory=trace_memory,
            trace_kinds=trace_kinds,
            start_from=before,
            snapshot=snapshot,
            snapshot_at=snapshot_at,
            semihosting_dir=semihosting_dir,
            stdin=stdin,
            arguments=arguments,
            gdb=debugger,
            **triggers.arguments(),
            **line.arguments(lines),
        )
        result, outlet = shown.result, shown.outlet
        failed = list(result.failed_saves)
        try:
            if json_file is not None:
                failed += _write_json(json_file, result)
            line.save(lines, result)
        finally:
            with terminal.shown(held.number is not None or quiet):
                if not quiet:
                    _show(result, shown.notes, outlet, json_file == "-", verbose, summary)
    for failure in failed:
        complain(failure)
    stopped = stopped_run.status(result, held, outlet)
    status = _status(result, exit_status == "ran", quiet) if stopped is None else stopped
    return status or (Status.UNSAVED if failed else Status.SUCCESS)


def _check_together(wrong: Mapping[str, object]) -> None:
    """Raises `UsageError` with the first message whose condition is true."""
    for message, is_so in wrong.items():
        if is_so:
            raise UsageError(message)


def _show(
    result: RunResult,
    notes: list[str],
    outlet: Outlet,
    to_stderr: bool,
    verbose: bool,
    summary: Summary | None,
) -> None:
    """Print the summary after the console, if the console was read, and the notes."""
    try:
        if outlet.error is None:
            # imported while the firmware ran
            tables = import_module(_TABLES)
            screen = tables.console(stderr=to_stderr)
            screen.print((summary or tables.run_summary)(result))
            if verbose:
                screen.print(import_module(_DETAILS).after(result))
            sys.stdout.flush()
    finally:
        for note in notes:
            print_note(note)


def _write_json(json_file: str, result: RunResult) -> list[str]:
    """Write the result; the errors if it could not be written."""
    text = json.dumps(result.to_dict(), indent=2) + "\n"
    try:
        if json_file == "-":
            sys.stdout.write(text)
        else:
            write_text(json_file, text)
    except OutputError as error:
        return [str(error)]
    return []


def _status(result: RunResult, ran: bool, quiet: bool) -> int:
    """The exit status of a run; any end other than the firmware's exit is reported on stderr.

    With `ran`, the firmware's own status does not matter.
    """
    if result.outcome == "exit":
        code = result.exit_code or 0
        status = Status.SUCCESS if ran else statuses.of_firmware(code)
        if status == statuses.OTHER_OF_FIRMWARE and not quiet:
            print_note(f"the firmware's exit status is {code}; cyclescope's is {status}")
        return status
    if result.outcome == INTERRUPTED:
        # the user ended it at the keyboard, like a terminal program
        return Status.SUCCESS
    complain(result.message or result.outcome)
    return _BY_OUTCOME.get(result.outcome, Status.FIRMWARE_FAULT)
