"""Designs of a sweep: which combinations of the axes' values are run, in which order."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from cyclescope.errors import SettingError, UsageError
from cyclescope.similar_names import did_you_mean_or
from cyclescope.sweeps.axes import Axis
from cyclescope.units import count

MOST_RUNS = 1_000_000
"""The most runs of a sweep: a request for more is a mistake, and its error gives the number."""

GRID, RANDOM, LATIN, SOBOL = "grid", "random", "latin", "sobol"
SAMPLINGS = (RANDOM, LATIN, SOBOL)

Point = tuple[str, ...]
"""A value for each axis, in their order."""


@dataclass(frozen=True)
class Design:
    """How points are chosen.

    A grid has all combinations; axes that `zips` names together advance together. Other designs
    draw `samples` points: randomly, one in each of as many equal parts of every axis ("latin", a
    Latin hypercube), or by Saltelli's scheme for Sobol's indices, which takes `samples` times the
    number of axes plus 2. The same `seed` draws the same points.
    """

    kind: str = GRID
    samples: int = 0
    zips: tuple[tuple[str, ...], ...] = ()
    seed: int = 0

    def size(self, axes: Sequence[Axis]) -> int:
        """The number of points. Raises `SettingError` for zips and spans that do not fit."""
        if self.kind == GRID:
            return prod(len(group[0].values) for group in self.groups(axes))
        if self.zips:
            raise SettingError("--zip goes with a grid: samples are drawn of each axis by itself")
        return self.samples * (len(axes) + 2) if self.kind == SOBOL else self.samples

    def groups(self, axes: Sequence[Axis]) -> list[list[Axis]]:
        """The axes of a grid that advance together, in the order of the axes."""
        for axis in axes:
            if axis.span is not None:
                low, high = axis.span.low, axis.span.high
                raise SettingError(
                    f"--vary {axis.path}={low}:{high}: a grid needs a step, as in {low}:{high}:x2; "
                    "--samples draws from a span"
                )
        together = _zipped(axes, self.zips)
        groups: dict[int, list[Axis]] = {}
        for number, axis in enumerate(axes):
            groups.setdefault(together.get(axis.path, -1 - number), []).append(axis)
        for group in groups.values():
            _check_lengths(group)
        return list(groups.values())

    def points(self, axes: Sequence[Axis]) -> Iterator[Point]:
        """The points, in the order of the rows.

        Raises `SettingError` as `size` does, and for more than a million; `UsageError` if a design
        needs a package that is not installed.
        """
        check_size(self.size(axes))
        if self.kind == GRID:
            return self._grid(axes)
        return (
            tuple(axis.at(part) for axis, part in zip(axes, parts, strict=True))
            for parts in self._parts(len(axes))
        )

    def _grid(self, axes: Sequence[Axis]) -> Iterator[Point]:
        groups = self.groups(axes)
        order = [axis.path for group in groups for axis in group]
        places = [order.index(axis.path) for axis in axes]
        steps = [list(zip(*(axis.values for axis in group), strict=True)) for group in groups]
        for chosen in itertools.product(*steps):
            values = [value for step in chosen for value in step]
            yield tuple(values[place] for place in places)

    def _parts(self, dimensions: int) -> Iterator[Sequence[float]]:
        """Points of the unit cube."""
        if self.kind == RANDOM:
            generator = random.Random(self.seed)
            for _ in range(self.samples):
                yield [generator.random() for _ in range(dimensions)]
        elif self.kind == LATIN:
            yield from _latin(self.samples, dimensions, random.Random(self.seed))
        else:
            yield from sobol_sample(self.samples, dimensions, self.seed)


def check_size(runs: int) -> None:
    """Raises `SettingError` if there are more runs than a sweep may have."""
    if runs > MOST_RUNS:
        raise SettingError(f"this sweep would be {count(runs, 'run')}: at most {MOST_RUNS:,}")


def problem(dimensions: int) -> dict[str, Any]:
    """The unit cube as SALib wants it."""
    names = [f"x{number}" for number in range(dimensions)]
    return {"num_vars": dimensions, "names": names, "bounds": [[0.0, 1.0]] * dimensions}


def sobol_sample(samples: int, dimensions: int, seed: int) -> Iterator[Sequence[float]]:
    """Saltelli's points. Raises `UsageError` without SALib, or if `samples` is not a power of 2."""
    if samples & (samples - 1) or not samples:
        raise UsageError(f"--samples {samples}: Sobol's sequence is even for powers of 2, as in 64")
    try:
        from SALib.sample import sobol
    except ImportError as absent:
        raise UsageError(NO_SALIB) from absent
    found = sobol.sample(problem(dimensions), samples, calc_second_order=False, seed=seed)
    yield from found.tolist()


NO_SALIB = "SALib is not installed: pip install 'cyclescope[sweeps]'"


def _latin(samples: int, dimensions: int, generator: random.Random) -> Iterator[Sequence[float]]:
    """A Latin hypercube: on each axis, one point in each of as many equal parts."""
    columns = []
    for _ in range(dimensions):
        parts = list(range(samples))
        generator.shuffle(parts)
        columns.append([(part + generator.random()) / samples for part in parts])
    yield from zip(*columns, strict=True)


def _zipped(axes: Sequence[Axis], zips: Sequence[Sequence[str]]) -> dict[str, int]:
    """The group of each path that advances with others."""
    paths = [axis.path for axis in axes]
    together: dict[str, int] = {}
    for number, group in enumerate(zips):
        shown = " ".join(group)
        if len(group) < 2:
            raise SettingError(f"--zip '{shown}': expected two paths or more, with blanks between")
        for path in group:
            if path not in paths:
                hint = did_you_mean_or(path, paths, f"--vary has {', '.join(paths)}")
                raise SettingError(f"--zip '{shown}': {path} is not varied{hint}")
            if together.setdefault(path, number) != number or group.count(path) > 1:
                raise SettingError(f"--zip '{shown}': {path} is given twice")
    return together


def _check_lengths(group: Sequence[Axis]) -> None:
    first = group[0]
    for other in group[1:]:
        if len(other.values) != len(first.values):
            raise SettingError(
                f"--zip: {first.path} has {count(len(first.values), 'value')} and "
                f"{other.path} {len(other.values)}: they advance together"
            )
