"""The errors of the package: one base, one line of text each, the place first.

`EngineError` and what derives from it are the engine's own; the rest are raised before the engine
is reached. Whoever wants one `except` takes `EngineError`.
"""

from __future__ import annotations

import sys

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
]


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
    print(f"cyclescope: error: {message}", file=sys.stderr)
