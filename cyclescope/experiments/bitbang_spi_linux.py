"""Accesses to a radio transceiver on GPIO pins under Linux, on a board of today.

The report of bitbang-spi measured Linux 3.9's drivers on a Ben NanoNote. Here Debian's kernel has
the same chip on pins of an STM32MP157: `spi-gpio` makes the bits, and spidev or the mainline driver
at86rf230 is above it. No number of the report is for this board, so none is compared.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.rows import DERIVED, Row

APP, BOARD = "bitbang_spi_linux", "stm32mp157c-dk2-rf231"
TABLE = "atben_spi_drivers"
LIMIT = "30s"
# The mainline driver reads a register by this function, 2 bytes on the wire.
_REGISTER = "regmap_read"


def _derived(rows: Sequence[Row]) -> Iterator[Row]:
    """The median of the mainline driver's register reads, while it probes the chip."""
    of = next(iter(rows), None)
    if of is None or of.run.result is None:
        return
    times_us = [
        (window.end_ps - window.begin_ps) / 1e6
        for window in of.run.result.windows
        if window.section == _REGISTER
    ]
    if times_us:
        yield of.following(
            settings={"operation": "read-register", "data_bytes": 1},
            label="at86rf230: read-register 1 B",
            simulated=round(statistics.median(times_us), 2),
            published=None,
            basis=DERIVED,
            timed=(),
            parts=(),
            pivot=None,
            sweeps=(),
        )


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    us = {row.label: float(row.simulated) for row in rows}
    try:
        short, long = us["spidev: write-buffer 1 B"], us["spidev: write-buffer 120 B"]
    except KeyError:
        return
    byte_us = (long - short) / 119
    yield (
        f"A byte takes {byte_us:.1f} us, as a line through writes of 1 and 120 bytes: eight "
        f"bits by four calls of gpiolib each. What a message takes besides its bytes is "
        f"{short - 3 * byte_us:.0f} us, from the program's system call to its return."
    )


EXPERIMENT = Experiment(
    name="bitbang-spi-linux",
    title="Linux's SPI on GPIO pins of an STM32MP157, with a radio transceiver",
    published=TABLE,
    runs=(Run(APP, BOARD, {}, limit=LIMIT, windows=(_REGISTER,)),),
    cells=(
        Cell(
            APP,
            metric="access_time",
            label="spidev: {operation} {data_bytes} B",
            measured={"operation": "operation", "data_bytes": "data_bytes"},
        ),
    ),
    notes=(
        "The report's board, kernel and driver are others: these rows show what such accesses "
        "take on another board with a kernel of today.",
    ),
    derived=_derived,
    findings=_findings,
    is_explained=False,
    question="What do accesses to a chip on GPIO pins take under Linux?",
)
