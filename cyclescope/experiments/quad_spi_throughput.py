"""Throughput of the AXI Quad SPI core to its flash: XAPP797, figures 4 and 5.

The note writes and reads 4096 pages of 256 bytes in dual and quad mode of the core's enhanced
(AXI4 burst) configuration. The rows beyond it: standard mode, register access by the CPU instead
of bursts by the DMA, a FIFO of 16, slower clocks, and reading through the XIP window.
"""

from collections.abc import Sequence

from cyclescope.experiment import Cell, Experiment, Run
from cyclescope.experiments.answers import pick, times
from cyclescope.results import Row, Settings

BOARD = "kc705-axi-quad-spi"
APP = "quad_spi_throughput"
PAGES = 4096
PAGE_BYTES = 256
# xlnx,spi-mode of the core
SPI_MODES = {"standard": 0, "dual": 1}
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
    notes=("The note's core is a MicroBlaze; here its RISC-V successor MicroBlaze V runs.",),
    question="How long does it take to write and read SPI flash through an AXI Quad SPI core, "
    "and what do four data lines bring over two?",
    answer=_answer,
)
