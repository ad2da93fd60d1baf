"""Cross-validation: how well a fit predicts cells that it has not seen.

Cells are dealt into folds; cells of one number stay together. For each fold, the board is fitted to
all other cells, from the board's own values, and then predicts the cells of the fold.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy

from cyclescope.fitting.cells import numbers
from cyclescope.fitting.models import Array
from cyclescope.fitting.searching import Problem, search

MOST_FOLDS = 5


@dataclass(frozen=True)
class HeldOut:
    """The errors of cells that were held out, in percent: mean and worst, without sign.

    `before` are the errors of the same cells with the board's own values.
    """

    cells: int
    folds: int
    mean_pct: float
    worst_pct: float
    before_mean_pct: float
    before_worst_pct: float


def cross_validated(problem: Problem, before: Array, seed: int) -> HeldOut | None:
    """The hold-out error of the chosen cells; None if they are fewer than two numbers.

    `before` has the relative deviations of all cells with the board's own values.
    """
    chosen, cells = list(problem.chosen), problem.model.cells
    known = numbers(cells[at] for at in chosen)
    folds = min(MOST_FOLDS, len(known))
    if folds < 2:
        return None
    dealt = random.Random(seed).sample(known, len(known))
    found = numpy.zeros(len(cells))
    for fold in range(folds):
        held = [at for at in chosen if cells[at].number in dealt[fold::folds]]
        rest = [at for at in chosen if at not in held]
        part = replace(problem, chosen=rest, _slopes={})
        best = search(part).point
        found[held] = replace(problem, chosen=held).deviations([best])[0]
    return held_out(found[chosen], before[chosen], folds)


def held_out(
    after: Sequence[float] | Array, before: Sequence[float] | Array, folds: int = 0
) -> HeldOut:
    """The summary of relative deviations of cells that were held out in `folds` folds."""
    return HeldOut(len(after), folds, *_sizes(after), *_sizes(before))


def _sizes(deviations: Sequence[float] | Array) -> tuple[float, float]:
    sizes = numpy.abs(deviations) * 100
    return float(sizes.mean()), float(sizes.max())
