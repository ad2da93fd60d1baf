"""Short sequences of instructions on a Cortex-M4, beside its manual's and measured cycles.

The "published" numbers are sums by hand of those: the only acceptable error is 0.
"""

from cyclescope.bench.experiment import Experiment, Omission, Run
from cyclescope.experiments import rules

APP = "m4_rules"
BOARD = "minimal-armv7m"
TABLE = "m4_rules"


EXPERIMENT = Experiment(
    name="m4-rules",
    title="Instruction timing of a Cortex-M4, sequence by sequence",
    published=TABLE,
    runs=(Run(APP, BOARD, {}, documented=True),),
    cells=(rules.cell(APP, label="{sequence}", measured=("sequence",)),),
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
    answer=rules.answers(
        "the manual or a measurement says; of the others here the manual gives a range."
    ),
)
