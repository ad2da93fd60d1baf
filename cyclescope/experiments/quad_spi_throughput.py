"""Throughput of the AXI Quad SPI core to its flash: XAPP797, figures 4 and 5.

The note writes and reads 4096 pages of 256 bytes in dual and quad mode of the core's enhanced
(AXI4 burst) configuration. Further rows: the other modes of its tables 1 and 2 (standard mode, the
legacy core, whose FIFOs the CPU fills, the XIP window), reads with the address on all lines,
interrupts instead of polls, a FIFO of 16, other clocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import Settings, Value
from cyclescope.experiments import moments, quad_spi_modes, quad_spi_wire
from cyclescope.experiments.answers import pick, times
from cyclescope.experiments.quad_spi_basis import CHOICES, LEFT_OUT
from cyclescope.experiments.quad_spi_modes import CLOCK, MHZ, PAGE_BYTES, SPI_MODES
from cyclescope.experiments.quad_spi_wire import FREE_REGISTERS

BOARD = "kc705-axi-quad-spi"
APP = "quad_spi_throughput"
PAGES = 4096
# For runs without a published number: a page takes as long as in a run of all of them.
FEW_PAGES = 256
# For other clocks, whose times need a resolution of a tenth of a percent.
CLOCK_PAGES = 1024
# Enough to measure a parameter's effect on a page's time, which is the same for all pages.
SHORT_PAGES = 64
# The clocks of the processor and of AXI that are tried beside the board's.
CLOCKS_MHZ = (80, 90, 125)
# A typical bulk erase of the flash takes 170 s, before the timed part begins.
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


def _few(
    run: Run,
    settings: Settings | None = None,
    overrides: Mapping[str, OverrideValue] | None = None,
) -> Run:
    """The run with fewer pages and other settings, without a published number."""
    own: dict[str, Value] = {"pages": FEW_PAGES} | dict(settings or {})
    return replace(run.changed(own, overrides), documented=False)


def _xip(mode: str, access: str, count: int) -> Run:
    """A run that reads `count` pages through the window of a core in XIP mode."""
    settings: Settings = {"bytes": count * PAGE_BYTES}
    if access != "cpu":
        settings = {"access": access} | dict(settings)
    overrides: dict[str, OverrideValue] = {"spi0.xlnx,xip-mode": 1}
    if mode != "quad":
        overrides |= {"spi0.xlnx,spi-mode": SPI_MODES[mode]}
    return Run("xip_read", BOARD, settings, overrides)


_FEW = Pivot(
    "Runs of fewer pages, us",
    ("mode", "access", "completion", "read_command", CLOCK, "spi0.cyclescope,read-cycles"),
    ("metric",),
    values=True,
    words=(
        Words("access", "moved by"),
        Words("completion", "ends by"),
        Words("read_command", "reads"),
        Words(CLOCK, "AXI, Hz"),
        Words("spi0.cyclescope,read-cycles", "read cycles"),
        Words("metric", "", (("write_time", "write"), ("read_time", "read"))),
    ),
    where=(("pages", (FEW_PAGES, CLOCK_PAGES)),),
)


def _cell(operation: str, *timed: str) -> Cell:
    return Cell(
        APP,
        metric=f"{operation}_time",
        label=f"{{mode}} {operation}",
        key="time_us",
        where={"kind": "sample-output", "operation": operation},
        match=("mode", "pages"),
        timed=timed,
        pivots=(_FEW,),
    )


def _derived(rows: Sequence[Row]) -> Iterator[Row]:
    """Times of pages by mode and clock; the activity on the wire."""
    yield from quad_spi_modes.rows(rows)
    yield from quad_spi_wire.rows(rows)


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


EXPERIMENT = Experiment(
    name="quad-spi-throughput",
    title="AXI Quad SPI throughput",
    moments=(moments.QUAD_SPI,),
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
        _xip("quad", "cpu", PAGES),
        # the rest of the note's tables of modes
        _few(_run("dual", access="cpu")),
        *(_few(_run(mode), {"read_command": "io"}) for mode in ("dual", "quad")),
        *(_xip(mode, "cpu", FEW_PAGES) for mode in ("standard", "dual")),
        *(_xip(mode, "dma", FEW_PAGES) for mode in SPI_MODES),
        *(
            _few(_run(mode, access), {"completion": "interrupts"})
            for access in ("dma", "cpu")
            for mode in SPI_MODES
        ),
        # the values that the pages' times depend on
        *(
            _few(_run(mode), {"pages": CLOCK_PAGES}, {CLOCK: mhz * MHZ})
            for mhz in CLOCKS_MHZ
            for mode in ("quad", "dual")
        ),
        *(_few(_run(mode), overrides=FREE_REGISTERS) for mode in SPI_MODES),
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
    derived=_derived,
    derived_pivots=quad_spi_modes.PIVOTS | quad_spi_wire.PIVOTS,
    findings=quad_spi_wire.findings,
    notes=("The note's core is a MicroBlaze; here its RISC-V successor MicroBlaze V runs.",),
    question="How long does it take to write and read SPI flash through an AXI Quad SPI core, "
    "and what do four data lines bring over two?",
    answer=_answer,
)
