"""The runs of a sweep: made side by side, and not again where the cache has them."""

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

# Called with a row and its outcome, as runs end.
Ended = Callable[[int, Outcome], None]


class StoppedError(Exception):
    """A stop was requested before the runs were there."""


class Planned(Protocol):
    """What is to be run: rows, of which those alike are one run, and the run of each."""

    @property
    def rows(self) -> Sequence[object]:
        """What tells the runs apart."""

    def trial(self, row: int) -> Trial:
        """The run of a row."""


Group = tuple[int, tuple[tuple[str, str], ...]]
"""A base of a target with all that is set in it."""


@dataclass(frozen=True)
class Batch:
    """Runs of a target, each with its base and all that is set, as `run` takes them."""

    target: Target
    rows: Sequence[Group]

    def trial(self, row: int) -> Trial:
        """The run of a row."""
        base, settings = self.rows[row]
        return self.target.trial(base, dict(settings))


class Collected:
    """The outcomes of a plan's rows as they come; rows alike are one run."""

    def __init__(self, planned: Planned, ended: Ended) -> None:
        alike: dict[object, list[int]] = {}
        for number, row in enumerate(planned.rows):
            alike.setdefault(row, []).append(number)
        self.runs = list(alike.values())
        self.found: list[Outcome | None] = [None] * len(planned.rows)
        self._ended = ended

    def add(self, place: int, outcome: Outcome | None) -> None:
        """A run, by its place in `runs`, has given this; None is no outcome."""
        if outcome is None:
            return
        for row in self.runs[place]:
            self.found[row] = outcome
            self._ended(row, outcome)


def run(
    planned: Planned, threads: int, stop: Stop, store: Store | None, ended: Ended
) -> list[Outcome | None]:
    """The outcomes of a plan's rows in their order, `threads` runs at a time.

    After `stop` is requested nothing begins, and rows without an outcome have None. Without a
    `store` all runs are made.
    """
    collected = Collected(planned, ended)

    def runs() -> Iterator[Callable[[], Outcome | None]]:
        for rows in collected.runs:
            yield partial(_outcome, planned, rows[0], stop, store)

    side_by_side(runs(), threads, stop, collected.add)
    return collected.found


def _outcome(planned: Planned, row: int, stop: Stop, store: Store | None) -> Outcome | None:
    """The outcome of a row; None if `stop` was requested before it was there."""
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
        # it may have been cut short
        return None
    keep(store, key, outcome)
    return outcome


def looked_up(trial: Trial, store: Store | None) -> tuple[str | None, Outcome | None]:
    """A trial's key, and its outcome if it was run before.

    Raises `EngineError` or `OSError` for a trial that can't be made.
    """
    if store is None:
        return None, None
    key = digests.of_parts(trial.depends_on())
    kept = store.get(key)
    return key, None if kept is None else replace(kept, is_kept=True)


def keep(store: Store | None, key: str | None, outcome: Outcome) -> None:
    """Keep the outcome of a run, unless it could not begin."""
    if store is not None and key is not None and outcome.ended:
        store.put(key, outcome)
