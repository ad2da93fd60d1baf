"""What `quad-spi-throughput` depends on besides its board: decisions, and what is left out."""

from __future__ import annotations

from collections.abc import Callable

from cyclescope.bench.experiment import Choice, Omission, Run
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED
from cyclescope.board.results import Settings


def _with(
    settings: Settings | None = None, overrides: dict[str, OverrideValue] | None = None
) -> Callable[[Run], Run]:
    """A change of a run: other settings of the app or other properties of the board."""
    return lambda run: run.changed(settings, overrides)


_SYSTEM, _PROGRAM = "the system", "the program"
_EXAMPLES = (
    "the note's program is not public; the vendor's examples for this core and flash (embeddedsw, "
    "xspi_numonyx_flash_quad_example.c) read the status before each command"
)

CHOICES = (
    Choice(
        what=_PROGRAM,
        name="what is timed of a page that is written",
        value="its transfers",
        basis=CALIBRATED,
        source="quad write: the note does not say; the flash's own work, 0.5 ms a page, would be "
        "2 s for all of them, and 94 ms are published",
        alternative="its transfers and the flash's work",
        change=_with({"timed": "page"}),
    ),
    Choice(
        what=_SYSTEM,
        name="clock of the processor and of AXI",
        value="100 MHz",
        basis=ASSUMED,
        source="the note does not give it; 100 MHz is usual for a MicroBlaze on a KC705. The only "
        "clock that it names has 80 MHz, and may be that of all of the system",
        alternative="80 MHz",
        change=_with(overrides={"sys_clk.clock-frequency": 80_000_000}),
    ),
    Choice(
        what=_PROGRAM,
        name="how it learns of the ends of transfers",
        value="polls",
        basis=ASSUMED,
        source="the note names both: refilling the FIFO after its interrupt when it is half empty, "
        "or polling its occupancy; the vendor's example for this core and flash "
        "(xspi_numonyx_flash_quad_example.c) takes interrupts",
        alternative="interrupts",
        change=_with({"completion": "interrupts"}),
    ),
    Choice(
        what=_PROGRAM,
        name="the compiler's optimisation",
        value="-O2",
        basis=ASSUMED,
        source="the note does not give it; -O2 is what the vendor's tools have for a release, -O0 "
        "for debugging",
        alternative="-O0",
        change=_with({"optimise": "O0"}),
    ),
    Choice(
        what=_PROGRAM,
        name="reads of the flash's status between the write enable and a page",
        value="none",
        basis=ASSUMED,
        source=_EXAMPLES,
        alternative="one",
        change=_with({"status_reads": "writes"}),
    ),
    Choice(
        what=_PROGRAM,
        name="reads of the flash's status before a page is read",
        value="none",
        basis=ASSUMED,
        source=_EXAMPLES,
        alternative="one",
        change=_with({"status_reads": "reads"}),
    ),
    Choice(
        what=_PROGRAM,
        name="memory of the frames that are written",
        value="block RAM",
        basis=ASSUMED,
        source="the note says that its program is in block RAM or DDR, and not where its buffers "
        "are. A block RAM that answers as late counts as DDR",
        alternative="DDR",
        change=_with(overrides={"bram.cyclescope,first-word-cycles": 24}),
    ),
    Choice(
        what=_SYSTEM,
        name="the data cache's writes",
        value="write-back",
        basis=ASSUMED,
        source="the note does not give it; MicroBlaze has both, and write-through by default",
        alternative="write-through",
        change=_with(overrides={"cpu0.cyclescope,d-cache-write-policy": "write-through"}),
    ),
)

LEFT_OUT = (
    Omission(
        what="FIFOs and width converters in the interconnect",
        why="14 of the design's 58 block RAMs belong to no core of the note's table 6: they may be "
        "FIFOs in the interconnect, which pass a burst on when it is complete",
        effect_pct=10,
        cells="all four",
        estimate="16 clocks more for each of a page's 17 bursts into the FIFO, if reads and writes "
        "of the engine do not overlap: 2.7 us",
    ),
    Omission(
        what="the note's MicroBlaze",
        why="its successor MicroBlaze V runs instead: other instructions, and branches with delay "
        "slots, but the same pipeline and caches",
        effect_pct=3,
        cells="all four",
        estimate="about 200 of a page's 2000 clocks are instructions; a quarter more or fewer",
    ),
    Omission(
        what="rows and refresh of the DDR3",
        why="each burst costs the same",
        effect_pct=2,
        cells="reads",
        estimate="an open row saves 14 of 24 clocks, a refresh costs 16 each 780; a page is "
        "drained in about 20 bursts, most of them during the transfer",
    ),
)
