"""The published cells of an experiment as cells for a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from cyclescope.bench import experiment
from cyclescope.bench.planning import Job, with_all_settings
from cyclescope.bench.short_forms import Form, of_cells
from cyclescope.board.results import Metric
from cyclescope.errors import EngineError, UsageError
from cyclescope.fitting.cells import Cell
from cyclescope.fitting.models import Running
from cyclescope.sweeps import running
from cyclescope.sweeps.measures import Namer
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.running import Batch, StoppedError
from cyclescope.sweeps.targets import ExperimentTarget


def jobs(planned: Sequence[Job], board: str | None) -> list[Job]:
    """The runs with published numbers, on one board.

    Raises `UsageError` without any, or if they are on several boards and the user named none.
    """
    name = planned[0].experiment.name
    found = [job for job in planned if job.experiment.has_published(job.run)]
    if not found:
        raise UsageError(f"{name}: no document has numbers of it, as it is to be run")
    boards = list(dict.fromkeys(job.run.board for job in found))
    if board is None and len(boards) > 1:
        raise UsageError(f"--board is missing: {name} is on {', '.join(boards)}")
    own = [job for job in found if job.run.board == (board or boards[0])]
    if not own:
        raise UsageError(f"--board {board}: {name} has numbers on {', '.join(boards)}")
    return own


def short(found: Sequence[Job]) -> list[Job]:
    """The same runs in their short forms, which are run while values are searched."""
    return [
        replace(job, run=with_all_settings(job.experiment.short_form(job.run))) for job in found
    ]


def cells(whole: ExperimentTarget, shortened: ExperimentTarget, how: Running) -> list[Cell]:
    """The cells that have published numbers, as metrics of the short forms.

    A short form's number counts relative to its number on the unchanged board: `factor` converts it
    to the number of the whole run. Raises `EngineError` for a run that fails, or a short form that
    lacks a cell, `StoppedError` after a stop.
    """
    told: list[Cell] = []
    outcomes = zip(_outcomes(whole, (), how), _outcomes(shortened, (), how), strict=True)
    for base, (outcome, short_outcome) in enumerate(outcomes):
        job = whole.jobs[base]
        name = Namer([short_outcome]).name
        short_metrics = {
            found.label: metric
            for cell, metric in _rows(job, short_outcome)
            if (found := _cell(job, cell, metric, shortened.jobs[base].run)) is not None
        }
        for cell, metric in _rows(job, outcome):
            found = _cell(job, cell, metric)
            if found is None:
                continue
            own = short_metrics.get(found.label)
            if own is None:
                raise EngineError(f"{job.run.label}: its short form has no {found.label}")
            factor = metric.value / own.value
            told.append(replace(found, metric=name(own), base=base, factor=factor))
    return told


def values(
    whole: ExperimentTarget, settings: Sequence[tuple[str, str]], how: Running
) -> dict[tuple[int, str], float]:
    """The whole runs' numbers with these settings, by base and label. Raises as `cells` does."""
    found: dict[tuple[int, str], float] = {}
    for base, outcome in enumerate(_outcomes(whole, settings, how)):
        job = whole.jobs[base]
        for cell, metric in _rows(job, outcome):
            if (made := _cell(job, cell, metric)) is not None:
                found[base, made.label] = float(metric.value)
    return found


def _outcomes(
    target: ExperimentTarget, settings: Sequence[tuple[str, str]], how: Running
) -> list[Outcome]:
    batch = Batch(target, [(base, tuple(settings)) for base in range(len(target.jobs))])
    found = running.run(batch, how.threads, how.stop, how.store, lambda row, outcome: how.ended(1))
    outcomes = [outcome for outcome in found if outcome is not None]
    if len(outcomes) < len(found):
        raise StoppedError
    for job, outcome in zip(target.jobs, outcomes, strict=True):
        if outcome.error is not None:
            raise EngineError(f"{job.run.label}: {outcome.error}")
    return outcomes


def _rows(job: Job, outcome: Outcome) -> list[tuple[experiment.Cell, Metric]]:
    """The metrics of a run that its experiment has cells for, in the order of its table."""
    return of_cells(job.experiment, job.run, outcome.metrics)


def _cell(
    job: Job, cell: experiment.Cell, metric: Metric, short_run: experiment.Run | None = None
) -> Cell | None:
    """The published cell of a metric, in a whole run or its short form.

    None if it has no published number, or if the cell is a sum of others.
    """
    form = Form(job.experiment, job.run, short_run or job.run)
    value = form.published(cell, metric)
    if value is None or value <= 0 or not metric.value:
        return None
    label, stated = form.label_of(cell, metric), form.stated(metric)
    independent = job.experiment.independent(cell, label, dict(job.run.settings) | stated)
    if not independent:
        return None
    digits = job.experiment.printed_digits(job.run, cell, stated)
    return Cell(
        label,
        metric.name,
        float(value),
        rounding=_half_of_last(value, digits) / value,
        independent=independent,
    )


def _half_of_last(value: float, digits: int | None) -> float:
    """Half a unit of the last digit that the document prints."""
    number = Decimal(str(value))
    last = min(int(number.as_tuple().exponent), 0)
    if digits is not None:
        last = number.adjusted() - digits + 1
    return float(Decimal(1).scaleb(last)) / 2
