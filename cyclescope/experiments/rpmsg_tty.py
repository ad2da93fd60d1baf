"""RPMsg over a tty between two cores of an STM32MP157: a blog's benchmark, and its time by cause.

A client on the Cortex-A7 writes blocks to a tty whose other end is a Cortex-M4, and reads back how
many bytes arrived. The M4's program logs each message on a UART of 115200 baud. One run does all
eleven tests, as the author's client does; others have no log, faster UARTs, other buffers, and more
data at once than the author could send.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cyclescope.bench.experiment import Cell, Choice, Experiment, Run
from cyclescope.bench.results import Omission
from cyclescope.bench.rows import Parts, Row
from cyclescope.bench.views import Pivot, Sweep, Words
from cyclescope.board.description.parameters import ASSUMED
from cyclescope.board.results import Settings, Value
from cyclescope.experiments import moments, rpmsg_tty_follows, rpmsg_tty_stamps
from cyclescope.experiments.rpmsg_tty_follows import BAUD_RATE, BUFFER_BYTES, LOG_PART

BOARD = "stm32mp157c-dk2"
APP = "rpmsg_tty"
TABLE = "stm32mp1_rpmsg_tty"
LIMIT = "100s"
# Linux's addition to each test: a sum in docs/rpmsg-tty.md; 75 to 300 us are plausible.
LINUX_DELAY_US = 145
BAUD_RATES = (57_600, BAUD_RATE, 230_400, 460_800, 921_600, 2_000_000, 4_000_000)
BUFFERS_BYTES = (128, 256, BUFFER_BYTES, 1024, 2048)
# More than fits in 16 buffers at once: the author's tests that hung.
BEYOND = ((2048, 4), (4096, 2), (8192, 1), (4096, 4), (16384, 1), (32768, 1))


def _run(**settings: Value) -> Run:
    return Run(APP, BOARD, {"linux_delay_us": LINUX_DELAY_US} | settings, limit=LIMIT)


def _runs() -> Iterator[Run]:
    yield replace(_run(), documented=True)
    yield _run(transcript="on")
    yield _run(log="off")
    yield from (_run(baud_rate=baud) for baud in BAUD_RATES if baud != BAUD_RATE)
    for size in BUFFERS_BYTES:
        if size != BUFFER_BYTES:
            yield _run(buffer_bytes=size)
            yield _run(buffer_bytes=size, log="off")
    for block_bytes, blocks in BEYOND:
        yield _run(tests="one", block_bytes=block_bytes, blocks=blocks)


def _parts(settings: Settings) -> Parts:
    """The parts of a test's time: the A7's own work, its waits, and the rest."""
    delay = ("linux_wakes_reader", "A7: Linux's delay, assumed")
    alone = (("crc16", "A7: the client's CRC"), delay)
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
_NO_TRANSCRIPT = ("transcript", ("off",))
_LOGGED, _QUIET = ("log", ("on",)), ("log", ("off",))
_OF_REPORT = ("buffer_bytes", (BUFFER_BYTES,))


def _times(title: str, column: str, *where: tuple[str, tuple[Value, ...]]) -> Pivot:
    return Pivot(
        f"{title}, ms",
        _LINES,
        (column,),
        values=True,
        words=_WORDS,
        per=1_000_000,
        digits=4,
        where=where,
    )


_PIVOTS = (
    _times("With the client's transcript", "transcript", ("transcript", ("on",))),
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
        where=(_ALL, _NO_TRANSCRIPT, *where),
    )


_SWEEPS = (
    _sweep("The log's UART", "baud_rate", "baud", _OF_REPORT, _LOGGED),
    _sweep(
        "RPMsg's buffers, with the log",
        "buffer_bytes",
        "bytes of a buffer",
        _LOGGED,
        ("baud_rate", (BAUD_RATE,)),
    ),
    _sweep("RPMsg's buffers, without", "buffer_bytes", "bytes of a buffer", _QUIET),
)


def _counts_as(settings: Settings) -> str:
    """The independent number that a test's time stands for.

    All but the first two tests are on one line: a constant, a time for each character that the M4
    logs, and a time for each byte. From 2048 bytes in several blocks, only the characters are
    visible.
    """
    block_bytes, blocks = int(settings["block_bytes"]), int(settings["blocks"])
    if (block_bytes, blocks) in ((512, 1), (512, 2), (1024, 1)):
        return f"{block_bytes} B x {blocks}"
    return "time of a character"


CHOICES = (
    Choice(
        what="Linux",
        name="delay of a test, us",
        value=LINUX_DELAY_US,
        basis=ASSUMED,
        source="a sum of four hand-overs between interrupt, threads and the client, and of the "
        "code between them: docs/rpmsg-tty.md",
        alternative=300,
        change=lambda run: run.changed({"linux_delay_us": 300}),
    ),
    Choice(
        what="the client",
        name="loop of its CRC",
        value="once a bit, with a branch",
        basis=ASSUMED,
        source="its author's source, at Yocto's default of -O2: GCC's code for it is such a loop. "
        "Its log has 7 to 8 ms for the CRC of 32768 bytes",
        alternative="eight bits in a row, without branches",
        change=lambda run: run.changed({"crc_loop": "byte"}),
    ),
    Choice(
        what="clk_hsi",
        name="frequency, Hz",
        value=64_000_000,
        basis=ASSUMED,
        source="the nominal one; an RC oscillator of 63.7 to 64.3 MHz at 30 degrees, as of the "
        "STM32H7's data sheet, and a percent or so over temperature",
        alternative=63_700_000,
        change=lambda run: run.changed(
            overrides={"clk_hsi.cyclescope,actual-frequency": 63_700_000}
        ),
    ),
)

LEFT_OUT = (
    Omission(
        what="further work of the A7 in the first two tests",
        why="code, data and TLBs of the tty layer that were not used for long, first page faults, "
        "and the client's own log lines, which its console still sends",
        effect_pct=2,
        cells="512 B x 1 and 512 B x 2",
        estimate="they are 0.2 and 0.4 ms above the line through the other nine; 500 lines of L2 "
        "at 0.15 us and some page faults at 3 us would be 0.09 ms, once",
    ),
    Omission(
        what="the error of the M4's UART clock",
        why="an RC oscillator makes the bits, and the tests are nearly all characters",
        effect_pct=0.5,
        cells="all",
        estimate="0.3 of 64 MHz, as in the STM32H7's data sheet, are 0.4 us of 88 a character",
    ),
    Omission(
        what="newlib's printf and ST's HAL themselves",
        why="ours have their structure: newlib-nano passes each character through three calls, and "
        "GCC 9 makes other code at -O3",
        effect_pct=0.4,
        cells="all",
        estimate="60 to 80 more instructions a character are 0.3 to 0.4 us of 88",
    ),
    Omission(
        what="the kernel's share of the first message's way down",
        why="system call, tty layer, line discipline and rpmsg in Linux do more than ours; for "
        "later messages this happens while the M4 logs",
        effect_pct=0.2,
        cells="the shortest tests most",
        estimate="25 us are in the delay already; between 10 and 50 are plausible",
    ),
)


def _derived(rows: Sequence[Row]) -> Iterator[Row]:
    yield from rpmsg_tty_follows.rows(rows)
    yield from rpmsg_tty_stamps.rows(rows)


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    yield from rpmsg_tty_follows.findings(rows)
    yield from rpmsg_tty_stamps.findings(rows)


CELL = Cell(
    APP,
    metric="time",
    label="{block_bytes} B x {blocks}",
    key="time_ns",
    where={"kind": "tty-test"},
    measured={"block_bytes": "block_bytes", "blocks": "blocks"},
    parts=_parts,
    counts_as=_counts_as,
    pivots=_PIVOTS,
    sweeps=_SWEEPS,
)

EXPERIMENT = Experiment(
    name="rpmsg-tty",
    title="RPMsg over a tty between the Cortex-A7 and the Cortex-M4 of an STM32MP157",
    moments=(moments.RPMSG_TTY,),
    published=TABLE,
    runs=tuple(_runs()),
    cells=(CELL,),
    notes=(
        "The report's client runs on Linux. Here the same client runs without it, on a tty and an "
        "RPMsg bus of the same structure; the time of Linux's scheduler and tty layer is one "
        "delay, the same in all tests: a sum of plausible parts, not fitted.",
        "The second Cortex-A7 idles. The M4's program has the report's log lines and sends each "
        "character as STM32Cube's HAL does, one at a time.",
    ),
    choices=CHOICES,
    left_out=LEFT_OUT,
    derived=_derived,
    derived_pivots=rpmsg_tty_stamps.PIVOTS,
    findings=_findings,
    question="How fast is RPMsg over a tty between the two cores, and what limits it?",
    answer=rpmsg_tty_follows.answer,
)
