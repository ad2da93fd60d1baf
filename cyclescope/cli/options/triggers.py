"""Options for conditions, and for the actions when one becomes true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Any, TypeVar

import click

from cyclescope.errors import UsageError

_Command = TypeVar("_Command", bound=Callable[..., Any])
NAMES = ("count_when", "break_when", "trace_when", "snapshot_when")


@dataclass(frozen=True)
class TriggerOptions:
    """The values of the options for conditions."""

    count_when: tuple[str, ...]
    break_when: tuple[str, ...]
    trace_when: str | None
    snapshot_when: str | None

    def check(self, trace: str | None, gdb_address: str | None) -> None:
        """Raises `UsageError` for options that need a timeline or a debugger."""
        if self.trace_when is not None and trace is None:
            raise UsageError("--trace-when needs --trace FILE")
        if self.break_when and gdb_address is None:
            raise UsageError("--break-when needs a debugger: give --gdb, or use cyclescope debug")

    def arguments(self) -> dict[str, Any]:
        """The options as arguments of `Board.run`."""
        return asdict(self)


def trigger_options(command: _Command) -> _Command:
    """Give a command these options; it gets them as `triggers`."""

    @click.option(
        "--count-when",
        multiple=True,
        metavar="CONDITION",
        help="Report how often this condition becomes true, and for how long: flash0.busy",
    )
    @click.option(
        "--break-when",
        multiple=True,
        metavar="CONDITION",
        help="Halt for the debugger (--gdb) when this condition becomes true.",
    )
    @click.option(
        "--trace-when",
        metavar="CONDITION",
        help="Start the timeline when this condition becomes true.",
    )
    @click.option(
        "--snapshot-when",
        metavar="CONDITION",
        help="Take the snapshot when this condition first becomes true.",
    )
    @wraps(command)
    def with_options(**given: Any) -> Any:
        options = TriggerOptions(**{name: given.pop(name) for name in NAMES})
        return command(triggers=options, **given)

    return with_options  # type: ignore[return-value]
