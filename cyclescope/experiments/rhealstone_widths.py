"""The flash's widths in `rhealstone`: the note's table 2-1, each with and without continuous read.

The note lists the widths, and says that continuous read helps code that runs in place. It has no
numbers of either.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from cyclescope.bench.rows import DERIVED, Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.experiments.rhealstone_ratios import DIVIDER

OPERATION = "task-switch"
# The controller's names, in its order: lines of the instruction, the address and the data.
WIDTHS = {
    "single-bit-spi": "SINGLE_BIT_SPI 1-1-1",
    "dual-output": "DUAL_OUTPUT 1-1-2",
    "quad-output": "QUAD_OUTPUT 1-1-4",
    "dual-io": "DUAL_IO 1-2-2",
    "quad-io": "QUAD_IO 1-4-4",
    "dual-cmd": "DUAL_CMD 2-2-2",
    "quad-cmd": "QUAD_CMD 4-4-4",
}
# The width of all other measurements.
_USUAL = {"width": "quad-io", "continuous_read": "on"}
_CACHES = ("off", "on")

WORDS = (
    Words("width", "width", tuple(WIDTHS.items())),
    Words("continuous_read", "continuous read"),
    Words("cache", "caches", (("off", "without caches"), ("on", "caches miss"))),
)
PIVOT = Pivot(
    "Table 2-1: a task switch from QSPI by the flash's width, core cycles",
    ("width",),
    ("cache", "continuous_read"),
    values=True,
    words=WORDS,
    where=(
        ("operation", (OPERATION,)),
        ("memory", ("qspi",)),
        ("spck_divider", (DIVIDER,)),
        ("tick", ("off",)),
        ("loops", (1,)),
    ),
    but=tuple(_USUAL.items()),
)
# The table of the rows that follow, by metric.
PIVOTS = {"usual_width_cycles": PIVOT}


def places() -> Iterator[dict[str, str]]:
    """The settings of each run; the usual width is already measured with the flash's clock."""
    for cache, continuous, width in itertools.product(_CACHES, ("on", "off"), WIDTHS):
        settings = {"width": width, "continuous_read": continuous}
        if settings != _USUAL:
            yield settings | {"cache": cache, "tick": "off"}


def rows(found: Sequence[Row]) -> Iterator[Row]:
    """The rows of the usual width again, for the table of widths."""
    wanted = {name: values[0] for name, values in PIVOT.where} | _USUAL
    if not any(row.pivot == PIVOT for row in found):
        return
    for row in found:
        if row.metric == "cycles" and wanted.items() <= row.settings.items():
            yield row.following(
                metric="usual_width_cycles",
                basis=DERIVED,
                label=f"{row.label}, quad-io",
                pivot=PIVOT,
                sweeps=(),
            )
