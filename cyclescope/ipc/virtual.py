"""A board that runs in steps, with the host's end of its tty."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from cyclescope import _engine
from cyclescope.board import Board
from cyclescope.errors import IpcError
from cyclescope.units import format_ps

# the limit for the board's program to start its coprocessor and listen
_BOOT_PS = 10 * 10**12
# simulated time between checks for a stop
_STEP_PS = 5 * 10**9
_LAST_LINES = 5
_LAST_BYTES = 1 << 16

Wanted = Callable[[], bool]


def _always() -> bool:
    return True


class VirtualTty:
    """A board whose firmware has a pipe to the host, run from reset until it listens there.

    Totals count from the start. Raises `IpcError` if the board has no pipe, or if its program ends
    or does not listen within 10 s of simulated time.
    """

    def __init__(self, board: Board, elf: str | os.PathLike[str]) -> None:
        self.board = board.name
        self._machine: _engine.Machine = board.load(elf).start()
        port = self._machine.pipe()
        if port is None:
            raise IpcError(
                f"{board.name}: the board has no tty for the host: it needs a node virtio,mmio"
            )
        self._port = port
        self._console = b""
        self._streams: dict[str, bytes] = {}
        self._stop = _engine.Stop()
        self.fed_bytes = 0
        if self._run_on("open", 0, _BOOT_PS) is None:
            raise IpcError(
                f"{self.board}: its program does not listen at {port} after {format_ps(_BOOT_PS)} "
                "of simulated time" + self._said()
            )

    @property
    def taken_bytes(self) -> int:
        """Bytes from the host that the firmware has processed."""
        return self._machine.piped(self._port)[0]

    @property
    def sent_bytes(self) -> int:
        """Bytes that the firmware has sent."""
        return self._machine.piped(self._port)[1]

    def last_words(self) -> list[str]:
        """The last lines that the board has printed: one text for each serial line."""
        printed = {"the console": self._console, **self._streams}
        return [f"{name} printed: {_end_of(text)}" for name, text in printed.items() if text]

    def now_ps(self) -> int:
        """The board's time."""
        return self._machine.now()

    def feed(self, data: bytes) -> None:
        """Send bytes to the firmware, now."""
        self._machine.feed(self._port, data)
        self.fed_bytes += len(data)

    def drain(self) -> bytes:
        """The bytes that the firmware has sent since the last call."""
        return self._machine.drain(self._port)

    def run_until_taken(self, total_bytes: int, for_ps: int, wanted: Wanted = _always) -> int:
        """Run until the firmware has processed `total_bytes`, or for `for_ps`; returns the time.

        It is looked often whether that is still `wanted`. Raises `IpcError` if the firmware ends.
        """
        at = self._run_on("taken", total_bytes, for_ps, wanted)
        return self.now_ps() if at is None else at

    def run_until_sent(self, total_bytes: int, for_ps: int, wanted: Wanted = _always) -> int:
        """Run until the firmware has sent `total_bytes`, or for `for_ps`; returns the time.

        It is looked often whether that is still `wanted`. Raises `IpcError` if the firmware ends.
        """
        at = self._run_on("sent", total_bytes, for_ps, wanted)
        return self.now_ps() if at is None else at

    def finish(self) -> list[str]:
        """End the run, if it has not ended; returns one sentence for each image not saved."""
        return self._machine.finish()

    def stop(self) -> None:
        """Make a running call raise an `IpcError` soon; called from another thread."""
        self._stop.request()

    def _run_on(
        self, goal: Any, total_bytes: int, for_ps: int, wanted: Wanted = _always
    ) -> int | None:
        """The time at which the goal was reached; None if it was not reached in time."""
        until_ps = self.now_ps() + for_ps
        while not self._stop.requested:
            step_ps = min(until_ps, self.now_ps() + _STEP_PS)
            goal_bytes = (goal, total_bytes)
            at, ended = self._machine.advance(
                self._port, step_ps, goal_bytes, self._printed, self._printed_on, self._stop
            )
            if ended is not None:
                raise IpcError(f"{self.board}: {self._end(ended)}{self._said()}")
            if at is not None:
                return at
            if self.now_ps() >= until_ps or not wanted():
                return None
        raise IpcError(f"{self.board}: stopped")

    def _printed(self, text: bytes) -> None:
        self._console = (self._console + text)[-_LAST_BYTES:]

    def _printed_on(self, name: str, text: bytes) -> None:
        self._streams[name] = (self._streams.get(name, b"") + text)[-_LAST_BYTES:]

    def _end(self, ended: dict[str, Any]) -> str:
        if ended["outcome"] == "exit":
            return f"its program ended, with status {ended['code']}"
        return str(ended["message"] or ended["outcome"])

    def _said(self) -> str:
        return f"; it printed: {_end_of(self._console)}" if self._console else ""


def _end_of(text: bytes) -> str:
    return " | ".join(text.decode(errors="replace").strip().splitlines()[-_LAST_LINES:])
