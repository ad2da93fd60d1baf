"""Intervals of fitted values: those of slopes where cells move evenly, else what cells allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy
import pytest
from scipy import stats

from cyclescope.board.description.parameters import ASSUMED, Parameter
from cyclescope.fitting.cells import Cell
from cyclescope.fitting.judging import DETERMINED, WEAK, judge
from cyclescope.fitting.parameters import Free
from cyclescope.fitting.searching import Problem, search

Give = Callable[..., Sequence[float]]


@dataclass
class Sums:
    """Cells that are worked out from the values of parameters, in place of runs."""

    cells: tuple[Cell, ...]
    free: tuple[Free, ...]
    give: Give
    asked: set[tuple[int, ...]]

    def values(self, points: Sequence[tuple[int, ...]]) -> numpy.ndarray:
        self.asked |= set(points)
        values = [
            [one.values[place] for one, place in zip(self.free, point, strict=True)]
            for point in points
        ]
        return numpy.array([self.give(*one) for one in values], float)


def problem(give: Give, hidden: Sequence[int], last: int, errors: Sequence[float] = ()) -> Problem:
    """Cells with an error of a hundredth that is stated, of parameters from 0 to `last`."""
    free = tuple(
        Free(
            f"a{n}.x",
            Parameter("/a", "a", "x", "1", "cycles", "", ASSUMED, ""),
            range(last + 1),
            True,
        )
        for n in range(len(hidden))
    )
    off = errors or [0.0] * len(give(*hidden))
    values = [value * (1 + part) for value, part in zip(give(*hidden), off, strict=True)]
    cells = tuple(Cell(f"c{n}", "x", value, error=0.01) for n, value in enumerate(values))
    model = Sums(cells, free, give, set())
    return Problem(model, range(len(cells)), numpy.full(len(cells), 0.01))  # type: ignore[arg-type]


def ends(of: Problem) -> list[tuple[str, int, tuple[int, ...]]]:
    found = search(of)
    return [(one.told, one.value, one.possible) for one in judge(of, found).parameters]


def test_the_interval_of_cells_that_are_sums_follows_from_slopes() -> None:
    """Half of it: Student's t, times the standard deviation by the inverse of J'J."""
    weights = numpy.array([[3, 1], [1, 2], [2, 2], [1, 0], [0, 3], [4, 1]])

    def give(*values: int) -> list[float]:
        return [float(one @ numpy.array(values) + 1000) for one in weights]

    made = problem(give, (100, 150), 400, [0.004, -0.006, 0.003, 0.008, -0.002, 0.001])
    found = ends(made)
    point = tuple(value for _, value, _ in found)
    slopes = weights / numpy.array([[cell.value] for cell in made.model.cells]) / 0.01
    half = stats.t.ppf(0.975, 4) * numpy.sqrt(numpy.diag(numpy.linalg.inv(slopes.T @ slopes)))
    for value, one, (_, _, (low, high)) in zip(point, half, found, strict=True):
        assert 1 < one < 100
        assert low == pytest.approx(value - one, abs=1.5)
        assert high == pytest.approx(value + one, abs=1.5)


@pytest.mark.parametrize("hidden", [40, 31, 30, 20, 5])
def test_a_latency_that_a_buffer_hides_has_one_sided_bounds(hidden: int) -> None:
    """Up to 30 cells don't move; from there a step is 3.5 standard deviations, and 2.2 count.

    So a value may be wrong by one, and from 30 down all are as good.
    """

    def give(latency: int, other: int) -> list[float]:
        seen = max(latency, 30)
        return [1000 + 20 * seen + other, 2000 + 40 * seen, 500 + 9 * other] * 4

    (first, value, (low, high)), second = ends(problem(give, (hidden, 50), 100))
    assert first == DETERMINED
    assert value == hidden if hidden > 30 else value <= 30
    assert (low, high) == {40: (39, 41), 31: (30, 32)}.get(hidden, (0, 31))
    assert second[1] == 50


def test_an_interval_takes_few_runs() -> None:
    def give(latency: int, other: int) -> list[float]:
        return [1e6 + latency**1.5 + other, 3e6 + latency**1.2, 2e6 + other**1.1, 4e6 + latency]

    made = problem(give, (40_000, 30_000), 100_000)
    found = search(made)
    before = set(made.model.asked)  # type: ignore[attr-defined]
    judged = judge(made, found)
    assert all(one.possible[0] < one.value < one.possible[1] for one in judged.parameters)
    assert len(made.model.asked - before) < 40  # type: ignore[attr-defined]


def test_a_parameter_that_hardly_moves_a_cell_stays_weak() -> None:
    (judged, _, possible), _ = ends(problem(lambda a, b: [1e6 + a, 1000 + 9 * b], (5, 50), 100))
    assert judged == WEAK
    assert possible == (0, 100)
