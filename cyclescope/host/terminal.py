"""Standard input, output and error in any state: closed, full, or with a limited encoding.

A failed write to standard output is an `OSError` with the name of the stream; a failed write to
standard error is ignored.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import stat
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO, cast

from cyclescope._engine import Stop

if TYPE_CHECKING:
    from io import TextIOWrapper

STANDARD_OUTPUT = "standard output"
# a writable pipe has room for at least this many bytes
_PIPE_BYTES = 4096
_FILE_BYTES = 2**20
_LOOK_MS = 100
# how long a stopped run waits for the reader of its console
_PATIENCE_S = 1.0


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """A block in which the streams are set up; they are restored at its end."""
    before = sys.stdout, sys.stderr
    _open_closed_ones()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            # characters that the encoding lacks, and bytes that are not UTF-8, become \xe9
            cast("TextIOWrapper", stream).reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = _Named(sys.stdout), _Silent(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def hush() -> None:
    """Discard all further standard output, as its reader has closed it."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def shown(was_stopped: bool) -> Iterator[None]:
    """A block for final output: if it can't be written, the command still succeeds.

    After a signal, the terminal may be closed.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        is_lost = was_stopped and error.filename == STANDARD_OUTPUT
        if not is_lost and not isinstance(error, BrokenPipeError):
            raise
        hush()


def _open_closed_ones() -> None:
    """Reserve descriptors 0 to 2 if they are closed; writes to a closed one still fail."""
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, mode)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


class _Stream:
    """A text stream with different error handling."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Named(_Stream):
    """A stream whose errors have its name."""

    def write(self, text: str) -> int:
        """As of any stream."""
        with _naming():
            return self._stream.write(text)

    def flush(self) -> None:
        """As of any stream."""
        with _naming():
            self._stream.flush()


class _Silent(_Stream):
    """A stream whose errors are ignored."""

    def write(self, text: str) -> int:
        """As of any stream."""
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """As of any stream."""
        with contextlib.suppress(OSError):
            self._stream.flush()


@contextlib.contextmanager
def _naming() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _named(error) from None


def _named(error: OSError) -> OSError:
    """An error of standard output, with the stream's name."""
    is_closed = error.errno == errno.EBADF
    reason = "closed" if is_closed else error.strerror or str(error)
    # the class of the error follows from its number
    return OSError(error.errno, reason, STANDARD_OUTPUT)


class Outlet:
    """The output of a run's console: raises nothing, and does not delay a stopped run.

    The first failure of standard output stops the run and is in `error`. Later output is lost, as
    is output that standard error does not accept. An `exact` outlet writes the bytes that the text
    was decoded from, as UTF-8 with `surrogateescape`.
    """

    def __init__(self, stream: TextIO, stop: Stop, exact: bool = False) -> None:
        self.error: OSError | None = None
        self._is_open = True
        self._stream = stream
        self._stop = stop
        self._is_exact = exact
        self._descriptor: int | None = None
        try:
            # after all earlier output
            stream.flush()
            self._descriptor = stream.fileno()
        except (OSError, ValueError) as error:
            # an in-memory stream has no descriptor
            if getattr(error, "errno", None) is not None:
                self._fail(_named(error))  # type: ignore[arg-type]

    def write(self, text: str) -> None:
        """Write as much as the reader accepts."""
        if not self._is_open:
            return
        try:
            if self._descriptor is None:
                self._stream.write(text)
                self._stream.flush()
            else:
                self._put(self._descriptor, self._encoded(text))
        except OSError as error:
            self._fail(_named(error))

    def flush(self) -> None:
        """Nothing to do: no output is buffered."""

    def _encoded(self, text: str) -> bytes:
        if self._is_exact:
            return text.encode("utf-8", "surrogateescape")
        return text.encode(self._stream.encoding or "utf-8", "backslashreplace")

    def _fail(self, error: OSError) -> None:
        self._is_open = False
        if self._stream is not sys.stderr:
            self.error = error
            self._stop.request()

    def _put(self, descriptor: int, data: bytes) -> None:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        most_bytes = _FILE_BYTES if is_file else _PIPE_BYTES
        writable = select.poll()
        writable.register(descriptor, select.POLLOUT)
        rest = memoryview(data)
        until_s: float | None = None
        while rest:
            if writable.poll(_LOOK_MS):
                with contextlib.suppress(BlockingIOError):
                    rest = rest[os.write(descriptor, rest[:most_bytes]) :]
            elif self._stop.requested:
                until_s = until_s or time.monotonic() + _PATIENCE_S
                if time.monotonic() > until_s:
                    raise TimeoutError(errno.ETIMEDOUT, "its reader does not read")
