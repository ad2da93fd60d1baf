"""Conditions over the state of a board, and the actions when one becomes true.

A condition is written in the Common Expression Language: `card0.busy && "f_write" in cpu0.calls`.
docs/how-to/conditions.md has the language.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cyclescope._engine import Machine
from cyclescope.board.results import TriggerResult
from cyclescope.errors import EngineError, UsageError

COUNT = "count"
HALT = "halt"
SNAPSHOT = "snapshot"
TRACE = "trace"


def add(machine: Machine, condition: str, action: str, timeline: Any = None) -> int:
    """Add a trigger that acts when a condition becomes true; returns the trigger's number.

    Raises `UsageError` for an invalid condition.
    """
    try:
        return machine.add_trigger(condition, action, timeline)
    except EngineError as error:
        raise UsageError(str(error)) from None


def add_all(machine: Machine, conditions: Iterable[str], action: str) -> None:
    """Add a trigger for each of several conditions; a repeated condition is added once."""
    for condition in dict.fromkeys(conditions):
        add(machine, condition, action)


def add_breaks(machine: Machine, conditions: Iterable[str], debugger: object) -> None:
    """Add triggers at which a debugger halts the run. Raises `UsageError` without a debugger."""
    breaks = tuple(conditions)
    if breaks and debugger is None:
        raise UsageError("a run breaks for a debugger: give it one (gdb)")
    add_all(machine, breaks, HALT)


def results(machine: Machine, now_ps: int) -> tuple[TriggerResult, ...]:
    """The triggers' results up to `now_ps`, without those that halt for a debugger."""
    all_of_them = (TriggerResult(*trigger) for trigger in machine.triggers(now_ps))
    return tuple(one for one in all_of_them if one.action != HALT)
