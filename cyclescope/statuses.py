"""The exit statuses of the command line, in one table.

`run` ends with the firmware's own status, so the firmware has a range for itself: 0 to 111 are its
own, 112 stands for all others that it may end with. What Cyclescope itself has to say stands above
that, up to 127, where `timeout`, `env` and the like have theirs (124 is `timeout`'s, too). From 129
on are signals, as shells have them.
"""

from __future__ import annotations

import signal
import textwrap
from enum import IntEnum


def status_of(number: int) -> int:
    """The exit status of a program that this signal ended, as shells have it."""
    return 128 + number


class Status(IntEnum):
    """An exit status. `meaning` says what has happened; `run` gives the firmware's own beside.

    1 is of commands that give no firmware's status.
    """

    meaning: str

    SUCCESS = 0, "success"
    FAILED = 1, "bench, ipc or compare --fail-over failed, or doctor lacks something (not run)"
    ASLEEP = 119, "all cores sleep, and nothing is left that would wake one (run)"
    UNSAVED = 120, "what the run made could not be saved (run, profile, annotate)"
    USAGE = 121, "bad usage, a bad board or ELF, or a file that can't be read or written"
    OWN_FAULT = 122, "a fault of Cyclescope's own"
    SCRIPT = 123, "a script did not get what it expected (run, profile, annotate, compare)"
    LIMIT = 124, "the limit on simulated time was reached (run)"
    FIRMWARE_FAULT = 125, "a fault of the firmware ended it (run, profile, annotate, compare)"
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


# What the firmware's other statuses become: one byte has no room for 32 bits.
OTHER_OF_FIRMWARE = 112

OF_FIRMWARE = (
    "`run` gives the firmware's own status when that ends by itself: 0 to 111 as they are, 112 for "
    "any other, which a note tells. `--exit-status ran` gives 0 for all of them. An interruption "
    "stops runs at once; what was simulated is saved."
)


def of_firmware(code: int) -> int:
    """The exit status of `run` for that of a firmware, which may have 32 bits."""
    return code if 0 <= code < OTHER_OF_FIRMWARE else OTHER_OF_FIRMWARE


def epilog(*, of_run: bool = False) -> str:
    """The table as the last paragraph of the help; `of_run` leaves out what `run` never gives."""
    shown = [status for status in Status if not (of_run and status == Status.FAILED)]
    text = "; ".join(f"{status.value} {status.meaning}" for status in shown)
    lines = textwrap.wrap(f"Exit status: {text}. {OF_FIRMWARE}", 80, break_on_hyphens=False)
    return "\b\n" + "\n".join(lines) + "\n"
