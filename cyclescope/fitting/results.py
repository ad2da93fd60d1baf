"""The result of a fit: values with intervals, cells before and after, and warnings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cyclescope import reprs
from cyclescope.fitting.crossing import HeldOut
from cyclescope.fitting.judging import NO_EFFECT, TOGETHER, WEAK, Judgement, Undetermined
from cyclescope.fitting.parameters import words
from cyclescope.units import count

# Independent cells for each free parameter, at least; the shipped boards keep to it, too.
CELLS_A_PARAMETER = 4


@dataclass(frozen=True)
class FittedCell:
    """A cell with its number on the board before the fit, and with the fitted values.

    `is_fitted` says that the fit used it; the other cells only show how well the fit predicts.
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
    """The values that a fit found.

    `parameters` have their values with intervals; `untold` are groups of parameters that cells
    can't distinguish, `alike` pairs that they hardly distinguish. `cross_validated` is the hold-out
    error of the fitted cells, `others` the error of the cells that were not fitted. `independent`
    counts the distinct numbers among the fitted cells. `elsewhere` is where a search from the other
    end of the ranges ended, if its cells fit as well.
    """

    target: str
    board: str
    table: str
    parameters: tuple[Judgement, ...]
    cells: tuple[FittedCell, ...]
    untold: tuple[Undetermined, ...]
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
        """The cells that the fit used."""
        return tuple(cell for cell in self.cells if cell.is_fitted)

    @property
    def values(self) -> dict[str, int]:
        """The fitted values by path, without parameters that no cell depends on."""
        return {one.free.path: one.value for one in self.parameters if one.told != NO_EFFECT}

    @property
    def warnings(self) -> list[str]:
        """Reasons to trust the values less, one a line."""
        return list(self._warnings())

    def _warnings(self) -> Iterator[str]:
        most = self.independent // CELLS_A_PARAMETER
        if len(self.parameters) > most:
            free = count(len(self.parameters), "parameter")
            cells = count(self.independent, "independent cell")
            yield (
                f"{free} for {cells}: too many to determine: at most one for {CELLS_A_PARAMETER}"
            )
        for one in self.parameters:
            if one.told == NO_EFFECT:
                yield f"{one.free.path}: no cell depends on it: its value stays as it is"
            elif one.told == WEAK:
                yield f"{one.free.path}: hardly determined by these cells: {possible(one)} will do"
        for group in self.untold:
            yield group.words
        for first, second, cosine in self.alike:
            yield f"{first} and {second} affect the cells almost equally (cosine {cosine:.3f})"
        for one in self.parameters:
            if one.told not in (NO_EFFECT, WEAK, TOGETHER) and _is_at_end(one):
                yield f"{one.free.path}: {one.value} is an end of its bounds, {one.free.bounds}"
        if self.elsewhere is not None:
            end = ", ".join(map(str, self.elsewhere))
            yield f"another search ended at {end}, where the cells fit as well"

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
    """The possible values of a parameter, in words: its interval, or alternatives."""
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
