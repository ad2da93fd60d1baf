"""Tests over a link, one after the other, and their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from cyclescope.errors import IpcError
from cyclescope.ipc.link import Link
from cyclescope.ipc.protocol import CHECKED, COUNT, HEADER, TtyTest, blocks_of, crc16
from cyclescope.units import format_ps

_PS_A_NS = 1000


@dataclass(frozen=True)
class Measured:
    """The result of a successful test."""

    test: TtyTest
    time_ns: int

    @property
    def rate_kib_per_s(self) -> float:
        """The throughput in KiB/s, which the report calls KB/s."""
        return self.test.total_bytes / 1024 / (max(self.time_ns, 1) / 1e9)

    @property
    def error_pct(self) -> float | None:
        """The deviation from the report's time in percent; None if the report has none."""
        published = self.test.published_ns
        return None if published is None else 100 * (self.time_ns / published - 1)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "block_bytes": self.test.block_bytes,
            "blocks": self.test.blocks,
            "total_bytes": self.test.total_bytes,
            "time_ns": self.time_ns,
            "rate_kib_per_s": round(self.rate_kib_per_s, 3),
            "published_ns": self.test.published_ns,
            "error_pct": None if self.error_pct is None else round(self.error_pct, 3),
        }


@dataclass
class Results:
    """The results of tests over a port; `error` is the reason if some are missing."""

    port: str
    clock: str
    measured: list[Measured] = field(default_factory=list)
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        tests = [measured.to_dict() for measured in self.measured]
        return {"port": self.port, "clock": self.clock, "tests": tests, "error": self.error}


def run_tests(
    link: Link,
    tests: Iterable[TtyTest],
    timeout_ps: int,
    checked: bool = False,
    into: Results | None = None,
    finished: Callable[[Measured], None] = lambda measured: None,
) -> Results:
    """Run tests up to the first failure.

    `checked` is for a firmware that answers with the CRC of the received bytes. The results are
    also put `into` an object of the caller, so that they survive an interruption.
    """
    results = into if into is not None else Results(link.port, link.clock)
    for test in tests:
        try:
            measured = Measured(test, run_test(link, test, timeout_ps, checked) // _PS_A_NS)
        except IpcError as error:
            results.error = f"test {test}: {error}"
            break
        results.measured.append(measured)
        finished(measured)
    return results


def run_test(link: Link, test: TtyTest, timeout_ps: int, checked: bool = False) -> int:
    """Run a test; returns the time from before the first write to the answer, in picoseconds.

    The host's own work, such as the CRC, is not included. Raises `IpcError` if the test fails.
    """
    blocks = blocks_of(test, checked)
    link.discard()
    started_ps = link.now_ps()
    for block in blocks:
        link.write(block)
    answer_format = CHECKED if checked else COUNT
    answer, ended_ps = link.read(answer_format.size)
    if len(answer) < answer_format.size:
        raise _no_answer(link, test, len(answer), answer_format.size, timeout_ps)
    count, *crc = answer_format.unpack(answer)
    if count != test.total_bytes:
        raise IpcError(
            f"{link.port}: {count} of {test.total_bytes} written bytes are acknowledged: bytes "
            "were lost, or an earlier answer came late; restart the firmware"
        )
    expected = crc16(b"".join(blocks)[HEADER.size :])
    if crc and crc[0] != expected:
        raise IpcError(
            f"{link.port}: wrong CRC: the firmware answered {crc[0]:#06x}, the written bytes "
            f"have {expected:#06x}: the data was corrupted on the way"
        )
    return ended_ps - started_ps


def _no_answer(link: Link, test: TtyTest, came: int, wanted: int, timeout_ps: int) -> IpcError:
    within = f"within {format_ps(timeout_ps)}"
    if came:
        return IpcError(
            f"{link.port}: received {came} of the answer's {wanted} bytes {within}: the firmware "
            "uses another format, or its answer was truncated"
        )
    return IpcError(
        f"{link.port}: no answer {within} to {test.total_bytes} bytes: the firmware "
        "did not receive all of them, or is the wrong one; try a longer --timeout or fewer bytes"
    )
