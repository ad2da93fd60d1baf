"""Single calls of a watched function: when, from where, with what arguments, and what each took."""

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
"""What waits are one of, in the order in which they are shown."""
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
"""Of a data frame of calls."""
MOST_CALLS = 10_000
"""So many calls of a function can be kept at the most."""


def check_most(calls: int) -> None:
    """Raises `UsageError` if so many calls can't be kept."""
    if not 1 <= calls <= MOST_CALLS:
        raise UsageError(f"{calls} calls can't be kept: 1 to {MOST_CALLS} can")


@dataclass(frozen=True)
class Argument:
    """An argument as it was when the function was entered.

    Where the ELF does not name the parameters, `name` is that of a register ("a0"), and
    `is_address` is true, as nobody knows.
    """

    name: str
    value: int
    is_address: bool

    def __str__(self) -> str:
        return f"{self.name}={self.text}"

    @property
    def text(self) -> str:
        """The value, of an address in hexadecimal."""
        return f"{self.value:#x}" if self.is_address else str(self.value)


@dataclass(frozen=True)
class Call:
    """A call of a watched function.

    It is the `number`th of the function, from 1 on, began at `begin_ps`, and took `ps`. `stack` has
    that time by cause, `waits` by what was waited for: the `ps` of each sum exactly to the call's.
    `arguments` are those in the first four registers for arguments. It returned to
    `return_address`; `caller` is the function that this is in, `file` and `line` the call's place
    in the source, as far as the ELF tells.
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
        """What it took."""
        return sum(entry.ps for entry in self.stack)

    @property
    def by_kind(self) -> dict[str, int]:
        """The same time by what the waits are one of, in the order of `KINDS`."""
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
    """A call as a line of a data frame, without core and function."""
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
