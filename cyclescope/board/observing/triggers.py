"""Conditions over what goes on on a board, and what a run does when one becomes true.

A condition is written in the Common Expression Language: `card0.busy && "f_write" in cpu0.calls`.
docs/how-to/conditions.md tells what there is.
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
    """Have something done when a condition becomes true: the trigger's number.

    Raises `UsageError` for what is no condition over what the board has.
    """
    try:
        return machine.add_trigger(condition, action, timeline)
    except EngineError as error:
        raise UsageError(str(error)) from None


def add_all(machine: Machine, conditions: Iterable[str], action: str) -> None:
    """The same for several, each once."""
    for condition in dict.fromkeys(conditions):
        add(machine, condition, action)


def add_breaks(machine: Machine, conditions: Iterable[str], debugger: object) -> None:
    """The same for a debugger, that halts there. Raises `UsageError` if there is none."""
    breaks = tuple(conditions)
    if breaks and debugger is None:
        raise UsageError("a run breaks for a debugger: give it one (gdb)")
    add_all(machine, breaks, HALT)


def results(machine: Machine, now_ps: int) -> tuple[TriggerResult, ...]:
    """How they have been up to `now_ps`, those left out at which a debugger halts."""
    all_of_them = (TriggerResult(*trigger) for trigger in machine.triggers(now_ps))
    return tuple(one for one in all_of_them if one.action != HALT)
