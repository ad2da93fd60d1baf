"""How far published cells may be off because of undocumented values: `uncertainty.csv`.

`cyclescope bench --uncertainty` measures the file: each line has a cell's results over many runs,
relative to the unchanged board, as the changes below which certain percentages of the runs lie.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from cyclescope import resources

NAME = "uncertainty.csv"

PARTS_PCT = (0, 2.5, *range(5, 100, 5), 97.5, 100)
"""The percentiles in a line: the least change, ..., the median, ..., the largest."""

LEVEL_PCT = 90
"""The part of the runs that lies in the interval that tables show."""

LEVELS_PCT = tuple(100 - 2 * part for part in PARTS_PCT if part <= 25)[::-1]
"""The parts of the runs for which a line has the central interval."""

_NAMES = ("experiment", "board", "drawn", "digest", "cell", "samples")
_COLUMNS = (*_NAMES, *(f"p{part:g}" for part in PARTS_PCT))
_Ends = tuple[float, float]


@dataclass(frozen=True, order=True)
class Spread:
    """A cell's results over many runs, in percent of its number on the unchanged board.

    `drawn` is the number of drawn values, `digest` identifies them and their ranges; `samples` runs
    gave the cell. `changes_pct` has, for each of `PARTS_PCT`, the change below which this part of
    the runs lies.
    """

    experiment: str
    board: str
    drawn: int
    digest: str
    cell: str
    samples: int
    changes_pct: tuple[float, ...]

    def middle_pct(self, level_pct: float) -> _Ends:
        """The changes between which the central part of the runs lies, for one of `LEVELS_PCT`."""
        place = PARTS_PCT.index((100 - level_pct) / 2)
        return self.changes_pct[place], self.changes_pct[-1 - place]

    @property
    def interval_pct(self) -> _Ends:
        """The central part that tables show, extended to the board's own value.

        That value may lie outside if the board has an end of the plausible range.
        """
        low, high = self.middle_pct(LEVEL_PCT)
        return min(low, 0.0), max(high, 0.0)


@dataclass(frozen=True)
class Spreads:
    """The spreads of all cells that were measured."""

    all: tuple[Spread, ...]

    def of(self, experiment: str, board: str, cell: str) -> Spread | None:
        """The spread of a cell by its label; None if it was not measured."""
        return self._by_cell.get((experiment, board, cell))

    @cached_property
    def _by_cell(self) -> Mapping[tuple[str, str, str], Spread]:
        return {(one.experiment, one.board, one.cell): one for one in self.all}


@cache
def load() -> Spreads:
    """The shipped file; empty if there is no file."""
    return read(resources.published() / NAME)


def read(path: Path) -> Spreads:
    """The contents of a file; empty if it does not exist. Raises `ValueError` for other files."""
    if not path.is_file():
        return Spreads(())
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        if tuple(next(rows, ())) != _COLUMNS:
            raise ValueError(f"{path}: its columns are not {', '.join(_COLUMNS)}")
        return Spreads(tuple(map(_spread, rows)))


def _spread(row: Sequence[str]) -> Spread:
    experiment, board, drawn, digest, cell, samples, *changes = row
    pcts = tuple(map(float, changes))
    return Spread(experiment, board, int(drawn), digest, cell, int(samples), pcts)


def to_csv(spreads: Iterable[Spread]) -> str:
    """The file, sorted."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in sorted(spreads):
        named = (one.experiment, one.board, one.drawn, one.digest, one.cell, one.samples)
        writer.writerow((*named, *(f"{pct:g}" for pct in one.changes_pct)))
    return text.getvalue()
