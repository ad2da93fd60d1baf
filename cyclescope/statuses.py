"""The exit statuses of the command line, in one table."""

from __future__ import annotations

import signal
import textwrap
from enum import IntEnum


def status_of(number: int) -> int:
    """The exit status of a program that this signal ended, as shells have it."""
    return 128 + number


class Status(IntEnum):
    """An exit status. `meaning` says what has happened; `run` gives the firmware's own beside."""

    meaning: str

    SUCCESS = 0, "success"
    FAILED = 1, "a run of bench or a test of ipc failed, or what a run made could not be saved"
    USAGE = 2, "bad usage, a bad board or ELF, or a file that can't be read or written"
    OWN_FAULT = 70, "a fault of Cyclescope's own"
    SCRIPT = 123, "a script did not get what it expected (run)"
    LIMIT = 124, "the limit on simulated time was reached (run)"
    FIRMWARE_FAULT = 125, "a fault of the firmware ended it (run)"
    HANGUP = status_of(signal.SIGHUP), "interrupted by SIGHUP: the terminal is gone"
    INTERRUPT = status_of(signal.SIGINT), "interrupted by SIGINT (Ctrl-C)"
    BROKEN_PIPE = status_of(signal.SIGPIPE), "nobody reads the output any more"
    TERMINATED = status_of(signal.SIGTERM), "interrupted by SIGTERM"

    def __new__(cls, value: int, meaning: str) -> Status:
        """A number with its meaning."""
        status = int.__new__(cls, value)
        status._value_ = value
        status.meaning = meaning
        return status


OF_FIRMWARE = (
    "`run` gives the firmware's own status when that ends by itself. An interruption stops runs "
    "at once; what was simulated is saved."
)


def epilog() -> str:
    """The table as the last paragraph of the help."""
    text = "; ".join(f"{status.value} {status.meaning}" for status in Status)
    lines = textwrap.wrap(f"Exit status: {text}. {OF_FIRMWARE}", 80, break_on_hyphens=False)
    return "\b\n" + "\n".join(lines) + "\n"
