"""The result of an experiment: its table, its runs, and what its numbers depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.bench.rows import Row, RunRecord, flat_row
from cyclescope.bench.views import Frames
from cyclescope.board.description.parameters import Parameter
from cyclescope.dataframes import dataframe
from cyclescope.units import count

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Omission:
    """An effect that the model leaves out, and why it may matter.

    `effect_pct` is the largest change of the `cells` (in words), in percent; `estimate` says how
    that was found: a sum, or an experiment.
    """

    what: str
    why: str
    effect_pct: float
    cells: str
    estimate: str


@dataclass(frozen=True)
class ExperimentResult:
    """An experiment's table, its runs, and the parameters of its boards.

    `source` cites the published document, whose numbers are `exact` if they come from the
    hardware's own description, and `by_hand` if they are sums over statements of documents; `notes`
    are what a reader must know to judge the comparison; `parameters` maps a board's name to its
    timing parameters; `choices` are what the experiment itself assumed or fitted; `left_out` is
    what the model lacks, the largest effect first; `frames` says how the frames are shown that runs
    kept. `question` is what a firmware engineer would ask, and `answer` answers it in a sentence
    from the rows; it is empty if they do not answer it. `in_short` are the rows of short forms that
    were made for waits and a profile; `unexplained` is the number of runs without either, and
    `unmade` the number of further runs, which no published number needs.
    """

    name: str
    title: str
    source: str
    notes: tuple[str, ...]
    rows: tuple[Row, ...]
    runs: tuple[RunRecord, ...]
    parameters: Mapping[str, tuple[Parameter, ...]]
    exact: bool = False
    by_hand: bool = False
    choices: tuple[Parameter, ...] = ()
    left_out: tuple[Omission, ...] = ()
    frames: Frames | None = None
    question: str = ""
    answer: str = ""
    in_short: tuple[Row, ...] = ()
    unexplained: int = 0
    unmade: int = 0

    @property
    def lacks(self) -> str:
        """What `bench --explain` adds to this result, in a sentence; empty if that is nothing."""
        waits = "waits and a profile of each run" if self.unexplained else ""
        runs = count(self.unmade, "further run") if self.unmade else ""
        found = " and ".join(filter(None, (waits, runs)))
        return f"`cyclescope bench --explain {self.name}` gives {found}." if found else ""

    @property
    def failures(self) -> tuple[RunRecord, ...]:
        """The runs that gave no result."""
        return tuple(run for run in self.runs if run.error is not None)

    def to_dataframe(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame, one column for each setting.

        Raises `ImportError`, saying what to install, without pandas.
        """
        return dataframe([flat_row(row) for row in self.rows])
