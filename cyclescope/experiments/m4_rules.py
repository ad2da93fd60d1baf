"""Short sequences of instructions on a Cortex-M4, beside its manual's and measured cycles.

The "published" numbers are sums by hand of those: the only acceptable error is 0.
"""

from collections.abc import Sequence

from cyclescope.bench.experiment import Cell, Experiment, Omission, Run
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot
from cyclescope.board.results import Settings

APP = "m4_rules"
BOARD = "minimal-armv7m"
TABLE = "m4_rules"


def _answer(rows: Sequence[Row]) -> str:
    known = [row for row in rows if row.published is not None]
    if not known:
        return ""
    exact = sum(row.simulated == row.published for row in known)
    return (
        f"{exact} of {len(known)} sequences take as many cycles as the manual or a measurement "
        "says; of the others here the manual gives a range."
    )


def _none(settings: Settings) -> str | None:
    """They are sums of the core's parameters: no sum says more than those do."""
    return None


EXPERIMENT = Experiment(
    name="m4-rules",
    title="Instruction timing of a Cortex-M4, sequence by sequence",
    published=TABLE,
    runs=(Run(APP, BOARD, {}, documented=True),),
    cells=(
        Cell(
            APP,
            metric="cycles",
            label="{sequence}",
            key="cycles",
            measured={"sequence": "sequence"},
            pivots=(Pivot("Cycles of a sequence", ("sequence",), ("board",)),),
            counts_as=_none,
        ),
    ),
    notes=(
        "The expected cycles are sums by hand: published/m4_rules.csv has each sum, the sequence "
        "and the sources of its parts.",
        "Memory has no wait states here, and nothing but the core accesses it.",
    ),
    left_out=(
        Omission(
            what="stores to unaligned addresses without a memory access after them",
            why="the write buffer hides their further accesses; here the core waits for them",
            effect_pct=0,
            cells="no published one: a row of such stores is what was measured",
            estimate="a cycle or two a store",
        ),
        Omission(
            what="mixed runs of instructions of four bytes across words",
            why="loads, stores and others in one run were seen to wait more than once",
            effect_pct=0,
            cells="no published one",
            estimate="a cycle a run",
        ),
    ),
    question="How many cycles does a sequence of instructions take on a Cortex-M4, and does the "
    "model know the rules that the manual does not spell out?",
    answer=_answer,
)
