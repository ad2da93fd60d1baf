"""Snapshots of a run in files: one run takes a snapshot at a time, another continues from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclescope._engine import Machine, snapshot_time_ps
from cyclescope.board.observing import triggers
from cyclescope.errors import EngineError, OutputError, UsageError
from cyclescope.host import inputs, outputs
from cyclescope.units import format_ps, parse_time_ps

AnyPath = str | os.PathLike[str]

# More than the memory of any board.
_MOST_BYTES = 4 * 2**30


@dataclass(frozen=True)
class Wanted:
    """A snapshot to take: its file, and its time or condition.

    With a condition, the snapshot is taken when it first becomes true.
    """

    path: AnyPath
    at_ps: int | None
    when: str | None = None


def wanted(
    path: AnyPath | None, at: str | int | None, limit_ps: int | None, when: str | None = None
) -> Wanted | None:
    """The requested snapshot, if any. Raises `UsageError` if the options do not fit together."""
    if path is None and at is None and when is None:
        return None
    if path is None or (at is None) == (when is None):
        how = "--snapshot FILE --snapshot-at TIME, or --snapshot-when CONDITION"
        raise UsageError(f"a snapshot needs a file and a time or a condition: {how}")
    if at is None:
        return Wanted(path, None, when)
    at_ps = parse_time_ps(at) if isinstance(at, str) else at
    if at_ps < 0:
        raise UsageError(f"{at_ps} ps: the time of a snapshot must be above 0")
    if limit_ps is not None and at_ps > limit_ps:
        what = f"the snapshot at {format_ps(at_ps)} is after the limit of {format_ps(limit_ps)}"
        raise UsageError(what)
    return Wanted(path, at_ps)


def read(path: AnyPath) -> bytes:
    """The bytes of a snapshot file. Raises `UsageError` if unreadable or not a snapshot."""
    try:
        snapshot = inputs.read(Path(path), _MOST_BYTES)
    except OSError as error:
        raise UsageError(f"{os.fspath(path)}: {error.strerror or error}") from error
    try:
        snapshot_time_ps(snapshot)
    except EngineError as error:
        raise UsageError(f"{os.fspath(path)}: {error}") from error
    return snapshot


def has_restored(machine: Machine, snapshot: bytes) -> bool:
    """Restore a snapshot in whose run no serial line had anything at its other end, if it is one.

    Lines may be connected after that. Any other snapshot needs the same ends before it is restored.
    """
    try:
        machine.restore(snapshot)
    except EngineError:
        return False
    return True


def take(
    machine: Machine, snapshot: Wanted, run_to: Callable[[int], dict[str, Any] | None]
) -> tuple[dict[str, Any] | None, list[str]]:
    """Run to the snapshot's time, if it has one, and write it.

    Returns the run's outcome if it ended before that time, and the errors of the file.
    """
    if snapshot.at_ps is None:
        return None, []
    ended = run_to(snapshot.at_ps)
    path = os.fspath(snapshot.path)
    if ended is not None:
        at = format_ps(snapshot.at_ps)
        return ended, [f"{path}: no snapshot was written: the run ended before {at}"]
    return None, _written(snapshot.path, machine.snapshot)


def add_trigger(machine: Machine, snapshot: Wanted | None) -> None:
    """Add a trigger that takes the snapshot when its condition becomes true, if it has one.

    Raises `UsageError` for an invalid condition.
    """
    if snapshot is not None and snapshot.when is not None:
        triggers.add(machine, snapshot.when, triggers.SNAPSHOT)


def write_triggered(machine: Machine, snapshot: Wanted | None) -> list[str]:
    """Write the snapshot that a condition triggered; the errors if it could not be written."""
    if snapshot is None or snapshot.when is None:
        return []
    return _written(snapshot.path, lambda: _triggered(machine, snapshot.when))


def _triggered(machine: Machine, condition: str | None) -> bytes:
    taken = machine.triggered_snapshot()
    if taken is None:
        raise EngineError(f"{condition} has not become true")
    return taken


def _written(path: AnyPath, take_bytes: Callable[[], bytes]) -> list[str]:
    try:
        snapshot = take_bytes()
        with outputs.opened(path, "wb") as file:
            file.write(snapshot)
    except OutputError as error:
        return [str(error)]
    except EngineError as error:
        return [f"{os.fspath(path)}: no snapshot was written: {error}"]
    return []
