"""Cleanup, however the program ends: scratch folders, started programs, terminal settings.

Each is cleaned up at the end of its `with` block or call. A program that ends at once, with working
threads, calls `discard`.
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
# no program or folder may be started while `discard` runs
_lock = threading.Lock()


@contextlib.contextmanager
def scratch(**place: Any) -> Iterator[Path]:
    """A temporary folder, deleted afterwards; `place` are arguments of `tempfile`."""
    import tempfile  # imported on first use; likewise below

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, **place) as name:
        folder = Path(name)
        _folders.add(folder)
        try:
            yield folder
        finally:
            _folders.discard(folder)


def undo(change: Callable[[], None]) -> None:
    """Call `change` as well if the program ends at once; its caller undoes it otherwise.

    A second call of `change` must have no effect.
    """
    _undone.append(change)


def call(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end without input; its output is in the result. Raises `OSError`.

    A Ctrl-C at the terminal does not reach the program: this process decides when to end it.
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
    """End all started programs and remove all scratch folders, before this program ends."""
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
    """End a program and its child processes."""
    if program.returncode is None:
        with contextlib.suppress(OSError):
            os.killpg(program.pid, signal.SIGKILL)
