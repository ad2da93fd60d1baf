"""A run that a command shows: its console, other serial lines, and its progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from cyclescope.board import Board
from cyclescope.board.results import RunResult
from cyclescope.board.wiring.printed import ConsoleSink
from cyclescope.cli import stopped_run
from cyclescope.cli.options.serial import SerialLines
from cyclescope.cli.run_progress import Line
from cyclescope.host.interrupts import Held
from cyclescope.host.terminal import Outlet
from cyclescope.units import parse_time_ps

# The most held characters of other serial lines, while the console's line is incomplete.
_MOST_HELD_CHARACTERS = 1 << 20
LIMIT = "10s"
"""The default limit of a run."""


@dataclass(frozen=True)
class Shown:
    """A run that was shown: its result, its console's outlet, and the notes not yet printed."""

    result: RunResult
    outlet: Outlet
    notes: list[str]


def run(
    loaded: Board,
    held: Held,
    lines: SerialLines,
    limit_ps: int | None,
    *,
    to_stderr: bool,
    quiet: bool,
    meanwhile: Callable[[], object],
    default_limit: str = LIMIT,
    watch: Callable[[str], bool] | None = None,
    **arguments: Any,
) -> Shown:
    """Run a board, and write its console on stdout, or on stderr; as `Board.run` with `arguments`.

    Without `limit_ps`, the limit is `default_limit`, unless a line is interactive. `meanwhile`
    imports the rest of the command during the run. `watch` is called with each piece of the
    console's text, and stops the run if it is true. A terminal that shows more than the console
    gets text; all other outputs get the bytes that the board has sent.
    """
    if limit_ps is None and not lines.is_interactive:
        limit_ps = parse_time_ps(default_limit)
    stream = sys.stderr if to_stderr else sys.stdout
    exact = quiet or lines.takes_stdin or not stream.isatty()
    errors = "surrogateescape" if exact else "replace"
    outlet = Outlet(stream, held.stop, exact)
    progress = Line(outlet, stream.isatty(), held.stop, limit_ps, wanted=not quiet)
    writer = ConsoleWriter(progress, lines.shown_elsewhere)
    lines.show_on(writer.console, errors)
    result = stopped_run.beside(
        lambda: loaded.run(
            limit_ps,
            console=_watched(None if lines.hides_console else writer.console, watch, held),
            console_errors=errors,
            stream=None if lines.is_hidden else writer.stream,
            stop=held.stop,
            note=None if quiet else writer.note,
            **arguments,
        ),
        meanwhile,
        progress,
    )
    lines.close()
    writer.finish(begins_line=not quiet)
    notes = [note for note in result.notes if note not in writer.printed]
    return Shown(stopped_run.with_reason(result, held, outlet), outlet, notes)


def _watched(
    console: ConsoleSink | None, watch: Callable[[str], bool] | None, held: Held
) -> ConsoleSink | None:
    """A sink for the console's text that `watch` sees as well."""
    if watch is None:
        return console

    def write(text: str) -> None:
        if console is not None:
            console(text)
        if watch(text):
            held.stop.request()

    return write


def print_note(note: str) -> None:
    """Print a note on stderr, in one line."""
    print(f"cyclescope: note: {note}", file=sys.stderr)


class ConsoleWriter:
    """Writes the console's text at once, and between its lines those of other serial lines."""

    def __init__(self, file: Line, not_shown: Container[str] = ()) -> None:
        self._file = file
        self._not_shown = not_shown
        self._within_line = False
        self._held: list[str] = []
        self._held_characters = 0
        self.printed: list[str] = []

    def console(self, text: str) -> None:
        """Write a piece of the console's text."""
        line, end, rest = text.partition("\n")
        self._write(line + end)
        if end:
            self._release()
            if rest:
                self._write(rest)

    def note(self, text: str) -> None:
        """Print a note at once, before the end of the run."""
        self.printed.append(text)
        self._file.hide()
        print_note(text)

    def stream(self, name: str, line: str) -> None:
        """Write a line of another serial line; held while a console line is incomplete."""
        if name in self._not_shown:
            return
        self._held.append(f"{name}: {line}\n")
        self._held_characters += len(self._held[-1])
        if self._held_characters > _MOST_HELD_CHARACTERS:
            self.end_line()
        elif not self._within_line:
            self._release()

    def end_line(self) -> None:
        """Begin a new line if the last one is incomplete, and write all held lines."""
        if self._within_line:
            self._write("\n")
        self._release()

    def finish(self, begins_line: bool) -> None:
        """Write the held lines; `begins_line` if a summary follows."""
        if begins_line or self._held:
            self.end_line()

    def _release(self) -> None:
        for line in self._held:
            self._write(line)
        self._held.clear()
        self._held_characters = 0

    def _write(self, text: str) -> None:
        self._within_line = not text.endswith("\n")
        self._file.write(text)
        self._file.flush()
