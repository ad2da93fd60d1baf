"""Short forms of published runs, in which it is measured what moves their cells.

What a short form gives counts relative to what the same form gives on the board as it is: a change
in percent is that of the published cell, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.planning import with_all_settings
from cyclescope.board.results import Metric, Value
from cyclescope.errors import EngineError

DIGITS = 3
"""Of a change in percent."""


@dataclass(frozen=True)
class Form:
    """A published run as it is (`full`), and the `run` that is made in its place."""

    experiment: Experiment
    full: Run
    run: Run

    def stated(self, metric: Metric) -> dict[str, Value]:
        """What a metric of the form states of itself, as the whole run has it."""
        return {
            name: self.full.settings.get(name, value)
            if self.run.settings.get(name) == value
            else value
            for name, value in metric.settings.items()
        }

    def label(self, metric: Metric) -> str | None:
        """The published cell that a metric of the form stands for; None if there is none."""
        for cell in self.experiment.cells_of(self.full):
            if cell.metric == metric.name and self.published(cell, metric) is not None:
                return self.label_of(cell, metric)
        return None

    def label_of(self, cell: Cell, metric: Metric) -> str:
        """What the row of a cell's metric is called."""
        return cell.label.format_map(dict(self.full.all_settings) | self.stated(metric))

    def published(self, cell: Cell, metric: Metric) -> int | float | None:
        """The document's number for a cell's metric."""
        return self.experiment.published_value(self.full, cell, self.stated(metric))

    def moved(
        self, before: Sequence[Metric], after: Sequence[Metric]
    ) -> Iterator[tuple[str, float]]:
        """How far each published cell moved, in percent; not of those that are 0.

        `before` and `after` are what cells are made of, in the order of the table (`of_cells`).
        Raises `EngineError` if they are not as many.
        """
        if len(before) != len(after):
            raise EngineError(f"{len(after)} results in the place of {len(before)}")
        for metric, new in zip(before, after, strict=True):
            label = self.label(metric)
            if label is not None and metric.value:
                change = (new.value - metric.value) / metric.value * 100
                yield label, round(change, DIGITS)


def form(experiment: Experiment, run: Run) -> Form:
    """The short form of a published run."""
    return Form(experiment, with_all_settings(run), with_all_settings(experiment.short_form(run)))


def of_cells(
    experiment: Experiment, run: Run, metrics: Sequence[Metric]
) -> list[tuple[Cell, Metric]]:
    """The metrics of a run that its experiment has cells for, in the order of its table."""
    return [
        (cell, metric)
        for cell in experiment.cells_of(run)
        for metric in metrics
        if metric.name == cell.metric
    ]
