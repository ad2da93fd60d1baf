"""A sweep's settings, numbers and design in words, for terminals and pages."""

from __future__ import annotations

from collections.abc import Mapping

from cyclescope.board.results import Value
from cyclescope.comparing import directions
from cyclescope.sweeps import designs, measures
from cyclescope.sweeps.results import SweepResult, SweepRow
from cyclescope.units import count, parse_number

_UNITS = (("G", 10**9), ("M", 10**6), ("k", 10**3), ("Gi", 2**30), ("Mi", 2**20), ("K", 2**10))
# With more digits a shortened number is no shorter than the number itself.
_MOST_SHORT = 6


def value(setting: Value) -> str:
    """A setting's value in the usual notation: 40M, 32K, 1.5M; others unchanged."""
    if isinstance(setting, float):
        return f"{setting:.10g}"
    if isinstance(setting, bool) or not isinstance(setting, int) or setting < 1000:
        return str(setting)
    forms = [
        f"{setting / factor:.10g}{unit}"
        for unit, factor in _UNITS
        if setting >= factor and setting * 10 % factor == 0
    ]
    short = min(forms, key=len, default="")
    return short if short and len(short) <= _MOST_SHORT else str(setting)


def axis_value(text: str) -> str:
    """An axis's value in the same notation."""
    found = parse_number(text)
    return text if found is None else value(found)


def short(name: str) -> str:
    """A path without the vendor prefix of Cyclescope's own properties."""
    return name.replace("cyclescope,", "")


def settings(found: Mapping[str, Value], separator: str = " ") -> str:
    """Settings as the command line takes them: `cpu0.d-cache-size=4K app.loops=100`."""
    return separator.join(f"{short(name)}={value(one)}" for name, one in found.items())


def number(row: SweepRow, name: str) -> str:
    """A number of a row; empty if it has none."""
    found = row.values.get(name)
    if found is None:
        return ""
    return f"{found:,}" if isinstance(found, int) else f"{found:,.6g}"


def unit(result: SweepResult, name: str) -> str:
    """The unit of a metric; empty if it has none, or if no run has the metric."""
    measure = result.measures.get(name)
    return measure.unit if measure else ""


def with_unit(result: SweepResult, name: str) -> str:
    """A metric's name with its unit, unless the name contains it: `cycles`, `latency (ns)`."""
    known = unit(result, name)
    return name if not known or known == name or name.endswith(f"_{known}") else f"{name} ({known})"


def guess(result: SweepResult, name: str) -> str:
    """A note that the direction of a metric is assumed; empty if it is known."""
    measure = result.measures.get(name)
    if measure is None or measure.worse is not None:
        return ""
    shown = measures.plain(name)
    ways = " or ".join(f"{option} {shown}" for option in directions.OPTIONS.values())
    return f"less of {name} counts as better, as its unit does not say: {ways} states it"


def part(share: float, error: float | None = None) -> str:
    """A part of the variance in percent, with half of its interval if that is known."""
    return f"{share:.1%}" if error is None else f"{share:.1%} ± {error:.1%}"


def target(result: SweepResult) -> str:
    """What was swept, and the board if the user named one."""
    return f"{result.target} on {result.board}" if result.board else result.target


def design(result: SweepResult) -> str:
    """Which combinations were planned: "a grid of 3 x 4 values", "64 random points"."""
    size = result.design.size(result.axes)
    of_each, rest = divmod(result.planned, size) if size else (1, 0)
    points = _points(result)
    if of_each < 2 or rest:
        return points
    return f"{points}, each with {of_each:,} of the experiment's own settings"


def _points(result: SweepResult) -> str:
    how = result.design
    sizes = {axis.path: len(axis.values) for axis in result.axes}
    if how.kind == designs.GRID:
        later = {path for group in how.zips for path in group[1:]}
        values = [str(size) for path, size in sizes.items() if path not in later]
        noun = "value" if values == ["1"] else "values"
        together = [" and ".join(map(short, group)) for group in how.zips]
        grid = f"a grid of {' x '.join(values)} {noun}"
        return f"{grid}, where {', '.join(together)} advance together" if together else grid
    points = count(how.samples, "point")
    drawn = {
        designs.RANDOM: f"{points} drawn at random",
        designs.LATIN: f"a Latin hypercube of {points}",
        designs.SOBOL: f"Saltelli's points for Sobol's indices, {how.samples:,} x "
        f"{len(result.axes) + 2}",
    }
    return f"{drawn[how.kind]} (seed {how.seed})"
