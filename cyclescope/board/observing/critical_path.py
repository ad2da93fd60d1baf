"""The critical path through a run: which core waited for which, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PathRow:
    """A part of the path: the wait of a core ("uart7: character sent"), or its own work."""

    core: str
    what: str
    ps: int


@dataclass(frozen=True)
class HandOver:
    """A core, `held_up`, slept until a store of another core, `waited_for`, woke it.

    `device` was the target of the store; `times` is the number of such hand-overs on the path. The
    core slept for `ps` picoseconds in all; `longest_ps` is the longest sleep, from
    `longest_from_ps` on.
    """

    waited_for: str
    held_up: str
    device: str
    times: int
    ps: int
    longest_ps: int
    longest_from_ps: int


@dataclass(frozen=True)
class PathStay:
    """A time on one core, spent `mostly` on one cause: `mostly_ps` of it."""

    core: str
    begin_ps: int
    end_ps: int
    mostly: str
    mostly_ps: int


@dataclass(frozen=True)
class CriticalPath:
    """The critical path through a run, walked backwards from its end.

    The path follows the core that ended the run back to its last sleep that ended with a store of
    another core, continues with the other core from that store, and so on to the start of the run.
    So it has each moment once, as time of one core, and the `ps` of `rows`, the longest first, sum
    exactly to the run's `elapsed_ps`. `hand_overs` are the changes to another core, those with the
    longest sleep first. `stays` are the 20 longest times on one core, in their order. In a run of
    one core, the path is all of its time.
    """

    rows: tuple[PathRow, ...]
    hand_overs: tuple[HandOver, ...] = ()
    stays: tuple[PathStay, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of a run."""
        return {
            "rows": [vars(row) for row in self.rows],
            "hand_overs": [vars(hand_over) for hand_over in self.hand_overs],
            "stays": [vars(stay) for stay in self.stays],
        }


def critical_path(raw: dict[str, Any] | None) -> CriticalPath | None:
    """The critical path from the engine's data; None if it was not recorded."""
    if raw is None:
        return None
    return CriticalPath(
        tuple(PathRow(**row) for row in raw["rows"]),
        tuple(HandOver(**hand_over) for hand_over in raw["hand_overs"]),
        tuple(PathStay(**stay) for stay in raw["stays"]),
    )
