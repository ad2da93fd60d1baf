"""The limits of the transceiver's wire, for `bitbang-spi`: SPI modes and clocks.

The report has no such measurement. The controller's clock is swept from far below what the
transceiver allows to far beyond it; pins are as fast as software, and have no clock to set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclescope.bench.experiment import Cell
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot, Sweep, Words

OPERATION = "limits"
# Answers of each mode and clock.
LOOPS = 10
# What the transceiver's datasheet allows.
GREATEST_KHZ = 7500

_WORDS = (
    Words("stack", "driver"),
    Words("sck_khz", "SCK", ((0, "by software"),), form="{} kHz"),
    Words("spi_mode", "mode", form="mode {}"),
)
_ANSWERS = Pivot(
    "Answers that are right, %, by SPI mode and clock",
    ("stack", "sck_khz"),
    ("spi_mode",),
    values=True,
    words=_WORDS,
    digits=4,
)
_BY_CLOCK = Sweep(
    title="Data rate of a buffer read of 120 B",
    x="sck_khz",
    x_title="SCK, kHz",
    line="stack",
    y_title="kbps",
    log=True,
    words=_WORDS,
)
_RATES = Pivot(
    "Data rate of a buffer read of 120 B by clock, kbps",
    ("stack",),
    ("sck_khz",),
    values=True,
    words=_WORDS,
    digits=4,
)


def cells(app: str) -> tuple[Cell, ...]:
    """The cells of the runs."""
    return (
        Cell(
            app,
            metric="right_answers",
            label="{stack} right answers in mode {spi_mode} at {sck_khz} kHz",
            pivots=(_ANSWERS,),
        ),
        Cell(
            app,
            metric="rate_at_clock",
            label="{stack} data rate at {sck_khz} kHz",
            pivots=(_RATES,),
            sweeps=(_BY_CLOCK,),
        ),
    )


def findings(rows: Sequence[Row]) -> Iterator[str]:
    """Which modes and clocks give right answers."""
    answers = [row for row in rows if row.metric == "right_answers"]
    for stack in dict.fromkeys(row.settings["stack"] for row in answers):
        own = [row for row in answers if row.settings["stack"] == stack]
        right = [row for row in own if row.simulated == 100]
        modes = sorted({str(row.settings["spi_mode"]) for row in right})
        if not modes:
            continue
        yield (
            f"With {stack} all answers are right in SPI mode {' and '.join(modes)}"
            f"{_reach(own, right)}."
        )


def _reach(own: Sequence[Row], right: Sequence[Row]) -> str:
    """Up to which clock, if the driver has one to set."""
    tried, reached = (max(_clocks_khz(rows)) for rows in (own, right))
    if not tried:
        return ""
    beyond = min((clock for clock in _clocks_khz(own) if clock > reached), default=None)
    end = "the fastest tried" if beyond is None else f"and not at {beyond / 1000:g} MHz"
    return (
        f" up to an SCK of {reached / 1000:g} MHz, {end}; the transceiver allows "
        f"{GREATEST_KHZ / 1000:g} MHz"
    )


def _clocks_khz(rows: Sequence[Row]) -> set[int]:
    return {int(row.settings["sck_khz"]) for row in rows}
