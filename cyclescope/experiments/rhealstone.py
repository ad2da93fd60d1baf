"""FreeRTOS running from QSPI flash in place: an application note's Rhealstone benchmark.

Each run is one operation, once or many times, with the code in one memory and the caches and the
MMU on or off. The note compares three memories, and the flash at several clocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot, Sweep, Words
from cyclescope.board.results import Settings
from cyclescope.experiments import (
    moments,
    rhealstone_basis,
    rhealstone_clocks,
    rhealstone_pins,
    rhealstone_ratios,
    rhealstone_size,
    rhealstone_widths,
)
from cyclescope.experiments.rhealstone_clocks import HIT
from cyclescope.experiments.rhealstone_ratios import (
    DIVIDER,
    MANY,
    OTHER_OPERATIONS,
    PUBLISHED_OPERATIONS,
    TABLE,
)

BOARD = "sama5d2-xplained"
APP = "rhealstone"
LIMIT = "1000s"
# The note's names.
MEMORIES = {"qspi": "QSPI", "ddr": "DDR3L", "sram": "SRAM"}


def _run(operation: str, memory: str, cache: str, loops: int) -> Run:
    """An operation as the note measures it."""
    settings: Settings = {
        "operation": operation,
        "memory": memory,
        "cache": cache,
        "loops": loops,
        "spck_divider": DIVIDER,
        "tick": "on",
    }
    return Run(
        APP,
        BOARD,
        settings,
        documented=True,
        limit=LIMIT,
        where={
            "kind": "table-4-1",
            "benchmark": operation,
            "memory": MEMORIES[memory],
            "cache_mmu": cache == "on",
        },
    )


def _runs() -> Iterator[Run]:
    """The runs in the order of tables."""
    for operations, many in ((PUBLISHED_OPERATIONS, MANY), (OTHER_OPERATIONS, HIT)):
        places = itertools.product(("on", "off"), operations, (1, many), MEMORIES)
        for cache, operation, loops, memory in places:
            yield _run(operation, memory, cache, loops)
    # Without the tick, a single loop is also free of ticks with a slow flash clock.
    for tick in ("off", "on"):
        for cache, loops, divider, is_extra in rhealstone_clocks.places(tick):
            for operation in PUBLISHED_OPERATIONS:
                run = _run(operation, "qspi", cache, loops)
                yield replace(
                    run.changed({"spck_divider": divider, "tick": tick}),
                    documented=False,
                    is_extra=is_extra,
                )
    for settings in rhealstone_widths.places():
        run = _run(rhealstone_widths.OPERATION, "qspi", settings["cache"], 1)
        yield replace(run.changed(settings), documented=False)
    for settings in rhealstone_pins.places():
        run = _run(settings["operation"], "qspi", "on", 1).changed(settings)
        yield replace(run, documented=False, frame_on=rhealstone_pins.TRIGGER)


def _derived(rows: Sequence[Row]) -> Iterator[Row]:
    yield from rhealstone_ratios.rows(rows)
    yield from rhealstone_clocks.rows(rows)
    yield from rhealstone_widths.rows(rows)
    yield from rhealstone_size.rows(rows)


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    yield from rhealstone_ratios.findings(rows)
    yield from rhealstone_clocks.findings(rows)


_WORDS = (
    Words("memory", "code in", tuple(MEMORIES.items())),
    Words("cache", "caches and MMU"),
    rhealstone_clocks.WORDS,
)
_LINES = ("cache", "operation", "loops")
_AT_THE_NOTES_CLOCK = (("tick", ("on",)), ("spck_divider", (DIVIDER,)))


def _memories(figure: str, loops: int) -> Sweep:
    """Operations by memory, a plot each, after the note's figures 4-4 to 4-6."""
    return Sweep(
        title=f"{figure}, {loops} {'loop' if loops == 1 else 'loops'}, by memory",
        x="memory",
        x_title="memory with the code",
        line="cache",
        y_title="core cycles",
        each="operation",
        published="published",
        log=True,
        words=(*_WORDS[:1], Words("cache", "", (("on", "caches on"), ("off", "caches off")))),
        where=(("operation", PUBLISHED_OPERATIONS), *_AT_THE_NOTES_CLOCK, ("loops", (loops,))),
        order=1,
    )


NOTES = (
    "The note's program is not published, and it runs FreeRTOS 8.2.3. Here the same operations, "
    "written from its description, run on 11.2, built and configured as the demonstration that the "
    "note started from; interrupts, yields and supervisor calls are those of that time's port.",
    "The note's caches are on without branch prediction, as in Atmel's software package of its "
    "time, which sets SCTLR.M, C and I, and never Z.",
    "The note does not say where data are, nor what triggers interrupts. Here data are in SRAM, or "
    "with the code in DDR3L; the program sets the interrupt pending in the controller.",
    "Cells that are printed as 2E+05 have one digit: all numbers that would be printed so agree.",
    "Operations that the note leaves out run beside its own; no number of them was published.",
)

EXPERIMENT = Experiment(
    name="rhealstone",
    title="FreeRTOS from QSPI flash, SRAM and DDR3L: Rhealstone on a SAMA5D2",
    moments=(moments.RHEALSTONE,),
    published=TABLE,
    runs=tuple(_runs()),
    cells=(
        Cell(
            APP,
            metric="cycles",
            label="{operation} {memory} caches {cache} {loops}",
            key="cycles",
            rounded=("cycles_low_precision", 1),
            match=("loops",),
            counts_as=rhealstone_basis.counts_as,
            pivots=(
                Pivot(
                    "Table 4-1: core cycles an operation",
                    _LINES,
                    ("memory",),
                    values=True,
                    words=_WORDS,
                    where=(
                        ("operation", PUBLISHED_OPERATIONS),
                        *_AT_THE_NOTES_CLOCK,
                        ("loops", (1, MANY)),
                    ),
                ),
                Pivot(
                    "The other three operations: core cycles",
                    _LINES,
                    ("memory",),
                    values=True,
                    words=_WORDS,
                    where=(("operation", OTHER_OPERATIONS),),
                ),
                rhealstone_widths.PIVOT,
                Pivot(
                    "Core cycles by the flash's clock",
                    ("cache", "tick", "loops", "operation"),
                    ("spck_divider",),
                    values=True,
                    words=_WORDS,
                ),
            ),
            sweeps=(
                *rhealstone_clocks.sweeps(),
                _memories("Figures 4-4 to 4-6", 1),
                _memories("Figures 4-4 to 4-6", MANY),
            ),
        ),
    ),
    quick={"loops": 100},
    notes=NOTES,
    choices=rhealstone_basis.CHOICES,
    left_out=rhealstone_basis.LEFT_OUT,
    short_form=rhealstone_basis.short_form,
    derived=_derived,
    derived_pivots={
        **rhealstone_ratios.PIVOTS,
        **rhealstone_clocks.PIVOTS,
        **rhealstone_widths.PIVOTS,
        **rhealstone_size.PIVOTS,
    },
    findings=_findings,
    frames=rhealstone_pins.FRAMES,
    question="Can FreeRTOS run from QSPI flash in place, or do I need DDR or SRAM for its code?",
    answer=rhealstone_ratios.answer,
)
