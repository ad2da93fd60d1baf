"""Tables of a bench: published numbers beside what the firmware printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from cyclescope.bench import influence, published, uncertainty
from cyclescope.bench.experiment import Cell
from cyclescope.bench.planning import Explained, Job
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import PREDICTED, UNPUBLISHED, Row, RunRecord, waits_of
from cyclescope.bench.running import metrics_of
from cyclescope.bench.views import takes
from cyclescope.board import Board
from cyclescope.board.description.parameters import CALIBRATED, Parameter
from cyclescope.board.results import Metric, StackEntry, WaitEntry

# Values of `--set` on a board, by path.
_Changes = tuple[tuple[str, str], ...]


def tabulate(
    jobs: Sequence[Job],
    records: Sequence[RunRecord | None],
    unmade: Mapping[str, int] = MappingProxyType({}),
) -> list[ExperimentResult]:
    """One table for each experiment, from the jobs and their records; unfinished runs are left out.

    `unmade` is the number of runs of an experiment without a job.
    """
    done = [(job, record) for job, record in zip(jobs, records, strict=True) if record]
    experiments = list(dict.fromkeys(job.experiment.name for job, _ in done))

    @cache
    def parameters(board: str, changes: _Changes) -> tuple[Parameter, ...]:
        return Board(board, dict(changes)).parameters

    return [
        _experiment_result(
            [(job, record) for job, record in done if job.experiment.name == name],
            parameters,
            unmade.get(name, 0),
        )
        for name in experiments
    ]


def _experiment_result(
    done: list[tuple[Job, RunRecord]],
    parameters: Callable[[str, _Changes], tuple[Parameter, ...]],
    unmade: int,
) -> ExperimentResult:
    experiment = done[0][0].experiment
    changes = {job.run.board: tuple(job.extra.items()) for job, _ in done}
    rows = [row for job, record in done for row in rows_of(job, record)]
    rows += experiment.derived(rows)
    table = published.load(experiment.published)
    return ExperimentResult(
        name=experiment.name,
        title=experiment.title,
        source=table.citation,
        notes=(*experiment.notes, *experiment.findings(rows)),
        rows=tuple(rows),
        runs=tuple(record for _, record in done),
        parameters={board: parameters(board, changed) for board, changed in changes.items()},
        exact=table.is_exact,
        by_hand=table.is_by_hand,
        choices=tuple(choice.parameter for choice in experiment.choices),
        left_out=experiment.left_out,
        frames=experiment.frames,
        question=experiment.question,
        answer=experiment.answer(rows),
        in_short=tuple(row for job, record in done for row in _in_short(job, record)),
        unexplained=sum(job.explained is not Explained.ITSELF for job, _ in done),
        unmade=unmade,
    )


def _in_short(job: Job, record: RunRecord) -> list[Row]:
    """The rows of the short form that explains a run."""
    return rows_of(job.shortened(record.short.settings), record.short) if record.short else []


def rows_of(job: Job, record: RunRecord) -> list[Row]:
    """The rows of one run, in the order of its experiment's cells; none if it failed."""
    if record.result is None or record.error is not None:
        return []
    found = metrics_of(job, record.result).values()
    rows = []
    for cell in job.experiment.cells_of(job.run):
        metrics = [metric for metric in found if metric.name == cell.metric]
        rows += [
            replace(_row(job, record, cell, metric), parts=parts, waits=waits)
            for metric, parts, waits in _with_stacks(cell, record, metrics)
        ]
    return rows


def _with_stacks(
    cell: Cell, record: RunRecord, metrics: Sequence[Metric]
) -> Iterator[tuple[Metric, tuple[StackEntry, ...], tuple[WaitEntry, ...]]]:
    """A cell's metrics, each with the parts of its time and its waits.

    If calls were measured, and there is a window for each, both belong to the metric's call.
    """
    parts = cell.parts(record.settings)
    windows = record.result.windows if record.result and parts else ()
    calls = [window for window in windows if parts and window.section == parts.call]
    if parts and len(calls) == len(metrics):
        for metric, window in zip(metrics, calls, strict=True):
            yield metric, parts.of(window, windows), window.cores[0].waits or ()
        return
    # the waits of all measurements of a run together are not those of one of them
    waits = waits_of(record, cell.timed) if len(metrics) == 1 else ()
    for metric in metrics:
        yield metric, (), waits


def _row(job: Job, record: RunRecord, cell: Cell, metric: Metric) -> Row:
    settings = dict(record.settings) | dict(metric.settings)
    value = job.experiment.published_value(job.run, cell, metric.settings)
    label = cell.label.format_map(settings)
    row = Row(
        experiment=job.experiment.name,
        board=record.board,
        settings=settings,
        metric=metric.name,
        unit=metric.unit,
        simulated=metric.value,
        published=value,
        basis=UNPUBLISHED,
        label=label,
        run=record,
        timed=cell.timed,
        pivot=next((pivot for pivot in cell.pivots if takes(pivot, settings)), None),
        sweeps=tuple(sweep for sweep in cell.sweeps if takes(sweep, settings)),
    )
    if value is None:
        return row
    calibrated_by = influence.load().calibrated_by(row.experiment, label)
    spread = uncertainty.load().of(row.experiment, row.board, label)
    return replace(
        row,
        basis=CALIBRATED if calibrated_by else PREDICTED,
        calibrated_by=calibrated_by,
        interval_pct=None if spread is None else spread.interval_pct,
        counts_as=job.experiment.independent(cell, label, settings),
        digits=job.experiment.printed_digits(job.run, cell, metric.settings),
    )
