"""Throughput of the AXI Quad SPI core to its flash: XAPP797, figures 4 and 5.

The note writes and reads 4096 pages of 256 bytes in dual and quad mode of the core's enhanced
(AXI4 burst) configuration. The rows beyond it: standard mode, register access by the CPU instead
of bursts by the DMA, a FIFO of 16, slower clocks, and reading through the XIP window.
"""

from cyclescope.experiment import Cell, Experiment, Run

BOARD = "kc705-axi-quad-spi"
APP = "quad_spi_throughput"
PAGES = 4096


def _run(mode: str, access: str = "dma", **overrides: int) -> Run:
    # A typical bulk erase of the flash takes 170 s, before what is timed begins.
    paths = {f"spi0.xlnx,{name.replace('_', '-')}": value for name, value in overrides.items()}
    return Run(APP, BOARD, {"mode": mode, "access": access, "pages": PAGES}, paths, limit="600s")


def _cell(metric: str, operation: str) -> Cell:
    return Cell(
        metric,
        label=f"{{mode}} {operation}",
        key="time_us",
        where={"kind": "sample-output", "operation": operation},
        match=("mode", "pages"),
    )


EXPERIMENT = Experiment(
    name="quad-spi-throughput",
    title="AXI Quad SPI throughput",
    published="xapp797_axi_quad_spi",
    runs=(
        _run("quad"),
        _run("dual"),
        _run("standard"),
        _run("standard", access="cpu"),
        _run("quad", access="cpu"),
        _run("quad", fifo_depth=16),
        _run("standard", sck_ratio=4),
        _run("standard", sck_ratio=8),
        _run("standard", sck_ratio=16),
        Run("xip_read", BOARD, {"pages": PAGES}, {"spi0.xlnx,xip-mode": 1}, limit="600s"),
    ),
    cells=(
        _cell("write_time", "write"),
        _cell("read_time", "read"),
        Cell("xip_read_time", label="XIP read"),
    ),
    documented={"access": "dma"},
    quick={"pages": 256},
    notes=("The note's core is a MicroBlaze; here its RISC-V successor MicroBlaze V runs.",),
)
