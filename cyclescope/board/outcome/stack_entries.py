"""Entries of stacks: a core's time by cause, and by what it waited for."""

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
    """What was waited for, and for how long.

    `kind` is what that is one of: an activity ("busy", "wire", "transfer", "serial", "conversion",
    "timer", "other"), looks at a device that was doing nothing known ("looking"), a sleep in which
    nothing known went on ("asleep"), "accesses" that were no looks, or the core's own work ("CPU").
    """

    kind: str
