"""The progress of a run: a status line on stderr, if stderr is a terminal.

The line appears once a run takes longer than a second, and is removed whenever other text is
written. It is not shown in the middle of a console line: on a terminal, both would be in the same
place.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Protocol

from cyclescope._engine import Stop
from cyclescope.units import format_duration, format_ps

if TYPE_CHECKING:
    from rich.console import Console

_FIRST_S = 1.0
_EVERY_S = 0.2
_BAR_CELLS = 16
# Before this share of the limit has passed, the remaining time would be a guess.
_LEAST_SHARE = 0.005


class Sink(Protocol):
    """The destination of the console's text."""

    def write(self, text: str) -> None:
        """Write a piece."""

    def flush(self) -> None:
        """Write all buffered text."""


def words(reached_ps: int, limit_ps: int, elapsed_s: float) -> str:
    """The progress towards the limit; a firmware may end long before."""
    share = min(reached_ps / limit_ps, 1.0)
    text = f"{100 * share:3.0f} %  {_short(reached_ps)} of {format_ps(limit_ps)} simulated"
    if share >= _LEAST_SHARE:
        left_s = elapsed_s * (1 - share) / share
        text += f", at most {format_duration(left_s)} left"
    return text


def _short(time_ps: int) -> str:
    """A time with four digits: more would change too fast to read."""
    lost = 10 ** max(len(str(time_ps)) - 4, 0)
    return format_ps(time_ps // lost * lost)


class Line:
    """The status line, shown within `with`, and the console's text beside it.

    The text goes to `sink`, `on_terminal` or not. The line is not shown unless it is `wanted`,
    there is a limit, and stderr is a terminal that can erase a line.
    """

    def __init__(
        self,
        sink: Sink,
        on_terminal: bool,
        stop: Stop,
        limit_ps: int | None,
        wanted: bool = True,
    ) -> None:
        self._sink, self._stop, self._limit_ps = sink, stop, limit_ps or 1
        is_possible = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._is_wanted = wanted and is_possible and limit_ps is not None
        self._over = threading.Event()
        self._began_s = time.monotonic()
        self._lock = threading.Lock()
        self._shown_on: Console | None = None
        self._shares_terminal = on_terminal
        self._within_line = False

    def __enter__(self) -> Line:
        if self._is_wanted:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._is_wanted:
            self._thread.join()
        self.hide()

    def write(self, text: str) -> None:
        """Write text of the console, after removing the status line."""
        with self._lock:
            self._hide()
            self._sink.write(text)
            self._within_line = self._shares_terminal and not text.endswith("\n")

    def flush(self) -> None:
        """As of any stream."""
        self._sink.flush()

    def hide(self) -> None:
        """Remove the line before other text is written on stderr."""
        with self._lock:
            self._hide()

    def show(self, screen: Console) -> None:
        """Show the current progress, unless the console is in the middle of a line."""
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        with self._lock:
            if self._within_line:
                return
            self._hide()
            reached_ps = min(self._stop.reached_ps, self._limit_ps)
            text = words(reached_ps, self._limit_ps, time.monotonic() - self._began_s)
            bar = ProgressBar(self._limit_ps, reached_ps, width=_BAR_CELLS)
            room = max(screen.width - _BAR_CELLS - 2, 1)
            screen.print(bar, end="")
            screen.print(Text(f" {text}"[:room]), end="")
            self._shown_on = screen

    def _hide(self) -> None:
        if self._shown_on is None:
            return
        from rich.control import Control
        from rich.segment import ControlType

        erase = (ControlType.ERASE_IN_LINE, 2)
        self._shown_on.control(Control(ControlType.CARRIAGE_RETURN, erase))
        self._shown_on = None

    def _follow(self) -> None:
        if self._over.wait(_FIRST_S):
            return
        # most runs are over by now and did not need the import
        from rich.console import Console

        screen = Console(stderr=True)
        while True:
            self.show(screen)
            if self._over.wait(_EVERY_S):
                return
