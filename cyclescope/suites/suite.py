"""The definition of a suite: published programs that a user builds, and how their numbers are read.

Cyclescope includes no such programs. A suite derives from a file's name which published
numbers the program is for, and knows how a run ends and what it prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cyclescope.bench.rows import Row
from cyclescope.board.results import RunResult, Settings
from cyclescope.board.scripts import End, Expect, Step, Wait


@dataclass(frozen=True)
class Reading:
    """One number of a run.

    Its published number is `key` of the row in the board's table that matches `where`.
    """

    label: str
    metric: str
    unit: str
    value: int | float
    settings: Settings
    key: str
    where: Mapping[str, object]


@dataclass(frozen=True)
class Reads:
    """The numbers of a run: `readings`, and in `error` why some are missing.

    A `remark` is a message of the program that does not affect its numbers.
    """

    readings: tuple[Reading, ...] = ()
    error: str | None = None
    remark: str = ""


def _no_derived(rows: Sequence[Row]) -> Iterable[Row]:
    return ()


def _one_kind(row: Row) -> str:
    return "all"


@dataclass(frozen=True)
class Suite:
    """Published programs that a user builds.

    `how` says in one line how to get them; `tables` has the published table of each board by the
    board's name, in the order in which boards are tried; `files` describes the programs' file
    names, and `identify` returns the settings in a file's stem, None for a file that is not of the
    suite. A run that has printed `end` is complete, whatever the program does then; it is ended
    `more_ps` later. Without an `end`, `reads` takes what it finds in a run of `limit` of simulated
    time; with an `end`, that is the longest time. `calls` are functions whose calls are kept, if
    the file has symbols; `needs_symbols` if there is no other way. If the tables have the least and
    the greatest of several executions, `span_of` are the settings that identify them. `kind_of`
    gives the class of a row's code, for summaries.
    """

    name: str
    title: str
    how: str
    tables: Mapping[str, str]
    files: str
    identify: Callable[[str], Settings | None]
    reads: Callable[[Settings, RunResult], Reads]
    limit: str
    end: str = ""
    more_ps: int = 0
    calls: tuple[str, ...] = ()
    needs_symbols: bool = False
    span_of: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    derived: Callable[[Sequence[Row]], Iterable[Row]] = _no_derived
    kind_of: Callable[[Row], str] = _one_kind

    @property
    def steps(self) -> tuple[Step, ...]:
        """The script's steps until the end of a run; empty if no text marks the end."""
        return (Expect(self.end), Wait(self.more_ps), End()) if self.end else ()

    @property
    def has_span(self) -> bool:
        """Whether the tables have the least and the greatest of several executions."""
        return bool(self.span_of)
