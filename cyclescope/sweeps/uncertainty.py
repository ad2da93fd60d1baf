"""How far a result may be off because of undocumented values: `cyclescope run --uncertainty`.

A board gives a range for each assumed value, and may give one for a calibrated value, in which the
real part's value lies. Runs are made with values drawn for all of them at once, as a Latin
hypercube: each range is covered evenly, and ranges are independent of each other. The reported
interval contains nine tenths of the runs' numbers. It does not cover what the model lacks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cyclescope._engine import Stop
from cyclescope.board import Board
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED, Parameter
from cyclescope.errors import UsageError
from cyclescope.sweeps.axes import Axis, Span
from cyclescope.sweeps.designs import LATIN, Design
from cyclescope.sweeps.effects import Effect, effects, is_significant
from cyclescope.sweeps.measures import Measure
from cyclescope.sweeps.planning import Plan
from cyclescope.sweeps.requests import Request, Runner
from cyclescope.sweeps.results import SweepResult
from cyclescope.sweeps.running import Ended
from cyclescope.sweeps.store import Store

PART = 0.9
"""The part of the runs whose numbers lie in an interval."""

# With fewer runs the ends of an interval would be single runs.
LEAST_SAMPLES = 10
# An effect that explains less of the variance is not reported.
_LEAST_PART = 0.05
_UNSETTLED = (ASSUMED, CALIBRATED)


@dataclass(frozen=True)
class Interval:
    """A number of a run with its interval; `effects` are its causes, the largest first.

    They are the effects that the runs distinguish from chance; there may be none.
    """

    measure: Measure
    nominal: int | float
    low: float
    high: float
    effects: tuple[Effect, ...]

    @property
    def is_sure(self) -> bool:
        """Whether it was equal in all runs."""
        return self.low == self.high == self.nominal

    @property
    def causes(self) -> tuple[Effect, ...]:
        """The effects that explain it, until they sum to all of the variance."""
        found: list[Effect] = []
        for effect in self.effects:
            if found and math.fsum(one.first for one in (*found, effect)) > 1:
                break
            found.append(effect)
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.measure.name,
            "unit": self.measure.unit,
            "value": self.nominal,
            "low": self.low,
            "high": self.high,
            "causes": [{"path": one.name, "part": round(one.first, 4)} for one in self.causes],
        }


@dataclass(frozen=True)
class Uncertainty:
    """The intervals of a run's numbers.

    `ranged` are the parameters that were drawn; `unranged` are undocumented as well, but the board
    gives no range for them: the intervals do not cover them. `failures` are the reasons of runs
    that failed.
    """

    samples: int
    ranged: tuple[Parameter, ...]
    unranged: tuple[Parameter, ...]
    intervals: tuple[Interval, ...]
    failures: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "samples": self.samples,
            "part": PART,
            "parameters": [path(one) for one in self.ranged],
            "without_range": [path(one) for one in self.unranged],
            "intervals": [one.to_dict() for one in self.intervals],
            "failures": list(self.failures),
        }


def unsettled(
    board: str, overrides: Mapping[str, OverrideValue]
) -> tuple[tuple[Parameter, ...], tuple[Parameter, ...]]:
    """The assumed and calibrated parameters of a board: with a range, and without one.

    Parameters that the user has set are left out.
    """
    found = [one for one in Board(board, overrides).parameters if one.basis in _UNSETTLED]
    ranged = tuple(one for one in found if len(set(one.plausible_values)) > 1)
    return ranged, tuple(one for one in found if len(set(one.plausible_values)) < 2)


@dataclass(frozen=True)
class Study:
    """The runs that intervals take: the program unchanged (`nominal`), and with values `drawn`."""

    nominal: Request
    drawn: Request
    planned_nominal: Plan
    planned: Plan
    ranged: tuple[Parameter, ...]
    unranged: tuple[Parameter, ...]

    def measure(self, runner: Runner, stop: Stop, store: Store | None, ended: Ended) -> Uncertainty:
        """The intervals of the program's numbers. Raises `UsageError` if the run itself fails."""
        nominal = self.nominal.run(self.planned_nominal, runner, stop, store, lambda *_: None)
        (row,) = nominal.rows
        if row.error is not None:
            raise UsageError(f"--uncertainty: the run itself fails: {row.error}")
        result = self.drawn.run(self.planned, runner, stop, store, ended)
        names = [name for name in _times(result) if name in row.values]
        return Uncertainty(
            len(result.rows),
            self.ranged,
            self.unranged,
            tuple(_interval(result, name, row.values[name]) for name in names),
            tuple(dict.fromkeys(one.error for one in result.failures if one.error)),
        )


def study(request: Request, samples: int) -> Study:
    """The checked runs for a program on its board: `samples` of them with values drawn.

    Raises `UsageError` if the board has nothing to draw, and all that `Request.plan` raises.
    """
    board = request.board
    assert board is not None
    ranged, unranged = unsettled(board, request.sets)
    if not ranged:
        raise UsageError(f"--uncertainty: {board} has no assumed or calibrated value with a range")
    drawn = replace(request, axes=tuple(map(axis, ranged)), design=Design(LATIN, samples))
    nominal = replace(request, axes=(Axis(path(ranged[0]), (ranged[0].value,)),))
    return Study(nominal, drawn, nominal.plan(), drawn.plan(), ranged, unranged)


def _times(result: SweepResult) -> list[str]:
    """The numbers that depend on time: printed metrics, sections, cores' cycles."""
    others = (".calls", ".instructions")
    return [name for name in result.measures if ".stack." not in name and not name.endswith(others)]


def _interval(result: SweepResult, name: str, nominal: int | float) -> Interval:
    values = sorted(value for row in result.rows if (value := row.value(name)) is not None)
    rest = (1 - PART) / 2
    low, high = (quantile(values, part) for part in (rest, 1 - rest))
    found = [one for one in effects(result, name).effects if one.first >= _LEAST_PART]
    causes = tuple(one for one in found if _is_significant(result, name, one))
    known = result.measures[name]
    return Interval(known, nominal, min(low, nominal), max(high, nominal), causes)


def _is_significant(result: SweepResult, name: str, effect: Effect) -> bool:
    """Whether the runs distinguish the effect of one of all parameters from chance."""
    pairs = [
        (row.settings[effect.name], value)
        for row in result.rows
        if (value := row.value(name)) is not None
    ]
    settings, values = zip(*pairs, strict=True)
    return is_significant(settings, values, len(result.axes))


def quantile(values: Sequence[float], part: float) -> float:
    """The value below which this part of the values lies, interpolated between neighbours."""
    if not values:
        return math.nan
    place = part * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def axis(parameter: Parameter) -> Axis:
    """All values of a parameter that the board calls plausible."""
    values = parameter.plausible_values
    if parameter.is_span:
        return Axis(path(parameter), (), Span(min(values), max(values)))
    return Axis(path(parameter), tuple(map(str, sorted(values))))


def path(parameter: Parameter) -> str:
    """A parameter's path as `--set` takes it: with its node's label, if it has one."""
    return f"{parameter.owner}.{parameter.property_name}"
