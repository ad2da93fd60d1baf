"""The runs of a sweep: made in parallel, unless the cache has their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from cyclescope._engine import Stop
from cyclescope.bench.threads import side_by_side
from cyclescope.board.description import digests
from cyclescope.errors import EngineError, error_text
from cyclescope.sweeps import outcomes
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.store import Store
from cyclescope.sweeps.targets import Target
from cyclescope.sweeps.trials import Trial

# Called with the number of a row and its outcome, as runs end.
Ended = Callable[[int, Outcome], None]


class StoppedError(Exception):
    """A stop was requested before the runs had finished."""


class Planned(Protocol):
    """Planned runs: rows, and the run of each; equal rows share one run."""

    @property
    def rows(self) -> Sequence[object]:
        """The rows; rows that compare equal are the same run."""

    def trial(self, row: int) -> Trial:
        """The run of a row."""


Group = tuple[int, tuple[tuple[str, str], ...]]
"""A base of a target with all its settings."""


@dataclass(frozen=True)
class Batch:
    """Runs of a target, each with its base and all its settings, as `run` takes them."""

    target: Target
    rows: Sequence[Group]

    def trial(self, row: int) -> Trial:
        """The run of a row."""
        base, settings = self.rows[row]
        return self.target.trial(base, dict(settings))


class Collected:
    """Collects the outcomes of a plan's rows as runs end; equal rows share one run."""

    def __init__(self, planned: Planned, ended: Ended) -> None:
        equal: dict[object, list[int]] = {}
        for number, row in enumerate(planned.rows):
            equal.setdefault(row, []).append(number)
        self.runs = list(equal.values())
        self.found: list[Outcome | None] = [None] * len(planned.rows)
        self._ended = ended

    def add(self, place: int, outcome: Outcome | None) -> None:
        """Add the outcome of a run, by its place in `runs`; None for no outcome."""
        if outcome is None:
            return
        for row in self.runs[place]:
            self.found[row] = outcome
            self._ended(row, outcome)


def run(
    planned: Planned, threads: int, stop: Stop, store: Store | None, ended: Ended
) -> list[Outcome | None]:
    """The outcomes of a plan's rows in their order, with `threads` parallel runs.

    After `stop` is requested no run starts, and rows without an outcome have None. Without a
    `store` all runs are made.
    """
    collected = Collected(planned, ended)

    def runs() -> Iterator[Callable[[], Outcome | None]]:
        for rows in collected.runs:
            yield partial(_outcome, planned, rows[0], stop, store)

    side_by_side(runs(), threads, stop, collected.add)
    return collected.found


def _outcome(planned: Planned, row: int, stop: Stop, store: Store | None) -> Outcome | None:
    """The outcome of a row; None if `stop` was requested before it was finished."""
    if stop.requested:
        return None
    try:
        trial = planned.trial(row)
        key, kept = looked_up(trial, store)
    except (EngineError, OSError) as error:
        return outcomes.failed(error_text(error))
    if kept is not None:
        return kept
    outcome = trial.run(stop)
    if stop.requested:
        # the stop may have ended the run early
        return None
    keep(store, key, outcome)
    return outcome


def looked_up(trial: Trial, store: Store | None) -> tuple[str | None, Outcome | None]:
    """A trial's key, and its outcome if the store has it.

    Raises `EngineError` or `OSError` for a trial that can't be made.
    """
    if store is None:
        return None, None
    key = digests.of_parts(trial.depends_on())
    kept = store.get(key)
    return key, None if kept is None else replace(kept, is_kept=True)


def keep(store: Store | None, key: str | None, outcome: Outcome) -> None:
    """Keep the outcome of a run, unless the run could not start."""
    if store is not None and key is not None and outcome.ended:
        store.put(key, outcome)
