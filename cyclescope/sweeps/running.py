"""The runs of a sweep: made side by side, and not again where the cache has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from cyclescope._engine import Stop
from cyclescope.bench.threads import side_by_side
from cyclescope.board import digests
from cyclescope.errors import EngineError, told
from cyclescope.sweeps import outcomes
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.planning import Plan
from cyclescope.sweeps.store import Store
from cyclescope.sweeps.trials import Trial

# Called with a row and its outcome, as runs end.
Ended = Callable[[int, Outcome], None]


def run(
    planned: Plan, threads: int, stop: Stop, store: Store | None, ended: Ended
) -> list[Outcome | None]:
    """The outcomes of a plan's rows in their order, `threads` runs at a time.

    Rows alike are run once. After `stop` is requested nothing begins, and rows without an outcome
    have None. Without a `store` all runs are made.
    """
    alike: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    for number, row in enumerate(planned.rows):
        alike.setdefault(row, []).append(number)
    groups = list(alike.values())
    found: list[Outcome | None] = [None] * len(planned.rows)

    def done(place: int, outcome: Outcome | None) -> None:
        if outcome is None:
            return
        for row in groups[place]:
            found[row] = outcome
            ended(row, outcome)

    def runs() -> Iterator[Callable[[], Outcome | None]]:
        for rows in groups:
            yield partial(_outcome, planned, rows[0], stop, store)

    side_by_side(runs(), threads, stop, done)
    return found


def _outcome(planned: Plan, row: int, stop: Stop, store: Store | None) -> Outcome | None:
    """The outcome of a row; None if `stop` was requested before it was there."""
    if stop.requested:
        return None
    try:
        trial = planned.trial(row)
        return outcome_of(trial, stop, store)
    except (EngineError, OSError) as error:
        return outcomes.failed(told(error))


def outcome_of(trial: Trial, stop: Stop, store: Store | None) -> Outcome | None:
    """A trial's outcome, from the store if it has it; None if `stop` came before it was there.

    Raises `EngineError` or `OSError` for a trial that can't be made.
    """
    key = None if store is None else digests.of_parts(trial.depends_on())
    if store is not None and key is not None and (kept := store.get(key)) is not None:
        return replace(kept, is_kept=True)
    outcome = trial.run(stop)
    if stop.requested:
        # it may have been cut short
        return None
    if store is not None and key is not None and outcome.ended:
        store.put(key, outcome)
    return outcome
