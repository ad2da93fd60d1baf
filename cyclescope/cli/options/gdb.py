"""The options of `run` for a debugger: `--gdb`, `--gdb-any-address`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from cyclescope.errors import UsageError
from cyclescope.host import gdb_port
from cyclescope.host.interrupts import Held

if TYPE_CHECKING:
    from cyclescope._engine import Gdb

_Command = Callable[..., Any]


@dataclass(frozen=True)
class GdbOptions:
    """The values of the debugger options."""

    address: str | None
    any_address: bool

    @property
    def is_pipe(self) -> bool:
        """Whether the debugger is at standard input and output."""
        return self.address == gdb_port.PIPE

    @contextlib.contextmanager
    def client(self, held: Held, stdin_is_taken: bool) -> Iterator[Gdb | None]:
        """The debugger, once it has connected; None without one, or if the user stops waiting.

        Raises `UsageError` as `gdb_port.Port` does, and if another option uses the standard input.
        """
        if self.address is None:
            yield None
            return
        if self.is_pipe and stdin_is_taken:
            raise UsageError("--gdb pipe: another option already uses the standard input")
        if self.is_pipe:
            yield gdb_port.pipe()
            return
        with gdb_port.Port(self.address, self.any_address) as port:
            print(
                f"cyclescope: gdb: waiting for a debugger: target extended-remote {port.address}",
                file=sys.stderr,
                flush=True,
            )
            yield port.wait(held.stop)


def gdb_options(command: _Command) -> _Command:
    """Give a command these options; it gets them as `gdb`."""

    @click.option(
        "--gdb",
        "gdb_address",
        is_flag=False,
        flag_value=gdb_port.DEFAULT,
        metavar="[HOST:PORT|pipe]",
        help=f"Halt at reset and wait for GDB at this address [default: {gdb_port.DEFAULT}].",
    )
    @click.option(
        "--gdb-any-address",
        is_flag=True,
        help="Allow connections from other machines to the debugger's port.",
    )
    @wraps(command)
    def with_options(*, gdb_address: str | None, gdb_any_address: bool, **others: Any) -> Any:
        return command(gdb=GdbOptions(gdb_address, gdb_any_address), **others)

    return with_options
