"""Signals that end the program: SIGINT (Ctrl-C), SIGTERM, SIGHUP (the terminal was closed).

By default, a signal raises `Interrupted`. A command that simulates defers it (`held_back`): its
runs stop, it saves their results, and then raises the exception itself. A second signal ends the
program at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from cyclescope._engine import Stop, hurry
from cyclescope.host import leftovers
from cyclescope.statuses import status_of

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked the program to end; `message` has details.

    It is not an `Exception`, so handlers of errors do not catch it.
    """

    def __init__(self, number: int, message: str = "") -> None:
        super().__init__(message or f"interrupted by {signal.Signals(number).name}")
        self.status = status_of(number)


class Held:
    """A deferred signal: it requests `stop`, and sets `number`.

    Other code may request `stop` for other reasons.
    """

    def __init__(self) -> None:
        self.stop = Stop()
        self.number: int | None = None

    @property
    def name(self) -> str:
        """The signal's name; empty if none came."""
        return "" if self.number is None else signal.Signals(self.number).name


_held: Held | None = None
_came = False


@contextlib.contextmanager
def handled() -> Iterator[None]:
    """Handle signals in this block, except those that the caller of the program ignores."""
    global _came
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    # a command under nohup, or in a shell's background, must continue
    taken = [number for number in SIGNALS if before[number] not in (signal.SIG_IGN, None)]
    _came = False
    try:
        for number in taken:
            signal.signal(number, _on_signal)
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])


@contextlib.contextmanager
def held_back() -> Iterator[Held]:
    """A block in which a signal raises nothing, but requests `Held.stop`."""
    global _held
    _held = held = Held()
    hurry(False)
    try:
        yield held
    finally:
        _held = None


def leave(status: int) -> None:
    """End at once, without waiting for working threads."""
    leftovers.discard()
    os._exit(status)


def _on_signal(number: int, frame: FrameType | None) -> None:
    global _came
    if _came:
        with contextlib.suppress(OSError):
            os.write(2, b"cyclescope: error: interrupted again: ended without saving the rest\n")
        leave(status_of(number))
    _came = True
    if _held is None:
        raise Interrupted(number)
    _held.number = number
    _held.stop.request()
    # reads for the results to save end soon, too
    hurry(True)
