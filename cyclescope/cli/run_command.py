"""`cyclescope run`: one firmware on one board, with its console on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Container
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import click

from cyclescope.board import Board
from cyclescope.board.overrides import parse_set
from cyclescope.board.results import INTERRUPTED, RunResult
from cyclescope.cli import serial_options, stopped_run
from cyclescope.errors import OutputError, UsageError, complain, warn
from cyclescope.host import interrupts, terminal
from cyclescope.host.outputs import check_outputs, write_text
from cyclescope.host.terminal import Outlet
from cyclescope.statuses import Status
from cyclescope.units import parse_time_ps

# Of other serial lines, while the console's line has no end.
_MOST_HELD_CHARACTERS = 1 << 20
_TABLES = "cyclescope.cli.tables"
_LIMIT = "10s"


class TakesArguments(click.Command):
    """A command whose parameter `arguments` has all that stands behind the first `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before the dashes."""
        end = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:end])
        ctx.params["arguments"] = tuple(args[end + 1 :])
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Say where the arguments come."""
        return [*super().collect_usage_pieces(ctx), "[-- ARGUMENTS...]"]


class InputFile(click.ParamType):
    """A file that is read while the program runs; `-` is the command's own standard input."""

    name = "file"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> IO[bytes]:
        """Open it. Raises `OSError`, or `UsageError` if the command has no standard input."""
        if value == "-":
            if sys.stdin is None:
                raise UsageError("--stdin -: the standard input is closed")
            return sys.stdin.buffer
        file = click.open_file(value, "rb")
        if ctx is not None:
            ctx.call_on_close(file.close)
        return file


@click.command("run", cls=TakesArguments)
@click.argument("elf", type=click.Path(path_type=Path))
@click.option("--board", required=True, help="A shipped board's name, or the path of a .dts.")
@click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Change a property.")
@click.option(
    "--limit",
    metavar="TIME",
    help="Most simulated time to run: 10s, or no limit where somebody may type.",
)
@click.option(
    "--section",
    "sections",
    multiple=True,
    metavar="FUNCTION",
    help="Also show the cycle stack of a function's calls; CORE:FUNCTION for another core.",
)
@click.option(
    "--skip-polling/--no-skip-polling",
    default=True,
    help="Skip iterations of polling loops (same result, sooner), or run each.",
)
@click.option(
    "--compile-after",
    type=click.IntRange(0, 65535),
    metavar="RUNS",
    help="Compile code for the host that ran so often (same result); 0: never.",
)
@click.option("--json", "json_file", metavar="FILE|-", help="Write the result as JSON.")
@click.option("--vcd", metavar="FILE", help="Write the waveforms of the board's wires.")
@click.option(
    "--vcd-signals",
    multiple=True,
    metavar="PATTERN",
    help="Record only these wires, as in 'spi0.*'.",
)
@click.option(
    "--vcd-timescale",
    metavar="UNIT",
    help="The waveforms' unit of time, as in 10ns; by default the coarsest that is exact.",
)
@click.option("--semihosting-dir", metavar="DIR", help="The folder whose files the firmware has.")
@click.option(
    "--stdin", type=InputFile(), metavar="FILE|-", help="The firmware's input by semihosting."
)
@click.option(
    "--console",
    "consoles",
    multiple=True,
    metavar="[LABEL=]WHERE",
    help="Input of the console, or of another serial line by the label of its port: stdio, pty, "
    "tcp[:[HOST:]PORT] or file:PATH.",
)
@click.option(
    "--script",
    "scripts",
    multiple=True,
    metavar="[LABEL=]FILE",
    help="Send and expect what the file says, in simulated time.",
)
@click.option("--save-script", metavar="FILE", help="Write what is typed as a script.")
@click.option(
    "--pace/--no-pace",
    default=True,
    help="Where somebody may type, hold simulated time back to real time, or not.",
)
def run_command(
    elf: Path,
    board: str,
    sets: tuple[str, ...],
    limit: str | None,
    sections: tuple[str, ...],
    skip_polling: bool,
    compile_after: int | None,
    json_file: str | None,
    vcd: str | None,
    vcd_signals: tuple[str, ...],
    vcd_timescale: str | None,
    semihosting_dir: str | None,
    stdin: IO[bytes] | None,
    consoles: tuple[str, ...],
    scripts: tuple[str, ...],
    save_script: str | None,
    pace: bool,
    arguments: tuple[str, ...],
) -> int:
    """Run your own firmware ELF on a virtual board, with its console on stdout.

    What stands behind -- are the firmware's own ARGUMENTS. Ctrl-C, SIGTERM and SIGHUP stop the
    simulation; what it did by then is shown and written.
    """
    limit_ps = None if limit is None else parse_time_ps(limit)
    if vcd is None and (vcd_signals or vcd_timescale):
        raise UsageError("--vcd-signals and --vcd-timescale are of use with --vcd FILE only")
    loaded = Board(board, dict(map(parse_set, sets))).load(elf)
    for warning in loaded.warnings:
        warn(warning)
    json_path = None if json_file == "-" else json_file
    check_outputs({"--json": json_path, "--vcd": vcd, "--save-script": save_script}, loaded.inputs)
    is_stdin_taken = stdin is not None and stdin is getattr(sys.stdin, "buffer", None)
    with (
        interrupts.held_back() as held,
        serial_options.opened(loaded, consoles, scripts, is_stdin_taken) as lines,
    ):
        serial_options.check_saving(save_script, lines)
        if limit_ps is None and not lines.is_interactive:
            limit_ps = parse_time_ps(_LIMIT)
        outlet = Outlet(sys.stderr if json_file == "-" else sys.stdout, held.stop)
        writer = _Writer(outlet, lines.shown_elsewhere)
        lines.show_on(writer.console)
        result = stopped_run.beside(
            lambda: loaded.run(
                limit_ps,
                console=None if lines.hides_console else writer.console,
                stream=writer.stream,
                sections=sections,
                skip_polling=skip_polling,
                compile_after=compile_after,
                vcd=vcd,
                vcd_signals=vcd_signals,
                vcd_timescale=vcd_timescale,
                semihosting_dir=semihosting_dir,
                stdin=stdin,
                arguments=arguments,
                stop=held.stop,
                note=writer.note,
                **serial_options.arguments(lines, pace),
            ),
            meanwhile=lambda: import_module(_TABLES),
        )
        lines.close()
        writer.end_line()
        result = stopped_run.with_reason(result, held, outlet)
        failed = list(result.failed_saves)
        try:
            if json_file is not None:
                failed += _write_json(json_file, result)
            if save_script is not None:
                serial_options.save(save_script, lines, result)
        finally:
            with terminal.shown(held.number is not None):
                notes = [note for note in result.notes if note not in writer.told]
                _show(result, notes, outlet, to_stderr=json_file == "-")
    for failure in failed:
        complain(failure)
    stopped = stopped_run.status(result, held, outlet)
    status = _status(result) if stopped is None else stopped
    return status or (Status.FAILED if failed else Status.SUCCESS)


def _show(result: RunResult, notes: list[str], outlet: Outlet, to_stderr: bool) -> None:
    """The summary behind the console, if that was read, and notes."""
    try:
        if outlet.error is None:
            # imported while the firmware ran
            tables = import_module(_TABLES)
            tables.console(stderr=to_stderr).print(tables.run_summary(result))
            sys.stdout.flush()
    finally:
        for note in notes:
            _tell(note)


def _tell(note: str) -> None:
    print(f"cyclescope: note: {note}", file=sys.stderr)


class _Writer:
    """Writes the console as it comes, and between its lines those of other serial lines behind
    their names.
    """

    def __init__(self, file: Outlet, not_shown: Container[str] = ()) -> None:
        self._file = file
        self._not_shown = not_shown
        self._within_line = False
        self._held: list[str] = []
        self._held_characters = 0
        self.told: list[str] = []

    def console(self, text: str) -> None:
        line, end, rest = text.partition("\n")
        self._write(line + end)
        if end:
            self._release()
            if rest:
                self._write(rest)

    def note(self, text: str) -> None:
        """A note that does not wait for the end of the run."""
        self.told.append(text)
        _tell(text)

    def stream(self, name: str, line: str) -> None:
        if name in self._not_shown:
            return
        self._held.append(f"{name}: {line}\n")
        self._held_characters += len(self._held[-1])
        if self._held_characters > _MOST_HELD_CHARACTERS:
            self.end_line()
        elif not self._within_line:
            self._release()

    def end_line(self) -> None:
        """Begins a new line, unless that has been done, with nothing left to write."""
        if self._within_line:
            self._write("\n")
        self._release()

    def _release(self) -> None:
        for line in self._held:
            self._write(line)
        self._held.clear()
        self._held_characters = 0

    def _write(self, text: str) -> None:
        self._within_line = not text.endswith("\n")
        self._file.write(text)
        self._file.flush()


def _write_json(json_file: str, result: RunResult) -> list[str]:
    """Write the result; gives why it is not there."""
    text = json.dumps(result.to_dict(), indent=2) + "\n"
    try:
        if json_file == "-":
            sys.stdout.write(text)
        else:
            write_text(json_file, text)
    except OutputError as error:
        return [str(error)]
    return []


def _status(result: RunResult) -> int:
    """The exit status of a run; a reason to stop that isn't the firmware's is said on stderr."""
    if result.outcome == "exit":
        code = result.exit_code or 0
        return code if 0 <= code <= 255 else 1
    if result.outcome == INTERRUPTED:
        # at the keyboard, as one leaves a terminal program
        return Status.SUCCESS
    complain(result.message or result.outcome)
    if result.outcome == "script":
        return Status.SCRIPT
    return Status.LIMIT if result.outcome == "limit" else Status.FIRMWARE_FAULT
