"""The progress of many similar runs on stderr: a bar on a terminal, every tenth in a pipe."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text


class CountedRuns:
    """Shows progress within `with`: first `title`; each line begins with the command's name."""

    def __init__(self, name: str, title: str) -> None:
        self._name, self._title = name, title
        self._console = Console(file=sys.stderr)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._bar = Progress(*columns, TimeRemainingColumn(), console=self._console, transient=True)
        self._task = self._bar.add_task("runs", total=None)
        self._tenths = 0

    def __enter__(self) -> CountedRuns:
        self._say(self._title)
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def progress(self, done: int, total: int) -> None:
        """Called when `done` of `total` runs are finished."""
        self._bar.update(self._task, completed=done, total=total)
        tenths = done * 10 // max(total, 1)
        if not self._console.is_terminal and tenths > self._tenths:
            self._tenths = tenths
            self._say(f"{done} of {total} runs")

    def _say(self, line: str) -> None:
        self._console.print(Text(f"{self._name}: {line}"), soft_wrap=True)
