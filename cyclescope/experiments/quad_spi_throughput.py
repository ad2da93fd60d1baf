"""Throughput of the AXI Quad SPI core to its flash: XAPP797, figures 4 and 5.

The note writes and reads 4096 pages of 256 bytes in dual and quad mode of the core's enhanced
(AXI4 burst) configuration. The rows beyond it: standard mode, register access by the CPU instead
of bursts by the DMA, a FIFO of 16, slower clocks, and reading through the XIP window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cyclescope.experiment import Cell, Choice, Experiment, Omission, Run
from cyclescope.experiments.answers import pick, times
from cyclescope.overrides import OverrideValue
from cyclescope.results import ASSUMED, CALIBRATED, Row, Settings

BOARD = "kc705-axi-quad-spi"
APP = "quad_spi_throughput"
PAGES = 4096
PAGE_BYTES = 256
# xlnx,spi-mode of the core
SPI_MODES = {"standard": 0, "dual": 1}
# Enough to tell how far a parameter moves a page's time, which is the same for all pages.
SHORT_PAGES = 64
# A typical bulk erase of the flash takes 170 s, before what is timed begins.
LIMIT = "600s"


def _run(mode: str, access: str = "dma", documented: bool = False, **core: int) -> Run:
    """A run with the core generated for it, `core` being its further options (xlnx,*).

    The board has the quad, enhanced (AXI4) core; the processor uses the legacy (AXI4-Lite) one.
    """
    options = dict(core)
    if mode != "quad":
        options |= {"spi_mode": SPI_MODES[mode]}
    if access == "cpu":
        options |= {"type_of_axi4_interface": 0}
    overrides = {f"spi0.xlnx,{name.replace('_', '-')}": value for name, value in options.items()}
    settings: Settings = {"mode": mode, "access": access, "pages": PAGES}
    return Run(APP, BOARD, settings, overrides, documented, LIMIT)


def _cell(operation: str, *timed: str) -> Cell:
    return Cell(
        APP,
        metric=f"{operation}_time",
        label=f"{{mode}} {operation}",
        key="time_us",
        where={"kind": "sample-output", "operation": operation},
        match=("mode", "pages"),
        timed=timed,
    )


def _with(
    settings: Settings | None = None, overrides: dict[str, OverrideValue] | None = None
) -> Callable[[Run], Run]:
    """What gives a run other settings of the app or other properties of the board."""
    return lambda run: run.changed(settings, overrides)


def _shortened(run: Run) -> Run:
    """The run with fewer pages."""
    return run.shortened({"pages": SHORT_PAGES, "bytes": SHORT_PAGES * PAGE_BYTES})


def _answer(rows: Sequence[Row]) -> str:
    (write, slow_write), (read, slow_read) = (
        [pick(rows, metric, mode=mode, access="dma") for mode in ("quad", "dual")]
        for metric in ("write_time", "read_time")
    )
    if not (write and slow_write and read and slow_read):
        return ""
    kib = int(write.settings["pages"]) * PAGE_BYTES // 1024
    return (
        f"Quad mode writes {kib:,} KiB in {write.simulated / 1000:.1f} ms and reads them in "
        f"{read.simulated / 1000:.1f} ms, {times(slow_write.simulated, write.simulated)} and "
        f"{times(slow_read.simulated, read.simulated)} times as fast as dual mode."
    )


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
        source="the note says of its program that it is in block RAM or DDR; where its buffers "
        "are, it does not say. As DDR counts a block RAM that answers as late",
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
        what="interrupts at the ends of transfers",
        why="the program polls; the vendor's driver takes an interrupt at the end of each, and "
        "the note does not say which of them its program does",
        effect_pct=15,
        cells="all four",
        estimate="a trap, the controller's two registers, handler and return are about 100 to 150 "
        "clocks, for two to three transfers a page: 2 to 4 us of 19 to 36",
    ),
    Omission(
        what="FIFOs and width converters in the interconnect",
        why="14 of the design's 58 block RAMs belong to no core of the note's table 6: they may be "
        "FIFOs in the interconnect, which pass a burst on when all of it is there",
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

EXPERIMENT = Experiment(
    name="quad-spi-throughput",
    title="AXI Quad SPI throughput",
    published="xapp797_axi_quad_spi",
    runs=(
        _run("quad", documented=True),
        _run("dual", documented=True),
        _run("standard"),
        _run("standard", access="cpu"),
        _run("quad", access="cpu"),
        _run("quad", fifo_depth=16),
        _run("standard", sck_ratio=4),
        _run("standard", sck_ratio=8),
        _run("standard", sck_ratio=16),
        Run("xip_read", BOARD, {"bytes": PAGES * PAGE_BYTES}, {"spi0.xlnx,xip-mode": 1}),
    ),
    cells=(
        _cell("write", "program_page"),
        _cell("read", "read_page"),
        Cell("xip_read", "read_time", label="XIP read", timed=("read_window",)),
    ),
    quick={"pages": 64, "bytes": 64 * PAGE_BYTES},
    choices=CHOICES,
    left_out=LEFT_OUT,
    short_form=_shortened,
    notes=("The note's core is a MicroBlaze; here its RISC-V successor MicroBlaze V runs.",),
    question="How long does it take to write and read SPI flash through an AXI Quad SPI core, "
    "and what do four data lines bring over two?",
    answer=_answer,
)
