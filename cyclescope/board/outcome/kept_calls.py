"""Single calls of a watched function: time, caller, arguments, and the time's causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cyclescope.board.outcome.stack_entries import StackEntry, WaitEntry
from cyclescope.errors import UsageError

KINDS = (
    "busy",
    "wire",
    "transfer",
    "serial",
    "conversion",
    "timer",
    "other",
    "looking",
    "asleep",
    "accesses",
    "CPU",
)
"""The kinds of waits, in the order in which they are shown."""
FRAME_COLUMNS = [
    "core",
    "function",
    "call",
    "begin_ps",
    "ps",
    *KINDS,
    "instructions",
    "arguments",
    "caller",
    "file",
    "line",
]
"""The columns of a data frame of calls."""
MOST_CALLS = 10_000
"""The largest number of calls of a function that can be kept."""


def check_most(calls: int) -> None:
    """Raises `UsageError` if that number of calls can't be kept."""
    if not 1 <= calls <= MOST_CALLS:
        raise UsageError(f"{calls} calls: the number of calls to keep is 1 to {MOST_CALLS}")


@dataclass(frozen=True)
class Argument:
    """An argument's value at the entry of the function.

    If the ELF does not name the parameters, `name` is the register ("a0"), and `is_address` is
    true, as the type is unknown.
    """

    name: str
    value: int
    is_address: bool

    def __str__(self) -> str:
        return f"{self.name}={self.text}"

    @property
    def text(self) -> str:
        """The value; an address is in hexadecimal."""
        return f"{self.value:#x}" if self.is_address else str(self.value)


@dataclass(frozen=True)
class Call:
    """A call of a watched function.

    `number` counts the function's calls from 1; the call began at `begin_ps` and took `ps`. `stack`
    divides that time by cause, `waits` by the events that were waited for: the `ps` of each sum
    exactly to the call's. `arguments` are the values of the first four argument registers. The call
    returned to `return_address`; `caller` is the function at that address, `file` and `line` are
    the call's place in the source, if the ELF has it.
    """

    number: int
    begin_ps: int
    instructions: int
    stack: tuple[StackEntry, ...]
    waits: tuple[WaitEntry, ...]
    arguments: tuple[Argument, ...]
    return_address: int
    caller: str | None = None
    file: str | None = None
    line: int | None = None

    @property
    def ps(self) -> int:
        """The time that the call took."""
        return sum(entry.ps for entry in self.stack)

    @property
    def by_kind(self) -> dict[str, int]:
        """The call's time by the kind of the waits, in the order of `KINDS`."""
        sums = dict.fromkeys(KINDS, 0)
        for entry in self.waits:
            sums[entry.kind] += entry.ps
        return {kind: ps for kind, ps in sums.items() if ps}

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of a run."""
        return vars(self) | {
            "ps": self.ps,
            "stack": [vars(entry) for entry in self.stack],
            "waits": [vars(entry) for entry in self.waits],
            "arguments": [vars(argument) for argument in self.arguments],
        }


def frame_row(call: Call) -> dict[str, Any]:
    """A call as a row of a data frame, without core and function."""
    return {
        "call": call.number,
        "begin_ps": call.begin_ps,
        "ps": call.ps,
        **dict.fromkeys(KINDS, 0),
        **call.by_kind,
        "instructions": call.instructions,
        "arguments": ", ".join(map(str, call.arguments)),
        "caller": call.caller,
        "file": call.file,
        "line": call.line,
    }
