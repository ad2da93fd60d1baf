"""Messages for the user about exceptions in a device: one line each."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any

from cyclescope.units import format_ps

_MOST_WORDS = 200
_PACKAGE = str(Path(__file__).parent) + os.sep


def message(
    cls: type, made: Any, error: BaseException, method: str, arguments: tuple[Any, ...]
) -> str:
    """The message: place, device, exception, call, and simulated time."""
    show_traceback(error)
    file, line = place(error) or _place_of(cls, method)
    name = getattr(cls, "compatible", cls.__name__)
    label = name if made is None else f"{made.label} ({name})"
    when = "" if made is None else f" at {format_ps(made.now_ps)} of simulated time"
    call = _call(cls, method, arguments)
    return f"{file}:{line}: {label}: {words(error)}, in {call}{when}{HINT}"


HINT = "; CYCLESCOPE_TRACEBACK=1 in the environment shows more"


def show_traceback(error: BaseException) -> None:
    """Show the traceback, if the user requested it."""
    if os.environ.get("CYCLESCOPE_TRACEBACK"):
        import traceback  # only errors need it

        traceback.print_exception(error)


def words(error: BaseException) -> str:
    """An exception's type and text in one line."""
    text = " ".join(str(error).split())[:_MOST_WORDS]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def place(error: BaseException) -> tuple[str, int] | None:
    """The file and line in the user's code at which an exception was raised."""
    found = None
    step: TracebackType | None = error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if not file.startswith(_PACKAGE) and not file.startswith("<frozen"):
            found = file, step.tb_lineno
        step = step.tb_next
    return found


def _place_of(cls: type, method: str) -> tuple[str, int]:
    """The file and line of a method whose result is wrong."""
    code = getattr(getattr(cls, method, None), "__code__", None)
    if code is None:
        return cls.__module__, 0
    return code.co_filename, code.co_firstlineno


def _call(cls: type, method: str, arguments: tuple[Any, ...]) -> str:
    match method, arguments:
        case "read", (int(offset), size):
            return f"a read of {_bytes(size)} at offset {offset:#x}{_register(cls, offset)}"
        case "write", (int(offset), size, int(value)):
            at = f"at offset {offset:#x}{_register(cls, offset)}"
            return f"a write of {value:#x}, {_bytes(size)}, {at}"
        case "event", (token,):
            return f"event {token}"
        case "write", (int(byte),):
            return f"the write of {byte:#04x}"
        case "transfer", (int(byte),):
            return f"the transfer of {byte:#04x}"
        case "__init__", _:
            return "its constructor"
        case _:
            return method


def _bytes(size: int) -> str:
    return "1 byte" if size == 1 else f"{size} bytes"


def _register(cls: type, offset: int) -> str:
    register = getattr(cls, "registers", {}).get(offset & ~3)
    return f" ({register.name})" if register is not None else ""
