"""PicoSoC running from its SPI flash in place, beside what its RTL took, to the cycle.

The "published" numbers are counts of an RTL simulation of the same ELFs: the only good error is 0.
"""

from cyclescope import published
from cyclescope.experiment import Cell, Experiment, Run
from cyclescope.results import Value
from cyclescope.views import Pivot, Sweep

BOARDS = ("picosoc-hx8k", "picosoc-icebreaker")
KERNELS = "picosoc_kernels"
FLASH_BENCH = "picosoc_flash_bench"
TABLE = "picosoc_rtl"
_FILE = ("program", "opt", "isa", "code_in", "compiler")


def _kernel(configuration: dict[str, Value]) -> Run:
    """A run of one ELF on one set-up of the SoC; it goes through all flash modes."""
    soc = configuration["soc"]
    settings = {name: configuration[name] for name in _FILE}
    return Run(KERNELS, f"picosoc-{soc}", settings, documented=True, where={"soc": soc})


EXPERIMENT = Experiment(
    name="picosoc-xip",
    title="PicoSoC from SPI flash in place, against its RTL",
    published=TABLE,
    runs=(
        *map(_kernel, published.load(TABLE).distinct(("soc", *_FILE))),
        *(Run(FLASH_BENCH, board, {}, limit="60s") for board in BOARDS),
    ),
    cells=(
        Cell(
            KERNELS,
            metric="cycles",
            label="{program} {flash_mode}",
            key="cycles",
            match=(*_FILE, "mode_index"),
            exact=("instret", "checksum"),
            pivots=(Pivot("Kernels, cycle for cycle", ("board", "program"), ("flash_mode",)),),
        ),
        Cell(
            FLASH_BENCH,
            metric="cycles",
            label="flash bench {flash_mode}",
            pivots=(
                Pivot("A mix of code from flash, cycles", ("board", "flash_mode"), ("dummy",)),
            ),
            sweeps=(
                Sweep(
                    title="Speed by flash mode and dummy clocks",
                    x="dummy",
                    x_title="dummy clocks",
                    line="flash_mode",
                    y_title="times as fast as single mode",
                    reference=("flash_mode", "single"),
                ),
            ),
        ),
    ),
    notes=(
        "The published numbers are the RTL's own, of the same ELFs. Instruction counts and "
        "checksums are compared too: a run in which one differs has failed.",
        "Each run goes through all 19 flash modes; the RTL's counts of some are not in the table.",
    ),
)
