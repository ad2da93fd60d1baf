"""What published cells depend on: the contents of `published/sensitivity.csv`.

`cyclescope bench --sensitivity` measures the file. A cell is calibrated if anything calibrated
changes it by more than `MOST_PCT`, regardless of the cells that the parameter was fitted to.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache, cached_property
from pathlib import Path

from cyclescope import resources
from cyclescope.bench.moves import Move
from cyclescope.board.description.parameters import CALIBRATED

MOST_PCT = 2.0
"""A cell depends on a value that changes it by more than this."""

NAME = "sensitivity.csv"

_COLUMNS = (*(column.name for column in fields(Move)), "cell", "change_pct")
_Cell = tuple[str, str]  # an experiment and a label


@dataclass(frozen=True, order=True)
class Change:
    """A move's effect on a cell, in percent of the cell; `cell` is empty if no cell changes."""

    move: Move
    cell: str
    pct: float


@dataclass(frozen=True)
class Influence:
    """All changes that were measured."""

    changes: tuple[Change, ...]

    def calibrated_by(self, experiment: str, cell: str) -> tuple[str, ...]:
        """The calibrated parameters and choices that a cell depends on, the strongest first."""
        found: dict[str, float] = defaultdict(float)
        for change in self._of_cells.get((experiment, cell), ()):
            if change.move.basis == CALIBRATED:
                name = change.move.parameter
                found[name] = max(found[name], abs(change.pct))
        strongest = sorted(found, key=lambda name: -found[name])
        return tuple(name for name in strongest if found[name] > MOST_PCT)

    def moved(self, experiment: str, parameters: Collection[str]) -> dict[str, float]:
        """The cells that the parameters' steps change, with the largest change in percent."""
        most: dict[str, float] = {}
        for change in self.changes:
            move = change.move
            is_theirs = move.experiment == experiment and move.parameter in parameters
            if is_theirs and abs(change.pct) > abs(most.get(change.cell, 0)):
                most[change.cell] = change.pct
        return most

    def strongest(self, experiment: str) -> list[tuple[Move, str, float]]:
        """The step of each parameter and choice with the cell that it changes most, in percent."""
        most: dict[str, Change] = {}
        for change in self.changes:
            if change.move.experiment == experiment:
                name = change.move.parameter
                if name not in most or abs(change.pct) > abs(most[name].pct):
                    most[name] = change
        found = [(change.move, change.cell, change.pct) for change in most.values()]
        return sorted(found, key=lambda one: -abs(one[2]))

    @property
    def moves(self) -> frozenset[Move]:
        """Everything that was moved."""
        return frozenset(change.move for change in self.changes)

    @cached_property
    def _of_cells(self) -> Mapping[_Cell, Sequence[Change]]:
        found: dict[_Cell, list[Change]] = defaultdict(list)
        for change in self.changes:
            found[change.move.experiment, change.cell].append(change)
        return found


@cache
def load() -> Influence:
    """The shipped file; empty if there is no file."""
    return read(resources.published() / NAME)


def read(path: Path) -> Influence:
    """The contents of a file; empty if it does not exist. Raises `ValueError` for other files."""
    if not path.is_file():
        return Influence(())
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        if tuple(next(rows, ())) != _COLUMNS:
            raise ValueError(f"{path}: its columns are not {', '.join(_COLUMNS)}")
        return Influence(tuple(map(_change, rows)))


def _change(row: Sequence[str]) -> Change:
    *move, cell, pct = row
    return Change(Move(*move), cell, float(pct or 0))


def to_csv(changes: Iterable[Change]) -> str:
    """The file, sorted. A cell that does not change has no line; a move without effect has one."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for change in sorted(_with_effects(changes)):
        writer.writerow((*astuple(change.move), change.cell, change.pct or ""))
    return text.getvalue()


def _with_effects(changes: Iterable[Change]) -> Iterator[Change]:
    of_moves: dict[Move, list[Change]] = defaultdict(list)
    for change in changes:
        of_moves[change.move].append(change)
    for move, found in of_moves.items():
        moving = [change for change in found if change.pct]
        yield from moving or [Change(move, "", 0.0)]
