"""How far published cells move with all that no document settles: `cyclescope bench --uncertainty`.

For each experiment and board, values are drawn for all assumed and calibrated parameters that have
a range, as a Latin hypercube; each published run is made with each set of values, in its short
form. Draws are independent of one another, also for several parts of a kind (two cards), and for
one part that is on several boards. Choices of experiments keep their values: each value is the
likelier of two, and several changed at once would no longer be what the document did.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cyclescope._engine import Stop
from cyclescope.bench import moves, published, short_forms
from cyclescope.bench.experiment import Experiment, Run
from cyclescope.bench.planning import Job
from cyclescope.bench.short_forms import DIGITS, Form
from cyclescope.bench.uncertainty import PARTS_PCT, Spread
from cyclescope.board.description import digests
from cyclescope.board.description.parameters import Parameter
from cyclescope.board.results import Metric
from cyclescope.errors import EngineError
from cyclescope.sweeps import running
from cyclescope.sweeps.designs import LATIN, Design
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.running import Batch, Group
from cyclescope.sweeps.store import Store
from cyclescope.sweeps.targets import ExperimentTarget
from cyclescope.sweeps.uncertainty import axis, quantile, unsettled

_SEED = 0
_DIGEST = 16  # digits


@dataclass(frozen=True)
class Study:
    """The runs for an experiment on a board: the published runs unchanged, then with each draw.

    `forms` are the published runs; `batch` has a run of each form for each draw of `parameters`.
    """

    experiment: Experiment
    board: str
    parameters: tuple[Parameter, ...]
    forms: tuple[Form, ...]
    batch: Batch

    @property
    def digest(self) -> str:
        """A digest of the parameters that are drawn, with their values and plausible ranges."""
        parts: list[object] = [
            (one.node, one.property_name, one.value, one.basis, one.plausible)
            for one in self.parameters
        ]
        return digests.of_parts(parts)[:_DIGEST]

    @property
    def cells(self) -> set[str]:
        """The labels of the published cells."""
        labels = (self.experiment.published_labels(form.full) for form in self.forms)
        return {label for found in labels for label in found}


@dataclass(frozen=True)
class Measured:
    """The results of studies: the spread of each cell, and the number of failed runs by reason."""

    spreads: tuple[Spread, ...]
    failures: Mapping[str, int]


def studies(experiments: Iterable[Experiment], samples: int) -> list[Study]:
    """Studies of all boards on which experiments have published numbers, with `samples` draws.

    Numbers that come from a hardware's own description have no study: they do not depend on any
    assumed value. Nor has a board without a parameter to draw.
    """
    found = []
    for experiment in experiments:
        if published.load(experiment.published).is_exact:
            continue
        runs = moves.published_runs(experiment)
        for board in dict.fromkeys(run.board for run in runs):
            own = [run for run in runs if run.board == board]
            made = _study(experiment, board, own, samples)
            found += [made] if made.parameters else []
    return found


def _study(experiment: Experiment, board: str, runs: Sequence[Run], samples: int) -> Study:
    parameters, _ = unsettled(board, {})
    forms = tuple(short_forms.form(experiment, run) for run in runs)
    rows: list[Group] = [(place, ()) for place in range(len(forms))]
    for values in _draws(parameters, samples):
        rows += [(place, _unset(form.run, values)) for place, form in enumerate(forms)]
    target = ExperimentTarget([Job(experiment, form.run) for form in forms])
    return Study(experiment, board, parameters, forms, Batch(target, rows))


def _draws(parameters: Sequence[Parameter], samples: int) -> Iterator[dict[Parameter, str]]:
    if not parameters:
        return
    for values in Design(LATIN, samples, seed=_SEED).points([axis(one) for one in parameters]):
        yield dict(zip(parameters, values, strict=True))


def _unset(run: Run, values: Mapping[Parameter, str]) -> tuple[tuple[str, str], ...]:
    """The values by paths, without parameters that the run itself sets: those are settled."""
    return tuple(
        (f"{one.node}.{one.property_name}", value)
        for one, value in values.items()
        if not {f"{owner}.{one.property_name}" for owner in (one.node, one.label)}
        & set(run.overrides)
    )


# Called with the number of finished runs and of all runs.
Progress = Callable[[int, int], None]


def measure(
    planned: Sequence[Study],
    threads: int,
    stop: Stop,
    store: Store | None,
    progress: Progress = lambda done, total: None,
) -> Measured | None:
    """Make the runs that the store lacks, and return the spread of each cell.

    Failed runs are counted by reason and left out of the spreads. None after `stop` was requested.
    Raises `EngineError` if a run fails on the unchanged board, or lacks a published cell.
    """
    total, done = sum(len(one.batch.rows) for one in planned), 0
    spreads: list[Spread] = []
    failures: dict[str, int] = defaultdict(int)

    def ended(row: int, outcome: Outcome) -> None:
        nonlocal done
        done += 1
        progress(done, total)

    for study in planned:
        found = running.run(study.batch, threads, stop, store, ended)
        outcomes = [outcome for outcome in found if outcome is not None]
        if len(outcomes) < len(found):
            return None
        spreads += _spreads(study, outcomes, failures)
    return Measured(tuple(spreads), failures)


def _spreads(
    study: Study, outcomes: Sequence[Outcome], failures: dict[str, int]
) -> Iterator[Spread]:
    """The spread of each cell; failed runs are counted by reason."""
    count = len(study.forms)
    changes: dict[str, list[float]] = defaultdict(list)
    found: set[str | None] = set()
    for place, form in enumerate(study.forms):
        before = _metrics(form, outcomes[place])
        found |= {*map(form.label, before)}
        for outcome in outcomes[count + place :: count]:
            try:
                moved = list(form.moved(before, _metrics(form, outcome)))
            except EngineError as error:
                failures[f"{study.experiment.name}: {error}"] += 1
                continue
            for label, pct in moved:
                changes[label].append(pct)
    if missing := study.cells - found:
        name = study.experiment.name
        raise EngineError(f"{name}: the short form of its runs has no {min(missing)}")
    for label, values in changes.items():
        pcts = tuple(round(quantile(sorted(values), part / 100), DIGITS) for part in PARTS_PCT)
        named = (study.experiment.name, study.board, len(study.parameters), study.digest)
        yield Spread(*named, label, len(values), pcts)


def _metrics(form: Form, outcome: Outcome) -> list[Metric]:
    """The metrics of a form's cells. Raises `EngineError` for a run that failed."""
    if outcome.error is not None:
        raise EngineError(f"{form.full.label}: {outcome.error}")
    found = short_forms.of_cells(form.experiment, form.full, outcome.metrics)
    return [metric for _, metric in found]
