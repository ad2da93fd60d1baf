"""The flash's clock in `rhealstone`: the note's figures 4-1 to 4-3, and its two claims in numbers.

The note says that performance is proportional to SPCK without caches and when they miss, and
independent of it when they hit. Its figures have no numbers in the text.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence

from cyclescope.bench.rows import UNPUBLISHED, Row
from cyclescope.bench.views import Pivot, Sweep, Words
from cyclescope.board.results import Settings, Value
from cyclescope.experiments.rhealstone_ratios import DIVIDER, MANY

# SPCK = MCK / divider: the note's 55.3 MHz among 83 to 20.75 MHz.
DIVIDERS = (2, DIVIDER, 4, 5, 6, 8)
# Many loops without ticks between them: what is loaded once counts for little.
HIT = 1000
# Many loops without caches that are still short: some 20 ticks.
UNCACHED = 300
# The figures: their names, caches, loops without tick, with tick, and a shorter form of the latter.
_FIGURES = (
    ("Figure 4-1: SPCK with caches off", "off", (1,), (1, UNCACHED, MANY)),
    ("Figure 4-2: SPCK when caches miss", "on", (1,), (1,)),
    ("Figure 4-3: SPCK when caches hit", "on", (HIT,), (MANY,)),
)
# With the tick, the dividers that the plain bench sweeps by caches and loops: each is a program of
# its own. Others need --all, as do long runs.
_PLAIN = {
    ("off", 1): (2, DIVIDER, 5, 8),
    ("off", UNCACHED): (2, DIVIDER, 5, 8),
    ("off", MANY): (DIVIDER,),
    ("on", 1): (2, DIVIDER, 8),
    ("on", MANY): (2, DIVIDER, 8),
}
# Fewer points are not a line.
_FEWEST = 3

_SLOPE = "slope of speed over SPCK"
_CORRELATION = "correlation of speed with SPCK"
_CLAIM = Pivot(
    "Speed of code in QSPI over SPCK: 1 is proportional, 0 independent",
    ("cache", "loops", "tick", "operation"),
    ("measure",),
    values=True,
    words=(
        Words("cache", "caches and MMU"),
        Words("measure", "of lines through the sweep"),
    ),
    digits=3,
)
# The tables of the rows that follow, by metric.
PIVOTS = {"spck_slope": _CLAIM, "spck_correlation": _CLAIM}

WORDS = Words("spck_divider", "SPCK", form="MCK / {}")
# The common settings of the rows of a sweep: of all of them, and of a line.
_SWEPT = {"memory": "qspi", "width": "quad-io", "continuous_read": "on"}
_ONE_LINE = ("operation", "cache", "loops", "tick")


def places(tick: str) -> Iterator[tuple[str, int, int, bool]]:
    """Caches, loops and divider of each point, and whether it is for larger sweeps only.

    With the tick, the points at the note's clock are table 4-1's, as far as that has them.
    """
    for _, cache, without, with_tick in _FIGURES:
        for loops in without if tick == "off" else with_tick:
            for divider in DIVIDERS:
                in_table = tick == "on" and divider == DIVIDER and loops in (1, MANY)
                if not in_table:
                    plain = DIVIDERS if tick == "off" else _PLAIN[cache, loops]
                    yield cache, loops, divider, divider not in plain


def sweeps() -> Iterator[Sweep]:
    """The figures: without the tick, then under the note's own conditions."""
    for title, cache, without, with_tick in _FIGURES:
        for tick, loops in itertools.chain(
            (("off", loops) for loops in without), (("on", loops) for loops in with_tick)
        ):
            counted = "1 loop" if loops == 1 else f"{loops} loops"
            yield Sweep(
                title=f"{title}, {counted}, tick {tick}",
                x="spck_divider",
                x_title="MCK / SPCK (MCK is 166 MHz)",
                line="operation",
                y_title="core cycles",
                log=True,
                words=(WORDS,),
                where=(
                    ("tick", (tick,)),
                    ("cache", (cache,)),
                    ("loops", (loops,)),
                    *((name, (value,)) for name, value in _SWEPT.items()),
                ),
            )


