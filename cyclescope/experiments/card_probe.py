"""What a program can find out about an SD card below the file system: times, buffer, jumps.

The document of `fat-write` suggests such a program, and has no numbers.
"""

from collections.abc import Iterator, Sequence

from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot, Sweep, Words
from cyclescope.board.results import Value
from cyclescope.experiments import fat_access, fat_write, moments
from cyclescope.experiments.answers import pick, pick_all

APP = "card_probe"
_WORDS = (
    Words("label", "by the controller that the card is on"),
    Words("distance", "blocks from the next in order"),
    Words("port", "controller", (("mmc", "the document's"), ("spi", "Altera's SPI"))),
    Words("run_blocks", "blocks a command"),
    Words("crc", "CRC", (("computed", "with CRCs"), ("off", "without CRCs"))),
)
_FOUND = Pivot("What the card shows", ("label",), ("port",), values=True, words=_WORDS)
_JUMPS = Pivot(
    "Busy time after a jump, ms",
    ("distance",),
    ("port",),
    values=True,
    words=_WORDS,
    per=1000,
    digits=4,
)
_FINDINGS = {
    "write_busy_min": "shortest busy time after a single block, us",
    "write_busy_mean": "mean busy time after a single block, us",
    "write_busy_max": "longest busy time after a single block, us",
    "read_access_min": "shortest access time of a block, us",
    "read_access_mean": "mean access time of a block, us",
    "read_access_max": "longest access time of a block, us",
    "write_buffer": "blocks taken while the card makes ready to write elsewhere",
    "erase_block": "size of an erase block as jumps show it, bytes",
}


def _run(port: str, **settings: Value) -> Run:
    return Run(
        APP,
        fat_write.BOARD,
        {"port": port} | settings,
        limit=fat_write.LIMIT,
        disk=fat_access.DISK,
        slot=fat_write.slot,
    )


def _runs() -> Iterator[Run]:
    ports = ("mmc", "spi")
    yield from map(_run, ports)
    for crc in ("computed", "off"):
        yield from (_run(port, operation="throughput", crc=crc) for port in ports)


def _throughput(operation: str) -> Cell:
    title = f"{operation.capitalize()} throughput without a file system, kB/s"
    return Cell(
        APP,
        f"{operation}_throughput",
        label=f"{operation} by {{run_blocks}} blocks a command",
        pivots=(
            Pivot(
                title,
                ("run_blocks",),
                ("port", "crc"),
                values=True,
                words=_WORDS,
                per=1000,
                digits=3,
            ),
        ),
        sweeps=(
            Sweep(
                title=title.removesuffix(", kB/s"),
                x="run_blocks",
                x_title="blocks a command",
                line="crc",
                y_title="kB/s",
                each="port",
                log=True,
                words=_WORDS,
                per=1000,
            ),
        ),
    )


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    """The effect of a command's length, and what limits the longest ones."""
    found = [row for row in pick_all(rows, "write_throughput") if row.settings["port"] == "mmc"]
    rates = {
        crc: {
            int(row.settings["run_blocks"]): row.simulated / 1000
            for row in found
            if row.settings["crc"] == crc
        }
        for crc in ("computed", "off")
    }
    if not all(rates.values()):
        return
    computed, off = rates["computed"], rates["off"]
    least, most = min(off), max(off)
    yield (
        f"Without a file system {most} blocks a command are written at {off[most]:,.0f} kB/s, one "
        f"a command at {off[least]:,.0f}; with the driver's CRCs at {computed[most]:,.0f} and "
        f"{computed[least]:,.0f}. In long commands the CRC's loop and the wire limit the rate, in "
        "short ones the card."
    )


def _answer(rows: Sequence[Row]) -> str:
    ordered = pick(rows, "write_busy_mean")
    erase = pick(rows, "erase_block")
    jumps = [row.simulated for row in pick_all(rows, "jump_busy") if row.settings["distance"] != 0]
    if not (ordered and erase and jumps):
        return ""
    return (
        f"It is busy for {ordered.simulated / 1000:.3g} ms after a block in order and for "
        f"{min(jumps) / 1000:.3g} to {max(jumps) / 1000:.3g} ms after a jump, and the jumps show "
        f"erase blocks of {erase.simulated / 1024:g} KiB."
    )


EXPERIMENT = Experiment(
    name="card-probe",
    title="What an SD card shows of itself over SPI",
    moments=(moments.CARD_PROBE,),
    published=fat_write.TABLE,
    runs=tuple(_runs()),
    cells=(
        *(Cell(APP, metric, label, pivots=(_FOUND,)) for metric, label in _FINDINGS.items()),
        Cell(
            APP,
            "jump_busy",
            label="busy after a jump of {distance} blocks",
            pivots=(_JUMPS,),
            sweeps=(
                Sweep(
                    title="Busy time after a jump from where writes were in order",
                    x="distance",
                    x_title="blocks from the next in order",
                    line="port",
                    y_title="ms",
                    words=_WORDS,
                    per=1000,
                ),
            ),
        ),
        _throughput("write"),
        _throughput("read"),
    ),
    notes=(
        "The document suggests such a program; it has no numbers of it, nor of the multi-sector "
        "writes without a file system that its footnote mentions.",
        "The program knows nothing of how the card is built: it sees responses and busy times.",
    ),
    question="How long does this SD card keep my firmware waiting, and what can I find out about "
    "how it is built?",
    findings=_findings,
    answer=_answer,
)
