"""A run with its profile, for commands that show the costs of code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import click

from cyclescope.board import Board
from cyclescope.board.description.overrides import parse_set
from cyclescope.board.results import INTERRUPTED, RunResult
from cyclescope.board.setup.loading import Loading
from cyclescope.cli import shown_run, stopped_run
from cyclescope.cli.options.board import board_option, devices_option, limit_option, sets_option
from cyclescope.cli.options.program import program_options
from cyclescope.cli.options.semihosting import semihosting_dir_option, stdin_option
from cyclescope.cli.options.serial import LineOptions, line_options
from cyclescope.cli.shown_run import print_note
from cyclescope.errors import OutputError, complain, warn
from cyclescope.host import interrupts, terminal
from cyclescope.host.outputs import check_outputs
from cyclescope.profile.profile import Profile
from cyclescope.statuses import Status
from cyclescope.units import parse_time_ps

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
    ),
    "Program": ("core", "base", "entry"),
    "Serial lines": ("consoles", "scripts", "save_script", "pace", "no_console", "can"),
    "Semihosting": ("semihosting_dir", "stdin"),
}
"""The options of `profiled_run_options` under headings."""


@dataclass(frozen=True)
class ProfiledRun:
    """The values of the options; `arguments` are the firmware's own."""

    board: str | None
    sets: tuple[str, ...]
    limit: str | None
    program: Loading
    line: LineOptions
    semihosting_dir: str | None
    stdin: IO[bytes] | None
    quiet: bool
    arguments: tuple[str, ...]

    def load(self, elf: Path) -> Board:
        """The board with the program. Raises as `Board` and `Board.load` do."""
        loaded = self.program.load(self.board, dict(map(parse_set, self.sets)), elf)
        for warning in () if self.quiet else loaded.warnings:
            warn(warning)
        return loaded

    def run(
        self,
        loaded: Board,
        functions: tuple[str, ...],
        outputs: Mapping[str, str | None],
        show: Callable[[RunResult, Profile], None],
        *,
        to_stderr: bool,
        waits: bool = False,
        call_sites: bool = False,
    ) -> int:
        """Run the program, keep the calls of functions, and show the profile; gives the exit
        status.

        `outputs` are the files that `show` writes, by their options. The console is written on
        stderr if `to_stderr`. With `waits` the profile has waits, with `call_sites` the call sites
        of functions.
        """
        limit_ps = None if self.limit is None else parse_time_ps(self.limit)
        check_outputs({**outputs, **self.line.outputs}, loaded.inputs)
        is_stdin_taken = self.stdin is not None and self.stdin is getattr(sys.stdin, "buffer", None)
        with interrupts.held_back() as held, self.line.opened(loaded, is_stdin_taken) as lines:
            shown = shown_run.run(
                loaded,
                held,
                lines,
                limit_ps,
                to_stderr=to_stderr,
                quiet=self.quiet,
                meanwhile=lambda: import_module("cyclescope.cli.tables.profile"),
                profile=functions,
                waits=waits,
                call_sites=call_sites,
                semihosting_dir=self.semihosting_dir,
                stdin=self.stdin,
                arguments=self.arguments,
                **self.line.arguments(lines),
            )
            result = shown.result
            assert result.profile is not None
            failed = list(result.failed_saves)
            try:
                self.line.save(lines, result)
                with terminal.shown(held.number is not None):
                    if shown.outlet.error is None:
                        show(result, result.profile)
                        sys.stdout.flush()
            except OutputError as error:
                failed.append(str(error))
            for note in () if self.quiet else (*shown.notes, *result.profile.notes):
                print_note(note)
        for failure in failed:
            complain(failure)
        stopped = stopped_run.status(result, held, shown.outlet)
        status = _status(result) if stopped is None else stopped
        return status or (Status.UNSAVED if failed else Status.SUCCESS)


def _status(result: RunResult) -> int:
    """The exit status: 0 also for a firmware that failed or reached the limit."""
    if result.outcome in ("exit", INTERRUPTED):
        return Status.SUCCESS
    if result.outcome in ("limit", "asleep"):
        print_note(str(result.message))
        return Status.SUCCESS
    complain(result.message or result.outcome)
    return Status.SCRIPT if result.outcome == "script" else Status.FIRMWARE_FAULT


def exporter() -> str:
    """The program and its version, for the creator fields of files."""
    return f"cyclescope {version('cyclescope')}"


def profiled_run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options; it gets them as `options`, without the ELF."""

    @board_option
    @sets_option
    @devices_option
    @program_options
    @limit_option
    @semihosting_dir_option
    @stdin_option
    @line_options
    @click.option("-q", "--quiet", is_flag=True, help="Suppress notes and warnings.")
    @wraps(command)
    def with_options(
        *,
        board: str | None,
        sets: tuple[str, ...],
        program: Loading,
        limit: str | None,
        semihosting_dir: str | None,
        stdin: IO[bytes] | None,
        line: LineOptions,
        quiet: bool,
        arguments: tuple[str, ...] = (),
        **others: Any,
    ) -> Any:
        options = ProfiledRun(
            board, sets, limit, program, line, semihosting_dir, stdin, quiet, arguments
        )
        return command(options=options, **others)

    return with_options
