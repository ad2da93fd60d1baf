"""The blocks of pages, by the names in their markers: tables, and fenced text.

    bench-plan          the output of `cyclescope bench` before its runs, with empty caches
    bench-screen        the last screen of `cyclescope bench`; `...` for what depends on the host
    show EXPERIMENT N   the first N lines of `cyclescope show EXPERIMENT`
    speeds              README's table of docs/speed.json
    speed-lines         the output of `make speed`

The others are in `tables`, `bases`, `suite_blocks` and `fit_blocks`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence

import bases
import fit_blocks
import keys
import plan_block
import suite_blocks
import tables
from keys import Source, UnknownKeyError
from rich.console import Console, Group

from cyclescope.cli.tables import bench_summary
from cyclescope.cli.tables import experiment as screens
from cyclescope.cli.tables.bench_summary import Took

_COLUMNS = 100
_SHOW_COLUMNS = 140
_HOST_S = re.compile(r" 0\.0$", re.MULTILINE)
_TOOK = re.compile(r"^\S+ billion instructions in .*$", re.MULTILINE)

# The README's words for a program on a board, and the names of its speeds.
_SPEEDS = (
    ("CoreMark-like on RISC-V with caches (`kc705-axi-quad-spi`)", "riscv_mips", "riscv_qemu_mips"),
    ("CoreMark-like on a Cortex-A5 (`sama5d2-xplained`)", "arm_mips", "arm_qemu_mips"),
    ("CoreMark-like on a Cortex-A7 (`stm32mp157c-dk2`)", "a7_mips", "a7_qemu_mips"),
    ("CoreMark-like on a Cortex-M4 (`minimal-armv7m`)", "m4_mips", "m4_qemu_mips"),
    ("CoreMark-like on MIPS (`ben-nanonote`)", "mips_mips", "mips_qemu_mips"),
    ("CoreMark-like on RISC-V, caches off (`kc705-axi-quad-spi`)", "riscv_uncached_mips .1f", None),
    (
        "CoreMark-like on PicoSoC, from SPI flash (`picosoc-icebreaker`)",
        "picosoc_mips .1f",
        None,
    ),
)


def text(source: Source, words: str) -> str:
    """The text of a block's marker. Raises `UnknownKeyError`, with similar names."""
    name, *rest = words.split()
    if name not in BLOCKS:
        raise UnknownKeyError(f"no table {name!r}; there are {', '.join(BLOCKS)}")
    return BLOCKS[name](source, rest)


def fenced(found: str) -> str:
    """A text, unchanged."""
    return f"```\n{found}\n```"


def bench_screen(source: Source, words: Sequence[str]) -> str:
    """The last lines of a bench's output."""
    results = list(source.results.experiments.values())
    shown = "\n".join(_screen(bench_summary.screen(results, None, Took(0)), _COLUMNS))
    shown = _TOOK.sub("...", _HOST_S.sub(" ...", shown))
    last = "Report: results/report.html (opens offline). Full tables: cyclescope show [EXPERIMENT]"
    return fenced(f"{shown}\n{last}")


def show(source: Source, words: Sequence[str]) -> str:
    """The first lines of an experiment's full table."""
    if len(words) != 2 or not words[1].isdigit():
        raise UnknownKeyError("expected EXPERIMENT N")
    result = tables.experiment(source, words[0])
    lines = _screen(screens.experiment_table(result), _SHOW_COLUMNS)[: int(words[1])]
    return fenced("\n".join([f"$ cyclescope show {result.name}", *lines, "..."]))


def _screen(shown: Group, columns: int) -> list[str]:
    """The lines that a terminal of `columns` columns shows."""
    written = io.StringIO()
    console = Console(file=written, width=columns, color_system=None, legacy_windows=False)
    console.print(shown)
    return [line.rstrip() for line in written.getvalue().strip("\n").split("\n")]


def speeds(source: Source, words: Sequence[str]) -> str:
    """Millions of instructions a second, and QEMU's, for all boards or the named ones."""
    lines = [
        (what, *(keys.text(source, f"speed | {name}") if name else "" for name in named))
        for what, *named in _SPEEDS
        if not words or any(f"`{board}`" in what for board in words)
    ]
    headings = ("program, millions of instructions a second", "Cyclescope", "QEMU, no timing")
    return tables.table(headings, lines)


def speed_lines(source: Source, words: Sequence[str]) -> str:
    """The output of `make speed`."""
    return fenced("\n".join(source.speeds["printed"]))


BLOCKS: Mapping[str, Callable[[Source, Sequence[str]], str]] = {
    "experiments": tables.experiments,
    "rows": tables.rows,
    "grid": tables.grid,
    "calibrated": bases.calibrated,
    "assumed": bases.assumed,
    "influence": bases.strongest,
    "left-out": bases.left_out,
    "coverage": bases.coverage,
    "bench-plan": plan_block.bench_plan,
    "bench-screen": bench_screen,
    "show": show,
    "speeds": speeds,
    "speed-lines": speed_lines,
    "suite": suite_blocks.numbers,
    "suite-classes": suite_blocks.classes,
    "fits": fit_blocks.fits,
}
