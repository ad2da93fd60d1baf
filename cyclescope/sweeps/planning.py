"""A planned sweep: every row known, and checked as far as possible before one runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from cyclescope.errors import EngineError, SettingError
from cyclescope.host.inputs import printable
from cyclescope.sweeps.axes import EXAMPLE, Axis
from cyclescope.sweeps.designs import Design, Point, check_size
from cyclescope.sweeps.targets import Target
from cyclescope.sweeps.trials import Trial

# The most values of one axis that are tried on a board before the first run.
_MOST_TRIED = 64
# A value may be valid only with certain values of other axes: each is tried with this many.
_MOST_WITH = 8


@dataclass(frozen=True)
class Plan:
    """The runs of a sweep: for each row a base of the target and a value for each axis."""

    target: Target
    axes: tuple[Axis, ...]
    design: Design
    rows: Sequence[tuple[int, Point]]

    def trial(self, row: int) -> Trial:
        """The run of a row."""
        base, point = self.rows[row]
        return self.target.trial(base, self.values(point))

    def values(self, point: Point) -> dict[str, str]:
        """The values of a point by their paths."""
        return dict(zip((axis.path for axis in self.axes), point, strict=True))

    def label(self, row: int) -> str:
        """The settings that distinguish a row from the others, in words."""
        base, point = self.rows[row]
        settings = dict(self.target.bases[base]) | self.values(point)
        return " ".join(f"{name}={value}" for name, value in settings.items()) or self.target.name


def plan(target: Target, axes: Sequence[Axis], design: Design) -> Plan:
    """The rows of a sweep.

    Raises `SettingError` for unknown paths, for invalid values, and for more rows than a sweep may
    have, with their number.
    """
    if not axes:
        raise SettingError(f"nothing is varied: --vary PATH=VALUES, as in {EXAMPLE}")
    for at, axis in enumerate(axes):
        if axis.path in [other.path for other in axes[:at]]:
            raise SettingError(f"--vary {axis.path}: given twice: give it all values at once")
    check_size(design.size(axes) * len(target.bases))
    known = tuple(target.expanded(axis) for axis in axes)
    check_size(design.size(known) * len(target.bases))
    rows = [(base, point) for base in range(len(target.bases)) for point in design.points(known)]
    planned = Plan(target, known, design, rows)
    _check_values(planned)
    return planned


def _check_values(planned: Plan) -> None:
    """Raises `SettingError` for a value that the board refuses with all values of other axes."""
    # a row has a value of each axis: each row is tried once
    fault = cache(lambda row: _fault(planned.trial(row)))
    for number, axis in enumerate(planned.axes):
        for value, rows in _rows_by_value(planned.rows, number):
            errors = [error for row in rows if (error := fault(row)) is not None]
            if len(errors) == len(rows):
                raise SettingError(f"--vary {axis.path}={printable(value)}: {errors[0]}")


def _rows_by_value(rows: Sequence[tuple[int, Point]], axis: int) -> Iterator[tuple[str, list[int]]]:
    """Values of an axis, evenly chosen if there are very many, each with rows that have it."""
    having: dict[str, list[int]] = {}
    for row, (_, point) in enumerate(rows):
        having.setdefault(point[axis], []).append(row)
    values = list(having)
    for value in values[:: max(1, len(values) // _MOST_TRIED)]:
        found = having[value]
        yield value, found[:: max(1, len(found) // _MOST_WITH)][:_MOST_WITH]


def _fault(trial: Trial) -> str | None:
    """Why a run is impossible, in one line; None if nothing known before the run prevents it."""
    try:
        trial.check()
    except (EngineError, OSError) as error:
        return " ".join(str(error).split())
    return None


def base_columns(bases: Sequence[Mapping[str, object]]) -> list[str]:
    """The columns that distinguish the bases of a target."""
    return list(dict.fromkeys(name for base in bases for name in base))
