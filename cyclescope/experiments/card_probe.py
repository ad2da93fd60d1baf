"""What a program can find out about an SD card below the file system: times, buffer, jumps.

The document of `fat-write` wishes for such a program, and has no numbers.
"""

from collections.abc import Sequence

from cyclescope.experiment import Cell, Experiment, Run
from cyclescope.experiments import fat_access, fat_write
from cyclescope.experiments.answers import pick, pick_all
from cyclescope.results import Row
from cyclescope.views import Pivot, Sweep, Words

APP = "card_probe"
_WORDS = (
    Words("label", "by the controller that it is behind"),
    Words("distance", "blocks from the next in order"),
    Words("port", "controller", (("mmc", "the document's"), ("spi", "Altera's SPI"))),
)
_FOUND = Pivot("What the card shows", ("label",), ("port",), values=True, words=_WORDS)
_JUMPS = Pivot(
    *("Busy time after a jump, ms", ("distance",), ("port",)),
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


def _run(port: str) -> Run:
    return Run(
        APP,
        fat_write.BOARD,
        {"port": port},
        limit=fat_write.LIMIT,
        disk=fat_access.DISK,
        slot=fat_write.slot,
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
    published=fat_write.TABLE,
    runs=(_run("mmc"), _run("spi")),
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
    ),
    notes=(
        "The document wishes for such a program; it has no numbers of it.",
        "The program knows nothing of how the card is built: it sees responses and busy times.",
    ),
    question="How long does this SD card keep my firmware waiting, and what can I find out about "
    "how it is built?",
    answer=_answer,
)
