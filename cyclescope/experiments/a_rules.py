"""Short sequences of instructions on a Cortex-A5 and an A7, beside documented and measured cycles.

The "published" numbers are sums by hand of those.
"""

from cyclescope.bench.experiment import Experiment, Omission, Run
from cyclescope.experiments import rules

APP = "a_rules"
# the core by board
BOARDS = {"sama5d2-xplained": "cortex-a5", "stm32mp157c-dk2": "cortex-a7"}
TABLE = "a_rules"

EXPERIMENT = Experiment(
    name="a-rules",
    title="Instruction timing of a Cortex-A5 and a Cortex-A7, sequence by sequence",
    published=TABLE,
    runs=tuple(
        Run(APP, board, {}, documented=True, where={"core": core}) for board, core in BOARDS.items()
    ),
    cells=(rules.cell(APP, label="{core} {sequence}", measured=("core", "sequence")),),
    notes=(
        "The expected cycles are sums by hand: published/a_rules.csv has each sum, the sequence "
        "and the sources of its parts.",
        "Code and data are in the first-level caches.",
    ),
    left_out=(
        Omission(
            what="a bypass from clz to clz on the Cortex-A7",
            why="clz to other arithmetic takes two cycles there, by GMP's gcd_11 and gcd_22; one "
            "latency a kind of producer is kept",
            effect_pct=88,
            cells="cortex-a7 clz",
            estimate="a cycle for a clz of a result of clz",
        ),
    ),
    question="How many cycles does a sequence of instructions take on a Cortex-A5 or A7, and how "
    "long does each kind of result take to each kind of operand?",
    answer=rules.answers("documents and measurements say."),
)
