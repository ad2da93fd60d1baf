"""Tests over a link, one after the other, and what came of them."""

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
    """A test that went through."""

    test: TtyTest
    time_ns: int

    @property
    def rate_kib_per_s(self) -> float:
        """The report's unit of throughput, which it calls KB/s."""
        return self.test.total_bytes / 1024 / (max(self.time_ns, 1) / 1e9)

    @property
    def error_pct(self) -> float | None:
        """How far it is from the report's time; None if that has none."""
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
    """What tests over a port gave; `error` says why not all of them are there."""

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
    """Run tests up to the first that fails.

    `checked` is for a firmware that answers with the CRC of what it got. The results are also put
    `into` an object that the caller keeps, so that they are there after an interruption.
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
    """Run a test: the time from before the first write to the answer, in picoseconds.

    What the host does by itself, as the CRC, is not in it. Raises `IpcError` if anything goes
    wrong.
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
            f"{link.port}: {count} bytes are acknowledged, {test.total_bytes} were written: bytes "
            "were lost, or an earlier answer came late; restart the firmware"
        )
    expected = crc16(b"".join(blocks)[HEADER.size :])
    if crc and crc[0] != expected:
        raise IpcError(
            f"{link.port}: wrong CRC: the firmware got {crc[0]:#06x}, the bytes that were written "
            f"have {expected:#06x}: they were changed on the way"
        )
    return ended_ps - started_ps


def _no_answer(link: Link, test: TtyTest, came: int, wanted: int, timeout_ps: int) -> IpcError:
    within = f"within {format_ps(timeout_ps)}"
    if came:
        return IpcError(
            f"{link.port}: {came} of the answer's {wanted} bytes came {within}: the firmware "
            "answers in another form, or its answer was cut"
        )
    return IpcError(
        f"{link.port}: no answer {within} to {test.total_bytes} bytes: the firmware did not get "
        "all of them, or is another one; a longer --timeout or fewer bytes may help"
    )