def rows(found: Sequence[Row]) -> Iterator[Row]:
    """The slope of speed over SPCK on logarithmic axes, and their correlation, for each line."""
    for line in _lines(found):
        settings = {name: line[0].settings[name] for name in _ONE_LINE}
        for metric, measure, value in (
            ("spck_slope", _SLOPE, _slope(line)),
            ("spck_correlation", _CORRELATION, _correlation(line)),
        ):
            yield line[0].following(
                settings=settings | {"measure": measure},
                metric=metric,
                unit="",
                simulated=round(value, 4),
                published=None,
                digits=None,
                basis=UNPUBLISHED,
                label=f"{_named(settings)}, {measure}",
                timed=(),
                pivot=_CLAIM,
                sweeps=(),
            )


def findings(found: Sequence[Row]) -> Iterator[str]:
    """The note's two claims on SPCK, with the numbers here."""
    lines = list(_lines(found))
    uncached = [line for line in lines if _is_uncached(line[0].settings)]
    misses = [line for line in lines if _is_miss(line[0].settings)]
    hits = [line for line in lines if _is_hit(line[0].settings)]
    for claim, chosen in (
        ("proportional to SPCK without caches", uncached),
        ("proportional to SPCK when caches miss", misses),
        ("independent of SPCK when caches hit", hits),
    ):
        if chosen:
            related = _range([_correlation(line) for line in chosen])
            correlation = f", with a correlation of {related}" if chosen is not hits else ""
            yield (
                f"The note has performance {claim}: here the slope of speed over SPCK on "
                f"logarithmic axes is {_range([_slope(line) for line in chosen])}{correlation}; 1 "
                f"is proportional, 0 independent."
            )


def _is_uncached(settings: Settings) -> bool:
    """Many loops, or one without the tick: with the tick, a single loop may contain one."""
    return settings["cache"] == "off" and (settings["loops"] != 1 or settings["tick"] == "off")


def _is_miss(settings: Settings) -> bool:
    return settings["cache"] == "on" and settings["loops"] == 1


def _is_hit(settings: Settings) -> bool:
    return settings["cache"] == "on" and settings["loops"] != 1


def _range(values: Sequence[float]) -> str:
    least, most = (f"{end:.2f}".replace("-0.00", "0.00") for end in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def _lines(found: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows of each sweep with enough points, by operation, caches, loops and tick."""
    by_line: dict[tuple[Value, ...], list[Row]] = {}
    for row in found:
        if row.metric == "cycles" and _SWEPT.items() <= row.settings.items():
            line = tuple(row.settings[name] for name in _ONE_LINE)
            by_line.setdefault(line, []).append(row)
    return (line for line in by_line.values() if len(line) >= _FEWEST)


def _points(line: Sequence[Row]) -> tuple[list[float], list[float]]:
    """SPCK in parts of MCK, and operations a cycle."""
    clocks = [1 / int(row.settings["spck_divider"]) for row in line]
    return clocks, [1 / row.simulated for row in line]


def _slope(line: Sequence[Row]) -> float:
    clocks, speeds = _points(line)
    return statistics.linear_regression([*map(math.log, clocks)], [*map(math.log, speeds)]).slope


def _correlation(line: Sequence[Row]) -> float:
    """Pearson's correlation; 0 if the speed is the same at all clocks."""
    clocks, speeds = _points(line)
    return statistics.correlation(clocks, speeds) if len(set(speeds)) > 1 else 0.0


def _named(settings: dict[str, Value]) -> str:
    tick = "" if settings["tick"] == "on" else ", tick off"
    return f"{settings['operation']} caches {settings['cache']} {settings['loops']}{tick}"
