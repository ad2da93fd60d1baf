"""What a suite is: published programs that a user builds, and how their numbers are read.

None of these programs come with Cyclescope. A suite tells from a file's name which published
numbers it is for, how a run of it ends, and what the run says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cyclescope.bench.rows import Row
from cyclescope.board.results import RunResult, Settings
from cyclescope.board.scripts import End, Expect, Step, Wait


@dataclass(frozen=True)
class Reading:
    """One number that a run gave.

    Its published one stands under `key` in the row of the board's table where `where` holds.
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
    """What a run gave: `readings`, and in `error` why that is not all that it should have.

    A `remark` is what the program says of itself that leaves its numbers as they are.
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
    board's name, in the order in which boards are tried; `files` names the programs' files, and
    `identify` gives what a file's stem says of one, None for a file that is none of the suite.
    A run that has printed `end` is complete: what the program does then does not matter, and
    `more_ps` later the run is ended. Without an `end`, what counts is what `reads` finds in a run
    of `limit` of simulated time, which is the most for others. `calls` are functions
    whose calls are kept, where the file has symbols; `needs_symbols` if there is no other way.
    Where the tables have the least and the greatest of several executions, `span_of` are the
    settings that say of what. `kind_of` gives the class of code that a row is of, for summaries.
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
        """What follows the console to the end of a run; nothing if no text tells of that."""
        return (Expect(self.end), Wait(self.more_ps), End()) if self.end else ()

    @property
    def has_span(self) -> bool:
        """Whether the tables have the least and the greatest of several executions."""
        return bool(self.span_of)
