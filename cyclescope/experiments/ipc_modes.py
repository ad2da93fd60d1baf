"""Ways to move blocks between the two cores of an STM32MP157, beyond the report on RPMsg.

RPMsg alone, in messages of 496 bytes, without a tty; and the indirect mode: a block lies in a
buffer in DDR that both cores can access, and a message has its address. It is copied by the cores
or by a DMA engine, with the buffer cached or uncached by the A7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot, Sweep, Words
from cyclescope.board.results import Value
from cyclescope.experiments import moments

BOARD = "stm32mp157c-dk2"
APP = "ipc_modes"
TABLE = "stm32mp1_rpmsg_tty"
LIMIT = "100s"
DIRECTIONS = ("to-m4", "to-a7")
# The ways of a buffer: whether the A7 caches it, and whether a DMA engine moves blocks into and out
# of it. With DMA no core accesses it, so caches make no difference.
_BUFFERS = (("off", "off"), ("on", "off"), ("off", "on"))


def _run(mode: str, direction: str, **settings: Value) -> Run:
    return Run(APP, BOARD, {"mode": mode, "direction": direction} | settings, limit=LIMIT)


def _runs() -> Iterator[Run]:
    for direction in DIRECTIONS:
        yield _run("raw", direction)
        for cache, dma in _BUFFERS:
            yield _run("indirect", direction, shared_cache=cache, dma=dma)


_WORDS = (
    Words("direction", "direction", (("to-m4", "A7 to M4"), ("to-a7", "M4 to A7"))),
    Words("block_bytes", "block", form="{} B"),
    Words("mode", "mode", (("raw", "RPMsg alone"), ("indirect", "shared buffer"))),
    Words("shared_cache", "A7's caches", (("on", "cached"), ("off", "uncached"))),
    Words("dma", "by", (("on", "MDMA"), ("off", "cores"))),
)
_WAYS = ("mode", "dma", "shared_cache")


def _cell(metric: str, title: str, y_title: str, per: int) -> Cell:
    pivot = Pivot(
        f"{title}, {y_title}",
        ("direction", "block_bytes"),
        _WAYS,
        values=True,
        words=_WORDS,
        per=per,
        digits=4,
    )
    sweep = Sweep(
        title=f"{title} by block size",
        x="block_bytes",
        x_title="bytes of a block",
        line="label",
        y_title=y_title,
        each="direction",
        log=True,
        words=_WORDS,
        per=per,
    )
    return Cell(
        APP,
        metric=metric,
        label="{mode}, dma {dma}, caches {shared_cache}",
        pivots=(pivot,),
        sweeps=(sweep,),
    )


def _fastest(rows: Sequence[Row]) -> Iterator[tuple[str, Row, Row]]:
    """Each direction with the fastest block by RPMsg alone and the fastest by a shared buffer."""
    for direction in DIRECTIONS:
        found = [
            row
            for row in rows
            if row.metric == "throughput" and row.settings["direction"] == direction
        ]
        raw = [row for row in found if row.settings["mode"] == "raw"]
        indirect = [row for row in found if row.settings["mode"] == "indirect"]
        if not raw or not indirect:
            continue
        slow = max(raw, key=lambda row: row.simulated)
        fast = max(indirect, key=lambda row: row.simulated)
        yield _words("direction", direction), slow, fast


def _answer(rows: Sequence[Row]) -> str:
    parts = [
        f"{direction} RPMsg alone moves {slow.simulated / 1e6:.1f} MB/s and a shared buffer "
        f"{fast.simulated / 1e6:.0f} MB/s (by {_words('dma', fast.settings['dma'])}, "
        f"{_words('shared_cache', fast.settings['shared_cache'])})"
        for direction, slow, fast in _fastest(rows)
    ]
    return f"From {'; from '.join(parts)}." if parts else ""


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    """The fastest way for the largest blocks, beside RPMsg alone."""
    for direction, slow, fast in _fastest(rows):
        yield (
            f"{direction}: RPMsg alone moves at most "
            f"{slow.simulated / 1e6:.1f} MB/s, a shared buffer {fast.simulated / 1e6:.0f} MB/s "
            f"({_words('dma', fast.settings['dma'])}, "
            f"{_words('shared_cache', fast.settings['shared_cache'])}, blocks of "
            f"{fast.settings['block_bytes']} B)."
        )


def _words(name: str, value: Value) -> str:
    return next(words for words in _WORDS if words.name == name).of(value)


EXPERIMENT = Experiment(
    name="ipc-modes",
    title="Blocks between the cores of an STM32MP157: RPMsg alone, and shared buffers",
    moments=(moments.IPC_MODES,),
    published=TABLE,
    runs=tuple(_runs()),
    cells=(
        _cell("latency", "Time of one block", "us", 1000),
        _cell("throughput", "Throughput", "MB/s", 1_000_000),
    ),
    notes=(
        "The report expects the indirect mode to be faster and does not measure it: no row here "
        "has a published number.",
        "Caches are always coherent here: a program that forgets to clean or invalidate lines "
        "still reads right values. The programs do it, and its time counts.",
    ),
    findings=_findings,
    question="How do I move blocks between the two cores fastest: by RPMsg alone or through a "
    "shared buffer, by the cores or by DMA, cached or not?",
    answer=_answer,
)
