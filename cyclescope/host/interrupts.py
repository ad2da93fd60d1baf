"""Signals that ask the program to end: SIGINT (Ctrl-C), SIGTERM, SIGHUP (the terminal is gone).

Where nothing is simulated, a signal raises `Interrupted`. A command that simulates holds it back
(`held_back`): its runs stop, it saves what they did, and then raises by itself. A second signal
ends the program at once.
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
    """A signal asked the program to end; `message` says more of it.

    It is no `Exception`: whoever handles errors is not to handle this.
    """

    def __init__(self, number: int, message: str = "") -> None:
        super().__init__(message or f"interrupted by {signal.Signals(number).name}")
        self.status = status_of(number)


class Held:
    """What a signal does while it is held back: `stop` is requested, `number` tells which it was.

    Whoever finds another reason to stop may request it as well.
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
    """Signals are handled as this module says, but for those that the caller has us ignore."""
    global _came
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    # nohup, and a shell's command in the background, are to go on
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
    """A signal raises nothing, but has `Held.stop` requested."""
    global _held
    _held = held = Held()
    hurry(False)
    try:
        yield held
    finally:
        _held = None


def leave(status: int) -> None:
    """End at once: threads that are at work can't be waited for."""
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
    # what is still read for what is saved ends soon, too
    hurry(True)
