"""Sequential and random reads and writes of a file through FatFs, by the size of a call.

The document of `fat-write` names them as further work for judging a card, and has no numbers.
"""

from collections.abc import Mapping, Sequence

from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot, Sweep, Words
from cyclescope.board.results import Settings, Value
from cyclescope.disks import Disk, Extent
from cyclescope.experiments import fat_write, moments
from cyclescope.experiments.answers import pick, pick_all, times

APP = "fat_access"
# The first 8 MiB are in use: cards treat the place of a file system's tables differently.
DISK = Disk(fat_write.CARD_BYTES, extents=(Extent(256, 0),))


def files(settings: Settings) -> Mapping[str, bytes]:
    """Writes repeat the same bytes: the file stays unchanged."""
    return {"ACCESS.BIN": fat_write.buffer(int(settings["file_bytes"]))}


def _run(operation: str, access: str) -> Run:
    return Run(
        APP,
        fat_write.BOARD,
        {"operation": operation, "access": access},
        limit=fat_write.LIMIT,
        disk=DISK,
        slot=fat_write.slot,
        files=files,
    )


def _cell(metric: str, pivot: Pivot, *sweeps: Sweep) -> Cell:
    label = f"{{access}} {{operation}}, {{block}} B, {metric.replace('_', ' ')}"
    return Cell(APP, metric, label, pivots=(pivot,), sweeps=sweeps)


def _pivot(title: str) -> Pivot:
    """Thousands of the printed numbers, by the size of a call."""
    words = (Words("block", "call", form="{} B"),)
    columns = ("operation", "access")
    return Pivot(title, ("block",), columns, values=True, words=words, per=1000, digits=3)


_SWEEP = Sweep(
    title="Throughput by the size of a call",
    x="block",
    x_title="bytes a call",
    line="access",
    y_title="kB/s",
    each="operation",
    log=True,
    per=1000,
)


def _answer(rows: Sequence[Row]) -> str:
    """The cost of random writes with the smallest calls and with the largest."""
    blocks = [int(row.settings["block"]) for row in pick_all(rows, "throughput")]
    parts = []
    for block in (min(blocks, default=0), max(blocks, default=0)):
        found: dict[str, Value] = {"operation": "write", "block": block}
        ordered = pick(rows, "throughput", access="sequential", **found)
        random = pick(rows, "throughput", access="random", **found)
        if ordered is None or random is None:
            return ""
        parts.append(
            f"in calls of {block} B at {ordered.simulated / 1000:.3g} kB/s in order and "
            f"{random.simulated / 1000:.3g} kB/s at random, a factor of "
            f"{times(ordered.simulated, random.simulated)}"
        )
    return f"Writes run {'; '.join(parts)}."


EXPERIMENT = Experiment(
    name="fat-access",
    title="FatFs on an SD card over SPI: in order and at random, reading and writing",
    moments=(moments.FAT_ACCESS,),
    published=fat_write.TABLE,
    runs=tuple(
        _run(operation, access)
        for operation in ("read", "write")
        for access in ("sequential", "random")
    ),
    cells=(
        _cell("throughput", _pivot("Throughput, kB/s"), _SWEEP),
        _cell("call_mean", _pivot("Mean time of a call, ms")),
        _cell("call_max", _pivot("Longest time of a call, ms")),
    ),
    quick={"calls": 8, "file_bytes": 65536},
    notes=(
        "The document names these measurements as further work; it has no numbers of them.",
        "Throughput includes the sync at the end; a call's time includes the seek before it.",
    ),
    question="What does random access to a file on an SD card cost, and how large must my calls "
    "be?",
    answer=_answer,
)
