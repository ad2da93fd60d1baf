"""The exit statuses of the command line, in one table.

`run` returns the firmware's own status, so the firmware has its own range: 0 to 111 unchanged, and
112 for all other values. Cyclescope's own statuses are above that, up to 127, like those of
`timeout` and `env` (124 is also `timeout`'s). Statuses from 129 on are signals, as in shells.
"""

from __future__ import annotations

import signal
from enum import IntEnum


def status_of(number: int) -> int:
    """The exit status of a program that this signal ended, as in shells."""
    return 128 + number


class Status(IntEnum):
    """An exit status with its `meaning`. `run` also returns the firmware's own status.

    Commands that return a firmware's status never return 1 for themselves.
    """

    meaning: str

    SUCCESS = 0, "success"
    FAILED = 1, "bench, ipc or compare --fail-over failed, or doctor misses something (never run)"
    ASLEEP = 119, "all cores sleep, and no event is left that would wake one (run)"
    UNSAVED = 120, "output of the run could not be written (run, profile, annotate)"
    USAGE = 121, "bad usage, a bad board or ELF, or a file that can't be read or written"
    OWN_FAULT = 122, "an internal error of Cyclescope"
    SCRIPT = 123, "a script did not receive what it expects (run, profile, annotate, compare)"
    LIMIT = 124, "the limit on simulated time was reached (run)"
    FIRMWARE_FAULT = 125, "a fault of the firmware ended the run (run, profile, annotate, compare)"
    HANGUP = status_of(signal.SIGHUP), "interrupted by SIGHUP: the terminal is gone"
    INTERRUPT = status_of(signal.SIGINT), "interrupted by SIGINT (Ctrl-C)"
    BROKEN_PIPE = status_of(signal.SIGPIPE), "the reader of the output has closed it"
    TERMINATED = status_of(signal.SIGTERM), "interrupted by SIGTERM"

    def __new__(cls, value: int, meaning: str) -> Status:
        """A number with its meaning."""
        status = int.__new__(cls, value)
        status._value_ = value
        status.meaning = meaning
        return status


# The status for all other values of the firmware: one byte has no room for 32 bits.
OTHER_OF_FIRMWARE = 112

OF_FIRMWARE = (
    "`run` returns the firmware's own status if the firmware ends by itself: 0 to 111 unchanged, "
    "112 for any other value, which a note gives. With `--exit-status ran` it returns 0 for all of "
    "them. An interruption stops runs at once; what was simulated is saved."
)

# The last line of the help.
EPILOG = "\b\nExit statuses (0 is success): docs/reference/exit-statuses.md"


def of_firmware(code: int) -> int:
    """The exit status of `run` for a firmware's status, which may have 32 bits."""
    return code if 0 <= code < OTHER_OF_FIRMWARE else OTHER_OF_FIRMWARE
