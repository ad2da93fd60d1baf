"""The errors of the package: one base, one line of text each, the place first.

`EngineError` and what derives from it are the engine's own; the rest are raised before the engine
is reached. Whoever wants one `except` takes `EngineError`.
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
    "fault",
    "in_words",
    "warn",
]

_DIGITS = re.compile(r"\d{60,}")
_MOST_WORDS = 200


class UsageError(EngineError):
    """What was asked for does not exist or makes no sense: a board, an experiment, a time."""


class SettingError(UsageError):
    """A `--set` names nothing, or its value does not fit."""


class FirmwareError(EngineError):
    """An app could not be built; the message carries the compiler's own."""


class DiskError(EngineError):
    """A disk image could not be made, or what a run left on it is wrong."""


class OutputError(EngineError):
    """A file or a folder for results can't be written; the message begins with its path."""


class IpcError(EngineError):
    """A serial port, or what answers at it, is not as the tests over it need it."""


def board_error(faults: list[str]) -> BoardError:
    """A `BoardError` found on the Python side, in the form that the engine's own have."""
    error = BoardError("\n".join(faults))
    error.faults = faults
    return error


def complain(message: str) -> None:
    """Say on stderr, in one line, what went wrong."""
    # digits by the thousand tell nothing
    text = _DIGITS.sub(lambda digits: f"{digits[0][:8]}...({len(digits[0])} digits)", message)
    print(f"cyclescope: error: {text}", file=sys.stderr)


def warn(message: str) -> None:
    """Say on stderr, in one line, what results would be better without."""
    print(f"cyclescope: warning: {message}", file=sys.stderr)


def fault(error: BaseException) -> str:
    """What to say of an error that nobody has foreseen: that is a fault of ours."""
    if os.environ.get("CYCLESCOPE_TRACEBACK"):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    package = Path(__file__).parent
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(package)]
    place = next((f"{_short(frame)}:{frame.lineno}" for frame in reversed(own or frames)), "?")
    words = " ".join(str(error).split())[:_MOST_WORDS]
    told = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return (
        f"a fault of Cyclescope at {place}: {told}; CYCLESCOPE_TRACEBACK=1 in the environment "
        "shows more: please report it"
    )


def in_words(error: Exception) -> str:
    """The message of an error that ends one run of several: its own, or a fault of Cyclescope."""
    return str(error) if isinstance(error, EngineError | OSError) else fault(error)


def _short(frame: traceback.FrameSummary) -> str:
    """A frame's file within the package, or its name."""
    root = Path(__file__).parent.parent
    path = Path(frame.filename)
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name
