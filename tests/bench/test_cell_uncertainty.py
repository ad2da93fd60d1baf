"""Ranges of published cells over the boards' assumptions, and the published numbers in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
import tiers
from conftest import Command
from test_report import Page, experiment
from test_report_views import result, row

from cyclescope import experiments
from cyclescope._engine import Stop
from cyclescope.bench import coverage, moves, published, short_forms, uncertainty
from cyclescope.bench.experiment import Experiment
from cyclescope.bench.planning import Job
from cyclescope.bench.rows import Row, RunRecord
from cyclescope.bench.running import measured, run_job
from cyclescope.bench.uncertainty import LEVELS_PCT, PARTS_PCT, Spread, Spreads
from cyclescope.board import Board
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED
from cyclescope.errors import EngineError
from cyclescope.report import render
from cyclescope.statuses import Status
from cyclescope.sweeps import Store, cell_draws, trials
from cyclescope.sweeps.axes import Axis, Span
from cyclescope.sweeps.designs import LATIN, Design

SAMPLES = tiers.sized(3, 10)
# After this many runs a measurement is stopped.
ENOUGH = tiers.sized(1, 4)
# Of each part, as many percent: the middle 90 % lie between -45 and +45 %.
EVEN = tuple(part - 50.0 for part in PARTS_PCT)


def spread(cell: str, changes_pct: tuple[float, ...] = EVEN, experiment: str = "xip") -> Spread:
    return Spread(experiment, "a", 3, "digest", cell, 100, changes_pct)


def one_run() -> Experiment:
    """An experiment with one published run, which is short."""
    known = experiments.ALL["thread-metric"]
    return replace(known, runs=(moves.published_runs(known)[0],))


def measure(planned: Experiment, store: Store | None = None) -> cell_draws.Measured:
    studies = cell_draws.studies([planned], SAMPLES)
    found = cell_draws.measure(studies, 2, Stop(), store)
    assert found is not None
    return found


# ---- draws


def test_draws_are_those_of_a_sweep_of_all_ranges() -> None:
    planned = one_run()
    (found,) = measure(planned).spreads
    form = short_forms.form(planned, planned.runs[0])
    ranged = [
        one
        for one in Board(form.run.board).parameters
        if one.basis in (ASSUMED, CALIBRATED) and len(set(one.plausible_values)) > 1
    ]
    assert found.drawn == len(ranged)
    paths = [f"{one.node}.{one.property_name}" for one in ranged]
    axes = [
        Axis(path, (), Span(*one.plausible_values))
        if one.is_span
        else Axis(path, tuple(map(str, sorted(one.plausible_values))))
        for path, one in zip(paths, ranged, strict=True)
    ]

    def value(changes: dict[str, str]) -> float:
        job = Job(planned, form.run, changes)
        record = run_job(job)
        assert record.result is not None
        assert record.error is None
        metrics = measured(job, record.result)
        return next(one.value for one in metrics if form.label(one) == found.cell)

    alone = value({})
    points = Design(LATIN, SAMPLES).points(axes)
    values = [value(dict(zip(paths, point, strict=True))) for point in points]
    changes = [(one / alone - 1) * 100 for one in values]
    assert len(set(changes)) > 1
    assert found.samples == SAMPLES
    expected = numpy.percentile(changes, PARTS_PCT)
    assert found.changes_pct == pytest.approx(expected, abs=0.001)


def test_values_that_a_run_sets_itself_are_not_drawn() -> None:
    planned = one_run()
    (study,) = cell_draws.studies([planned], SAMPLES)
    first = study.parameters[0]
    path = f"{first.owner}.{first.property_name}"
    run = planned.runs[0].changed(overrides={path: first.value})
    (settled,) = cell_draws.studies([replace(planned, runs=(run,))], SAMPLES)
    drawn, fewer = ({name for name, _ in one.batch.rows[-1][1]} for one in (study, settled))
    assert drawn - fewer == {f"{first.node}.{first.property_name}"}


def test_a_stopped_measurement_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned, store, stop = one_run(), Store(tmp_path), Stop()
    runs = 0

    def counted(*arguments: object, **named: object) -> RunRecord:
        nonlocal runs
        runs += 1
        return run_job(*arguments, **named)  # type: ignore[arg-type]

    def progress(done: int, total: int) -> None:
        assert total == SAMPLES + 1
        if done == ENOUGH:
            stop.request()

    monkeypatch.setattr(trials, "run_job", counted)
    studies = cell_draws.studies([planned], SAMPLES)
    assert cell_draws.measure(studies, 1, stop, store, progress) is None
    assert ENOUGH <= runs < SAMPLES
    found = measure(planned, store)
    # one was under way when it was stopped
    assert runs <= SAMPLES + 2
    before, runs = runs, 0
    assert measure(planned, store) == found
    assert (before > 0, runs) == (True, 0)


def failing(where: Callable[[Job], bool]) -> Callable[..., RunRecord]:
    def run(job: Job, **named: object) -> RunRecord:
        return job.record(None, "it fell over") if where(job) else run_job(job, **named)  # type: ignore[arg-type]

    return run


def test_a_run_that_fails_is_counted_and_the_others_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    planned = one_run()
    (study,) = cell_draws.studies([planned], SAMPLES)
    last = dict(study.batch.rows[-1][1])
    monkeypatch.setattr(trials, "run_job", failing(lambda job: dict(job.extra) == last))
    found = measure(planned, Store(tmp_path))
    assert [one.samples for one in found.spreads] == [SAMPLES - 1]
    ((words, runs),) = found.failures.items()
    assert "it fell over" in words
    assert runs == 1
    monkeypatch.setattr(trials, "run_job", failing(lambda job: not job.extra))
    with pytest.raises(EngineError, match="it fell over"):
        measure(planned, Store(tmp_path / "other"))


def test_values_from_a_hardwares_own_description_are_not_drawn() -> None:
    assert cell_draws.studies([experiments.ALL["picosoc-xip"]], SAMPLES) == []
    assert cell_draws.studies([experiments.ALL["card-probe"]], SAMPLES) == []


# ---- the file


def test_a_file_has_what_was_measured(tmp_path: Path) -> None:
    found = [spread('cell, "one"'), spread("another", tuple(0.125 * one for one in EVEN))]
    path = tmp_path / uncertainty.NAME
    path.write_text(uncertainty.to_csv(found), encoding="utf-8", newline="")
    kept = uncertainty.read(path)
    assert set(kept.all) == set(found)
    assert kept.of("xip", "a", "another") == found[1]
    assert kept.of("xip", "b", "another") is None
    assert uncertainty.read(tmp_path / "none.csv").all == ()
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"uncertainty\.csv: its columns"):
        uncertainty.read(path)


def test_an_interval_holds_the_middle_of_the_runs_and_the_value_as_it_is() -> None:
    assert spread("cell").interval_pct == (-45.0, 45.0)
    assert spread("cell").middle_pct(50) == (-25.0, 25.0)
    assert spread("cell").middle_pct(100) == (-50.0, 50.0)
    above = spread("cell", tuple(float(part + 1) for part in PARTS_PCT))
    assert above.middle_pct(90) == (6.0, 96.0)
    assert above.interval_pct == (0.0, 96.0)


@pytest.mark.parametrize("name", experiments.ALL)
def test_the_file_is_of_the_boards_as_they_are(name: str) -> None:
    stale = "measure it anew: make uncertainty"
    found = [one for one in uncertainty.load().all if one.experiment == name]
    studies = cell_draws.studies([experiments.ALL[name]], SAMPLES)
    kept = {(one.board, one.drawn, one.digest) for one in found}
    assert kept == {(one.board, len(one.parameters), one.digest) for one in studies}, stale
    for study in studies:
        assert {one.cell for one in found if one.board == study.board} == study.cells, stale
    assert len({one.samples for one in found}) <= 1


# ---- coverage


def deviating(*deviations_pct: float) -> list[Row]:
    """Rows whose published numbers deviate so from the simulated ones."""
    return [
        replace(
            row({"n": number}, 1000, round(1000 + 10 * pct)),
            label=f"row {number}",
            counts_as=f"row {number // 2}",
        )
        for number, pct in enumerate(deviations_pct)
    ]


def known(rows: list[Row]) -> Spreads:
    return Spreads(tuple(spread(one.label) for one in rows))


def test_numbers_are_counted_at_each_level() -> None:
    # at a level of L % the interval reaches to +-L/2 %
    rows = deviating(0, 24, -26, 31, 36, -41, 44, 46, -47.6, 48, -70, 300)
    found = coverage.curve(rows, known(rows))
    assert [one.level_pct for one in found] == list(LEVELS_PCT) == [50, 60, 70, 80, 90, 95, 100]
    assert [one.inside for one in found] == [2, 3, 4, 5, 7, 8, 10]
    assert {one.numbers for one in found} == {12}
    assert found[4].pct == pytest.approx(7 / 12 * 100)


def test_independent_numbers_count_once_and_others_not_at_all() -> None:
    rows = deviating(0, 300, 300, 0)
    rows.append(replace(rows[0], label="sum", counts_as=""))
    assert [one.label for one in coverage.independent(rows)] == ["row 0", "row 2"]


def test_rows_of_which_nothing_is_known_do_not_count() -> None:
    rows = deviating(0, 300)
    assert coverage.curve(rows, Spreads(())) == ()
    unpublished = [*rows, row({"n": 9}, 1000)]
    assert coverage.curve(unpublished, known(rows[:1]))[0].numbers == 1


def test_the_curve_agrees_with_the_interval_that_tables_show() -> None:
    rows = deviating(0, 44, 46)
    found = [replace(one, interval_pct=spread(one.label).interval_pct) for one in rows]
    (at_90,) = [one for one in coverage.curve(rows, known(rows)) if one.level_pct == 90]
    assert at_90.inside == sum(one.is_inside is True for one in found) == 2


# ---- the report


def test_the_report_has_the_coverage_in_words_and_as_a_plot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = deviating(0, 44, 46)
    found = known(rows)
    shown = [replace(one, interval_pct=spread(one.label).interval_pct) for one in rows]
    monkeypatch.setattr(uncertainty, "load", lambda: found)
    page = Page(render([result(shown, exact=False)]))
    assert "90 % intervals hold 2 of 3 published numbers, 67 %" in page.words.replace("\xa0", " ")
    # both lines, a point a level, each with its words
    assert len(page.of_class("level")) == 2 * len(LEVELS_PCT)
    assert "90 % intervals hold 2 of 3 published numbers: 67 %" in page.words
    assert "100 % intervals hold 2 of 2 independent numbers: 100 %" in page.words
    assert "90 % of runs with plausible values: 550 to 1,450 cycles" in page.words
    # a hardware's own description is left out
    assert "intervals hold" not in Page(render([result(shown)])).words


def test_without_the_file_the_report_says_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uncertainty, "load", lambda: Spreads(()))
    page = Page(render([experiment()]))
    assert page.of_class("level") == []
    assert "intervals hold" not in page.words


# ---- the command


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("picosoc-xip", "--uncertainty"), "picosoc-xip: no published numbers"),
        (("--uncertainty", "9"), "10<=x<=100000"),
        (("--uncertainty", "--sensitivity"), "--uncertainty makes its own runs"),
        (("--uncertainty", "--quick"), "--uncertainty makes its own runs"),
        (("--uncertainty", "10", "--set", "a.b=1"), "--uncertainty makes its own runs"),
        (("pqm4", "--elfs", ".", "--uncertainty"), "--elfs only takes"),
    ],
)
def test_conflicting_options_are_one_line(
    cyclescope: Command, arguments: tuple[str, ...], words: str
) -> None:
    done = cyclescope("bench", *arguments)
    assert done.status == Status.USAGE
    assert words in done.error
    assert done.stdout == ""


def test_the_command_writes_the_file(cyclescope: Command, tmp_path: Path) -> None:
    done = cyclescope(
        "bench", "quad-spi-throughput", "--uncertainty", "10", "--out", tmp_path / "out"
    )
    assert done.status == 0, done.stderr
    assert "10 draws of" in done.stderr
    found = uncertainty.read(tmp_path / "out" / uncertainty.NAME).all
    labels = {one.cell for one in found}
    planned = experiments.ALL["quad-spi-throughput"]
    assert labels == {
        label for run in moves.published_runs(planned) for label in planned.published_labels(run)
    }
    assert published.load(planned.published).is_exact is False
