"""Entries of stacks: a core's time by cause, and by wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StackEntry:
    """One cause of a cycle stack and the time charged to it."""

    cause: str
    cycles: int
    ps: int


@dataclass(frozen=True)
class WaitEntry(StackEntry):
    """An event that was waited for, and for how long.

    `kind` is the kind of the wait: an activity ("busy", "wire", "transfer", "serial", "conversion",
    "timer", "other"), polling of a device without a known activity ("looking"), a sleep without a
    known activity ("asleep"), other "accesses", or the core's own work ("CPU").
    """

    kind: str
