"""RPMsg over a tty between two cores of an STM32MP157: a blog's benchmark, and what takes its time.

A client on the Cortex-A7 writes blocks to a tty whose other end is a Cortex-M4, and reads back how
many bytes came. The M4's program logs each message on a UART of 115200 baud. One run does all
eleven tests, as the author's client does; others have no log, faster UARTs, other buffers, and more
data in one go than the author could send.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cyclescope.experiment import Cell, Experiment, Run, fitted
from cyclescope.experiments import rpmsg_tty_follows
from cyclescope.experiments.rpmsg_tty_follows import BAUD_RATE, BUFFER_BYTES, LOG_PART
from cyclescope.results import Parts, Settings, Value
from cyclescope.views import Pivot, Sweep, Words

BOARD = "stm32mp157c-dk2"
APP = "rpmsg_tty"
TABLE = "stm32mp1_rpmsg_tty"
LIMIT = "100s"
# Fitted: what Linux adds to each test, between the M4's acknowledgement and the client's next step.
LINUX_DELAY_US = 223
BAUD_RATES = (57_600, BAUD_RATE, 230_400, 460_800, 921_600, 2_000_000, 4_000_000)
BUFFERS_BYTES = (128, 256, BUFFER_BYTES, 1024, 2048)
# More than 16 buffers take, in one go: the author's tests that hung.
BEYOND = ((2048, 4), (4096, 2), (8192, 1), (4096, 4), (16384, 1), (32768, 1))


def _run(**settings: Value) -> Run:
    return Run(APP, BOARD, {"linux_delay_us": LINUX_DELAY_US} | settings, limit=LIMIT)


def _runs() -> Iterator[Run]:
    yield replace(_run(), documented=True)
    yield _run(log="off")
    yield from (_run(baud_rate=baud) for baud in BAUD_RATES if baud != BAUD_RATE)
    for size in BUFFERS_BYTES:
        if size != BUFFER_BYTES:
            yield _run(buffer_bytes=size)
            yield _run(buffer_bytes=size, log="off")
    for block_bytes, blocks in BEYOND:
        yield _run(tests="one", block_bytes=block_bytes, blocks=blocks)


def _parts(settings: Settings) -> Parts:
    """Where a test's time goes: what the A7 does alone, what it waits for, and what is left."""
    alone = (("crc16", "A7: the client's CRC"), ("linux_wakes_reader", "A7: Linux's delay, fitted"))
    log = (("cm4:format_log", LOG_PART),) if settings["log"] == "on" else ()
    return Parts("run_test", (*log, *alone), "both: tty, RPMsg, vrings, mailbox")


_WORDS = (
    Words("block_bytes", "block", form="{} B"),
    Words("blocks", "blocks", form="{} x"),
    Words("baud_rate", "log at", form="{} baud"),
    Words("buffer_bytes", "RPMsg buffers of", form="{} B"),
    Words("log", "log", (("on", "with the log"), ("off", "without"))),
)
_LINES = ("block_bytes", "blocks")
# The report's own run has a comparison of its own.
_OTHER_RATES = tuple(rate for rate in BAUD_RATES if rate != BAUD_RATE)
_OTHER_BUFFERS = tuple(size for size in BUFFERS_BYTES if size != BUFFER_BYTES)
_ALL = ("tests", ("all",))
_LOGGED, _QUIET = ("log", ("on",)), ("log", ("off",))
_OF_REPORT = ("buffer_bytes", (BUFFER_BYTES,))


def _times(title: str, column: str, *where: tuple[str, tuple[Value, ...]]) -> Pivot:
    return Pivot(
        *(f"{title}, ms", _LINES, (column,)),
        values=True,
        words=_WORDS,
        per=1_000_000,
        digits=4,
        where=where,
    )


_PIVOTS = (
    _times("Without the M4's log", "log", _ALL, _OF_REPORT, _QUIET),
    _times("By the rate of the log's UART", "baud_rate", ("baud_rate", _OTHER_RATES)),
    _times("By RPMsg's buffers", "buffer_bytes", ("buffer_bytes", _OTHER_BUFFERS), _LOGGED),
    _times("By RPMsg's buffers, no log", "buffer_bytes", ("buffer_bytes", _OTHER_BUFFERS), _QUIET),
    _times("More than 16 buffers take: the sender waits", "log", ("tests", ("one",))),
)


def _sweep(title: str, x: str, x_title: str, *where: tuple[str, tuple[Value, ...]]) -> Sweep:
    return Sweep(
        title=title,
        x=x,
        x_title=x_title,
        line="label",
        y_title="ms",
        per=1_000_000,
        log=True,
        words=_WORDS,
        where=(_ALL, *where),
    )


_SWEEPS = (
    _sweep("The log's UART", "baud_rate", "baud", _OF_REPORT, _LOGGED),
    _sweep(
        *("RPMsg's buffers, with the log", "buffer_bytes", "bytes of a buffer"),
        *(_LOGGED, ("baud_rate", (BAUD_RATE,))),
    ),
    _sweep("RPMsg's buffers, without", "buffer_bytes", "bytes of a buffer", _QUIET),
)

EXPERIMENT = Experiment(
    name="rpmsg-tty",
    title="RPMsg over a tty between the Cortex-A7 and the Cortex-M4 of an STM32MP157",
    published=TABLE,
    runs=tuple(_runs()),
    cells=(
        Cell(
            APP,
            metric="time",
            label="{block_bytes} B x {blocks}",
            key="time_ns",
            where={"kind": "tty-test"},
            measured={"block_bytes": "block_bytes", "blocks": "blocks"},
            parts=_parts,
            pivots=_PIVOTS,
            sweeps=_SWEEPS,
        ),
    ),
    notes=(
        "The report's client runs on Linux. Here the same client runs without it, on a tty and "
        "an RPMsg bus of the same structure; what Linux's scheduler and tty layer take is one "
        "delay, the same in all tests, fitted to one of them.",
        "The second Cortex-A7 idles. The M4's program has the report's log lines and sends each "
        "character as STM32Cube's HAL does, one at a time.",
    ),
    choices=(fitted("Linux", "delay of a test, us", LINUX_DELAY_US, "1024 B x 1"),),
    derived=rpmsg_tty_follows.rows,
    findings=rpmsg_tty_follows.findings,
    question="How fast is RPMsg over a tty between the two cores, and what limits it?",
    answer=rpmsg_tty_follows.answer,
)
