"""The errors of the package: one base class, one line of text each, with the place first.

`EngineError` and the classes from `_engine` are the engine's own; the others are raised before the
engine is called. `except EngineError` catches all of them.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from pathlib import Path

from cyclescope._engine import BoardError, ElfError, EngineError

__all__ = [
    "BoardError",
    "DiskError",
    "ElfError",
    "EngineError",
    "FirmwareError",
    "IpcError",
    "OutputError",
    "SettingError",
    "UsageError",
    "complain",
    "error_text",
    "fault",
    "warn",
]

_DIGITS = re.compile(r"\d{60,}")
_MOST_WORDS = 200


class UsageError(EngineError):
    """The request is invalid: for example an unknown board or experiment, or a bad time."""


class SettingError(UsageError):
    """A `--set` names nothing, or its value does not fit."""


class FirmwareError(EngineError):
    """An app could not be built; the message carries the compiler's own."""


class DiskError(EngineError):
    """A disk image could not be made, or is wrong after a run."""


class OutputError(EngineError):
    """A file or a folder for results can't be written; the message begins with its path."""


class IpcError(EngineError):
    """A serial port, or the firmware at it, is not suitable for the tests over it."""


def board_error(faults: list[str]) -> BoardError:
    """A `BoardError` from Python code, in the form of the engine's own."""
    error = BoardError("\n".join(faults))
    error.faults = faults
    return error


def complain(message: str) -> None:
    """Print an error on stderr, in one line."""
    # thousands of digits are of no use
    text = _DIGITS.sub(lambda digits: f"{digits[0][:8]}...({len(digits[0])} digits)", message)
    print(f"cyclescope: error: {text}", file=sys.stderr)


def warn(message: str) -> None:
    """Print a warning on stderr, in one line."""
    print(f"cyclescope: warning: {message}", file=sys.stderr)


def fault(error: BaseException) -> str:
    """The message for an unexpected error, which is a fault of Cyclescope."""
    if os.environ.get("CYCLESCOPE_TRACEBACK"):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    package = Path(__file__).parent
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(package)]
    place = next((f"{_short(frame)}:{frame.lineno}" for frame in reversed(own or frames)), "?")
    words = " ".join(str(error).split())[:_MOST_WORDS]
    description = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return (
        f"a fault of Cyclescope at {place}: {description}; please report it; "
        "CYCLESCOPE_TRACEBACK=1 in the environment shows the traceback"
    )


def error_text(error: Exception) -> str:
    """The text of an error that ends one run of several: an expected error's own message."""
    return str(error) if isinstance(error, EngineError | OSError) else fault(error)


def _short(frame: traceback.FrameSummary) -> str:
    """A frame's file within the package, or its name."""
    root = Path(__file__).parent.parent
    path = Path(frame.filename)
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name
