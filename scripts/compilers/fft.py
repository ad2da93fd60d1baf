"""FFTs and an FIR filter of CMSIS-DSP on an STM32F4 Discovery, in core cycles.

The user supplies the library: its sources, which GCC builds with a program of ours, and an ELF file
of github.com/PY1CX/Cortex-M-FFT, which contains it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import gcc

from cyclescope.bench import published
from cyclescope.bench.rows import PREDICTED, UNPUBLISHED, Row, RunRecord
from cyclescope.board import Board
from cyclescope.board.results import RunResult, Settings, Value
from cyclescope.errors import FirmwareError, UsageError

EXPERIMENT = "cmsis-dsp"
"""The experiment of the rows."""

BOARD = "stm32f4-disco"
TABLE = "cortex_m_fft"
PROGRAM = Path(__file__).parents[2] / "tests" / "firmware" / "arm_gcc"
SOURCES = (
    "TransformFunctions/arm_cfft_f32.c",
    "TransformFunctions/arm_cfft_init_f32.c",
    "TransformFunctions/arm_cfft_radix8_f32.c",
    "TransformFunctions/arm_bitreversal2.c",
    "FilteringFunctions/arm_fir_f32.c",
    "FilteringFunctions/arm_fir_init_f32.c",
    "CommonTables/arm_common_tables.c",
    "CommonTables/arm_const_structs.c",
)
# The crystal of the ELF's board.
HSE_HZ = 25_000_000
# In their ELF, the counted function, and the function that is called at the ends of periods: at the
# timer's start, and two seconds later.
TRANSFORM, PERIOD = "arm_cfft_f32", "HAL_TIM_PeriodElapsedCallback"
LIMIT = "2.1s"
POINTS = 1024

_VERSION = re.compile(r"^\s*\* @version\s+V([\d.]+)", re.MULTILINE)
_LINE = re.compile(r"^(?:fft (\d+)|fir): .*, (\d+) cycles$", re.MULTILINE)


def of_library(library: Path, version: str) -> list[Row]:
    """FFTs and the filter from the library's sources; `version` is GCC's.

    Raises `UsageError` if the folder is not the library's, `FirmwareError` if nothing is built or
    it does not run.
    """
    common: dict[str, Value] = {"library": version_of(library), "gcc": version, "optimise": "O2"}
    console = run_of(library).console
    return [
        _row(f"fft {points}", common | {"points": int(points)}, int(cycles), int(points))
        if points
        else _row("fir", common, int(cycles), 0)
        for points, cycles in _LINE.findall(console)
    ]


def version_of(library: Path) -> str:
    """The library's version. Raises `UsageError` if there is no library."""
    header = library / "Include" / "arm_math.h"
    try:
        found = _VERSION.search(header.read_text("utf-8", "replace"))
    except OSError as error:
        raise UsageError(
            f"{header}: {error.strerror}: the folder is to be that of CMSIS-DSP, with Include, "
            "PrivateInclude and Source"
        ) from error
    if found is None:
        raise UsageError(f"{header}: no @version in it")
    return found[1]


def run_of(library: Path) -> RunResult:
    """Build the program of ours with the library, and run it."""
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder) / "fft.elf"
        gcc.run(arguments(library.resolve()), elf)
        result = Board(BOARD).load(elf).run("2s")
    if result.exit_code != 0 or len(_LINE.findall(result.console)) != 4:
        raise FirmwareError(f"CMSIS-DSP: it ended with {result.outcome}: {result.console}")
    return result


def arguments(library: Path) -> Iterator[str | Path]:
    """GCC's command line, without the output."""
    yield from (*gcc.CORTEX_M4, "-O2", "-g", "-D__GNUC_PYTHON__", "-DARM_MATH_LOOPUNROLL")
    yield from (f"-I{library / name}" for name in ("Include", "PrivateInclude"))
    yield from (PROGRAM / "stm32f407_start.c", PROGRAM / "stm32f407_dsp.c")
    yield from (library / "Source" / name for name in SOURCES)
    yield from ("--specs=nano.specs", "--specs=nosys.specs", "-u", "_printf_float")
    yield from ("-nostartfiles", "-T", PROGRAM / "stm32f407.ld")
    yield from ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections,--no-warnings", "-lm")


def of_elf(elf: Path) -> Row:
    """The result of their unchanged ELF file in one of its own periods.

    Raises `FirmwareError` if it has no whole period with FFTs.
    """
    board = Board(BOARD, {"hse.clock-frequency": HSE_HZ}).load(elf)
    windows = board.run(LIMIT, windows=[TRANSFORM, PERIOD]).windows
    ends = [window.begin_ps for window in windows if window.section == PERIOD]
    if len(ends) < 2:
        raise FirmwareError(f"{elf.name}: {PERIOD} was called {len(ends)} times in {LIMIT}")
    begin, end = ends[:2]
    begins = [window.begin_ps for window in windows if window.section == TRANSFORM]
    count = sum(begin <= at < end for at in begins)
    if not count:
        raise FirmwareError(f"{elf.name}: no {TRANSFORM} between two calls of {PERIOD}")
    common: dict[str, Value] = {"library": "as compiled", "points": POINTS}
    return _row(f"fft {POINTS} as compiled", common, round(_period() / count), POINTS)


def _period() -> int:
    return int(published.load(TABLE).source["period_cycles"])


def _row(label: str, settings: Settings, cycles: int, points: int) -> Row:
    counted = published.load(TABLE).find("transforms", {"points": points})
    known = None if counted is None else round(_period() / counted)
    basis = UNPUBLISHED if known is None else PREDICTED
    run = RunRecord(label, EXPERIMENT, BOARD, settings, None)
    return Row(EXPERIMENT, BOARD, settings, "cycles", "cycles", cycles, known, basis, label, run)
