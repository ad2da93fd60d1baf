"""PicoSoC running from its SPI flash in place, compared with its RTL to the cycle.

The "published" numbers are counts of an RTL simulation of the same ELFs: the only acceptable error
is 0.
"""

from collections.abc import Sequence

from cyclescope.bench import published
from cyclescope.bench.experiment import Cell, Experiment, Omission, Run
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot, Sweep
from cyclescope.board.results import Settings, Value
from cyclescope.experiments import moments
from cyclescope.experiments.answers import times

BOARDS = ("picosoc-hx8k", "picosoc-icebreaker")
KERNELS = "picosoc_kernels"
FLASH_BENCH = "picosoc_flash_bench"
TABLE = "picosoc_rtl"
_FILE = ("program", "opt", "isa", "code_in", "compiler")


def _kernel(configuration: dict[str, Value]) -> Run:
    """A run of one ELF on one configuration of the SoC, through all flash modes."""
    soc = configuration["soc"]
    settings = {name: configuration[name] for name in _FILE}
    return Run(KERNELS, f"picosoc-{soc}", settings, documented=True, where={"soc": soc})


def _answer(rows: Sequence[Row]) -> str:
    counts = [row for row in rows if row.published is not None]
    bench = [row for row in rows if row.run.app == FLASH_BENCH and row.board == BOARDS[0]]
    single = next((row for row in bench if row.settings["flash_mode"] == "single"), None)
    if not counts or single is None:
        return ""
    fast = min(bench, key=lambda row: row.simulated)
    return (
        f"{sum(row.is_exact for row in counts):,} of {len(counts):,} cycle counts are the RTL's "
        f"to the cycle, and code from flash in {fast.settings['flash_mode']} mode is "
        f"{times(single.simulated, fast.simulated)} times as fast as in single mode."
    )


def _all_settings(settings: Settings) -> str:
    """Each count of the RTL is a number of its own."""
    return " ".join(f"{name}={value}" for name, value in settings.items())


EXPERIMENT = Experiment(
    name="picosoc-xip",
    title="PicoSoC from SPI flash in place, against its RTL",
    moments=(moments.PICOSOC,),
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
            counts_as=_all_settings,
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
        "checksums are compared too: a run with a different one has failed.",
        "Each run goes through all 19 flash modes; the RTL's counts of some are not in the table.",
    ),
    # What is left out moves none of the counts.
    left_out=(
        Omission(
            what="flashes of the boards",
            why="the RTL's benches and the simulated boards have a flash that takes the S25FL-L "
            "family's commands; a board's own may need other commands before its fast modes",
            effect_pct=0,
            cells="none of the counts; set-up of fast modes on a board",
            estimate="the RTL ran the same set-up against its flash model",
        ),
        Omission(
            what="wires between FPGA and flash",
            why="a level that is late at a fast clock would be read incorrectly; the RTL has no "
            "delays",
            effect_pct=0,
            cells="none of the counts",
            estimate="12 MHz leave half a period of 42 ns",
        ),
    ),
    question="How many cycles does code that runs from SPI flash in place take, and can I rely on "
    "the simulated number to the last cycle?",
    answer=_answer,
)
