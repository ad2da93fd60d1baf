"""What must not stay behind, however the program ends: scratch folders and programs it started.

Both are gone at the end of their `with` block or call, and so are changes of the terminal. A
program that ends at once, with threads still at work, calls `discard`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

_folders: set[Path] = set()
_programs: set[subprocess.Popen[bytes]] = set()
_undone: list[Callable[[], None]] = []
# nothing may begin while `discard` is at work
_lock = threading.Lock()


@contextlib.contextmanager
def scratch(**place: Any) -> Iterator[Path]:
    """A folder that is gone afterwards, placed as `tempfile` does."""
    import tempfile  # what a run without such folders need not wait for; likewise below

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, **place) as name:
        folder = Path(name)
        _folders.add(folder)
        try:
            yield folder
        finally:
            _folders.discard(folder)


def undo(change: Callable[[], None]) -> None:
    """Call this as well if the program ends at once; whoever made a change undoes it at its end.

    It may be called a second time, to no effect.
    """
    _undone.append(change)


def call(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end without input; what it says is in the result. Raises `OSError`.

    A Ctrl-C at the terminal does not reach it: this program decides what then becomes of it.
    """
    import subprocess

    with _lock:
        program = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
            **options,
        )
        _programs.add(program)
    try:
        stdout, stderr = program.communicate()
    except BaseException:
        _kill(program)
        raise
    finally:
        _programs.discard(program)
    return subprocess.CompletedProcess(command, program.returncode, stdout, stderr)


def discard() -> None:
    """End all programs and remove all scratch folders: this program ends at once."""
    # a signal handler may call this while its own thread has the lock
    _lock.acquire(timeout=1)
    for change in _undone:
        with contextlib.suppress(Exception):
            change()
    for program in tuple(_programs):
        _kill(program)
    if _folders:
        import shutil
    for folder in tuple(_folders):
        shutil.rmtree(folder, ignore_errors=True)


def _kill(program: subprocess.Popen[bytes]) -> None:
    """End a program and those that it has started."""
    if program.returncode is None:
        with contextlib.suppress(OSError):
            os.killpg(program.pid, signal.SIGKILL)
