"""The result of a fit: values with intervals, cells before and after, what to be wary of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cyclescope import reprs
from cyclescope.fitting.crossing import HeldOut
from cyclescope.fitting.judging import NO_EFFECT, TOGETHER, WEAK, Judgement, Untold
from cyclescope.fitting.parameters import words
from cyclescope.units import count

# At most one parameter for so many independent cells, as for the boards that are shipped.
CELLS_A_PARAMETER = 4


@dataclass(frozen=True)
class FittedCell:
    """A cell with what the board gave as it was, and what it gives with the fitted values.

    `is_fitted` says that it was fitted to; others only tell how good that is.
    """

    label: str
    metric: str
    measured: float
    before: float
    after: float
    is_fitted: bool

    @property
    def before_pct(self) -> float:
        """The deviation of the board as it was, in percent of the measured value."""
        return (self.before / self.measured - 1) * 100

    @property
    def after_pct(self) -> float:
        """The deviation with the fitted values, in percent of the measured value."""
        return (self.after / self.measured - 1) * 100


@dataclass(frozen=True)
class FitResult:
    """What a fit found.

    `parameters` have their values with what they may be; `untold` are those that cells can't tell
    apart, `alike` pairs that they hardly can. `cross_validated` is the hold-out error of the cells
    that were fitted to, `others` the error of those that were not. `independent` counts the
    different numbers among the cells that were fitted to. `elsewhere` is where a search from the
    other side of the ranges has ended, if its cells come out as well.
    """

    target: str
    board: str
    table: str
    parameters: tuple[Judgement, ...]
    cells: tuple[FittedCell, ...]
    untold: tuple[Untold, ...]
    alike: tuple[tuple[str, str, float], ...]
    cross_validated: HeldOut | None
    others: HeldOut | None
    independent: int
    elsewhere: tuple[int, ...] | None
    prior: float | None
    runs: int

    def __repr__(self) -> str:
        """The fitted values; `to_dict()` has all."""
        return reprs.short(
            self,
            target=self.target,
            board=self.board,
            table=self.table,
            values=self.values,
            cells=len(self.cells),
            runs=self.runs,
        )

    @property
    def fitted(self) -> tuple[FittedCell, ...]:
        """The cells that were fitted to."""
        return tuple(cell for cell in self.cells if cell.is_fitted)

    @property
    def values(self) -> dict[str, int]:
        """The fitted values by path; without those that no cell depends on."""
        return {one.free.path: one.value for one in self.parameters if one.told != NO_EFFECT}

    @property
    def warnings(self) -> list[str]:
        """What the values are worth less for, a line each."""
        return list(self._warnings())

    def _warnings(self) -> Iterator[str]:
        most = self.independent // CELLS_A_PARAMETER
        if len(self.parameters) > most:
            free = count(len(self.parameters), "parameter")
            cells = count(self.independent, "independent cell")
            yield (
                f"{free} for {cells}: more than the data carry: at most one for {CELLS_A_PARAMETER}"
            )
        for one in self.parameters:
            if one.told == NO_EFFECT:
                yield f"{one.free.path}: no cell depends on it: its value stays as it is"
            elif one.told == WEAK:
                yield f"{one.free.path}: hardly told by these cells: {possible(one)} will do"
        for group in self.untold:
            yield group.words
        for first, second, cosine in self.alike:
            yield f"{first} and {second} move the cells almost alike (cosine {cosine:.3f})"
        for one in self.parameters:
            if one.told not in (NO_EFFECT, WEAK, TOGETHER) and _is_at_end(one):
                yield f"{one.free.path}: {one.value} is an end of its bounds, {one.free.bounds}"
        if self.elsewhere is not None:
            told = ", ".join(map(str, self.elsewhere))
            yield f"another search ended at {told}, where the cells come out as well"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "target": self.target,
            "board": self.board,
            "table": self.table,
            "prior": self.prior,
            "runs": self.runs,
            "independent": self.independent,
            "parameters": [_parameter(one) for one in self.parameters],
            "cells": [
                {
                    "label": cell.label,
                    "metric": cell.metric,
                    "measured": cell.measured,
                    "before": cell.before,
                    "after": cell.after,
                    "fitted": cell.is_fitted,
                }
                for cell in self.cells
            ],
            "untold": [
                {
                    "paths": list(group.paths),
                    "combinations": group.combinations,
                    "weights": list(group.weights),
                }
                for group in self.untold
            ],
            "alike": [
                {"paths": [first, second], "cosine": cosine} for first, second, cosine in self.alike
            ],
            "cross_validated": _error(self.cross_validated),
            "others": _error(self.others),
            "warnings": self.warnings,
        }


def possible(one: Judgement) -> str:
    """What a parameter may be, in words: its interval, or alternatives."""
    span = tuple(dict.fromkeys(one.possible))
    return words(span, one.free.is_span)


def _is_at_end(one: Judgement) -> bool:
    values = one.free.values
    return one.free.is_span and one.value in (values[0], values[-1])


def _parameter(one: Judgement) -> dict[str, Any]:
    parameter = one.free.parameter
    return {
        "path": one.free.path,
        "node": parameter.node,
        "property": parameter.property_name,
        "unit": parameter.unit,
        "basis": parameter.basis,
        "bounds": one.free.bounds,
        "before": one.free.board_value,
        "value": one.value,
        "possible": list(dict.fromkeys(one.possible)),
        "told": one.told,
    }


def _error(found: HeldOut | None) -> dict[str, Any] | None:
    return None if found is None else vars(found)
