"""A serial port with the clock for its times: the host's, or a virtual board's."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING, Protocol

from cyclescope.errors import IpcError
from cyclescope.ipc import clock
from cyclescope.ipc.clock import Clock
from cyclescope.units import format_ps

if TYPE_CHECKING:
    import serial

_PS_A_NS = 1000
# for bytes that are in transit between two programs on the host
_HOST_S = 10.0

_REFUSED = {
    errno.ENOENT: "no such device: start the firmware that makes the port, or name another one",
    errno.EACCES: "no permission to open it: join the group that owns it, often dialout",
    errno.EBUSY: "another program has it open: close that first",
    errno.ENXIO: "the device is missing: start the firmware that makes the port",
}


class Link(Protocol):
    """An open port."""

    port: str
    clock: str

    def now_ps(self) -> int:
        """The time in picoseconds; only differences are meaningful."""

    def discard(self) -> None:
        """Forget what came and was not read."""

    def write(self, block: bytes) -> None:
        """Write a block, and wait until the other side has accepted it. Raises `IpcError`."""

    def read(self, count: int) -> tuple[bytes, int]:
        """Up to `count` bytes, fewer after a time-out, and their time. Raises `IpcError`."""

    def close(self) -> None:
        """Give the port back."""


def open_link(port: str, timeout_ps: int, baud: int) -> Link:
    """Open a port, with the board's clock if it is a virtual board's terminal.

    Raises `IpcError` if it can't be opened, or is in use.
    """
    opened = _open(port, timeout_ps, baud)
    try:
        found = clock.connect(port)
    except IpcError:
        opened.close()
        raise
    return HostLink(opened, timeout_ps) if found is None else VirtualLink(opened, found, timeout_ps)


def _open(port: str, timeout_ps: int, baud: int) -> serial.Serial:
    _check(port)
    timeout_s = timeout_ps / 1e12
    # only this command needs pyserial
    try:
        import serial
    except ImportError as absent:
        raise IpcError("pyserial is not installed: pip install pyserial") from absent

    try:
        return serial.Serial(port, baud, timeout=timeout_s, write_timeout=timeout_s, exclusive=True)
    except serial.SerialException as error:
        in_use = error.errno in (errno.EAGAIN, errno.EBUSY)
        why = _REFUSED[errno.EBUSY] if in_use else str(error)
        raise IpcError(f"{port}: {why}") from error
    except (OSError, ValueError) as error:
        raise IpcError(f"{port}: {error}") from error


def _check(port: str) -> None:
    """Raises `IpcError` if the path is not a port, with a better reason than pyserial's."""
    try:
        descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        why = _REFUSED.get(error.errno or 0) or f"can't be opened: {error.strerror}"
        raise IpcError(f"{port}: {why}") from error
    is_tty = os.isatty(descriptor)
    os.close(descriptor)
    if not is_tty:
        raise IpcError(f"{port}: not a serial port: name one such as /dev/ttyRPMSG0")


class HostLink:
    """A port with the host's clock."""

    clock = "host"

    def __init__(self, opened: serial.Serial, timeout_ps: int) -> None:
        self.port = opened.port
        self._serial = opened
        self._timeout_ps = timeout_ps

    def now_ps(self) -> int:
        """The host's monotonic clock."""
        return time.perf_counter_ns() * _PS_A_NS

    def discard(self) -> None:
        """Forget what came and was not read."""
        try:
            self._serial.reset_input_buffer()
        except OSError as error:
            raise self._lost(error) from error

    def write(self, block: bytes) -> None:
        """Write a block; the driver has accepted it when this returns."""
        from serial import SerialTimeoutException

        try:
            self._serial.write(block)
        except SerialTimeoutException as error:
            raise not_accepted(self.port, block, self._timeout_ps) from error
        except OSError as error:
            raise self._lost(error) from error

    def read(self, count: int) -> tuple[bytes, int]:
        """Up to `count` bytes, fewer after a time-out, and their time."""
        try:
            data = self._serial.read(count)
        except OSError as error:
            raise self._lost(error) from error
        return data, self.now_ps()

    def close(self) -> None:
        """Give the port back."""
        self._serial.close()

    def _lost(self, error: Exception) -> IpcError:
        return IpcError(f"{self.port}: the device has disappeared: check its firmware ({error})")


class VirtualLink:
    """A virtual board's terminal: the board runs during waits, and gives the time."""

    clock = "virtual"

    def __init__(self, opened: serial.Serial, found: Clock, timeout_ps: int) -> None:
        self.port = opened.port
        self._host = HostLink(opened, timeout_ps)
        self._serial = opened
        self._clock = found
        self._timeout_ps = timeout_ps
        self._written = 0
        self._read = 0
        opened.timeout = opened.write_timeout = _HOST_S

    def now_ps(self) -> int:
        """The board's time."""
        return self._clock.now_ps()

    def discard(self) -> None:
        """Forget what came and was not read."""
        # a wait for 0 bytes returns the number of bytes that have come
        _, came = self._clock.sent(0, 0)
        if came > self._read:
            self._host.read(came - self._read)
        self._read = came

    def write(self, block: bytes) -> None:
        """Write a block, and run the board until its program has processed it."""
        self._host.write(block)
        self._written += len(block)
        _, taken = self._clock.taken(self._written, self._timeout_ps)
        if taken < self._written:
            raise not_accepted(self.port, block, self._timeout_ps)

    def read(self, count: int) -> tuple[bytes, int]:
        """Run the board until it has sent `count` bytes, and return them."""
        at, came = self._clock.sent(self._read + count, self._timeout_ps)
        data, _ = self._host.read(min(count, came - self._read))
        self._read += len(data)
        return data, at

    def close(self) -> None:
        """Close the port; the board then runs freely again."""
        self._clock.close()
        self._host.close()


def not_accepted(port: str, block: bytes, timeout_ps: int) -> IpcError:
    """The error for a block that the other side did not accept in time."""
    return IpcError(
        f"{port}: a block of {len(block)} bytes was not accepted within {format_ps(timeout_ps)}: "
        "the other side has stopped reading"
    )
