"""Short forms of published runs, in which the effects on their cells are measured.

A short form's number counts relative to the same form's number on the unchanged board: its change
in percent is also the published cell's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.planning import with_all_settings
from cyclescope.board.results import Metric, Value
from cyclescope.errors import EngineError

DIGITS = 3
"""The number of digits of a change in percent."""


@dataclass(frozen=True)
class Form:
    """A published run unchanged (`full`), and the `run` that is made in its place."""

    experiment: Experiment
    full: Run
    run: Run

    def stated(self, metric: Metric) -> dict[str, Value]:
        """The settings that a metric of the form states for itself, with the whole run's values."""
        return {
            name: self.full.settings.get(name, value)
            if self.run.settings.get(name) == value
            else value
            for name, value in metric.settings.items()
        }

    def label(self, metric: Metric) -> str | None:
        """The published cell of a metric of the form; None if there is no such cell."""
        for cell in self.experiment.cells_of(self.full):
            if cell.metric == metric.name and self.published(cell, metric) is not None:
                return self.label_of(cell, metric)
        return None

    def label_of(self, cell: Cell, metric: Metric) -> str:
        """The label of the row of a cell's metric."""
        return cell.label.format_map(dict(self.full.all_settings) | self.stated(metric))

    def published(self, cell: Cell, metric: Metric) -> int | float | None:
        """The document's number for a cell's metric."""
        return self.experiment.published_value(self.full, cell, self.stated(metric))

    def moved(
        self, before: Sequence[Metric], after: Sequence[Metric]
    ) -> Iterator[tuple[str, float]]:
        """How far each published cell moved, in percent; without cells that are 0.

        `before` and `after` are the metrics of cells, in the order of the table (`of_cells`).
        Raises `EngineError` if their numbers differ.
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
