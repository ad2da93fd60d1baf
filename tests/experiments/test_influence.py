"""Influences on cells: moves, their changes, and the checked-in file that has them."""

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Command
from hypothesis import given
from hypothesis import strategies as st
from tiers import mostly_long, sized

from cyclescope import Board, experiments
from cyclescope.bench import influence, moves, published, sensitivity, short_forms
from cyclescope.bench.experiment import Experiment
from cyclescope.bench.influence import Change, Influence
from cyclescope.bench.moves import Move
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED, Parameter
from cyclescope.statuses import Status

# Experiments whose published numbers were measured on hardware, and not taken from its RTL.
MEASURED = [
    experiment
    for experiment in experiments.ALL.values()
    if moves.published_runs(experiment) and not published.load(experiment.published).is_exact
]
NAMES = [experiment.name for experiment in MEASURED]
# Fewer than when "calibrated" was only a label.
MOST_CALIBRATED = 20


def parameter(value: int, basis: str, plausible: str = "") -> Parameter:
    return Parameter("/bus", "bus", "x-cycles", str(value), "cycles", "why", basis, plausible)


def move(basis: str, plausible: str, value: int, to: int, name: str = "bus.x") -> Move:
    return Move("e", "b", name, str(value), basis, plausible, str(to))


# ---- moves


@pytest.mark.parametrize(
    ("value", "plausible", "to"),
    [
        (4, "", (5,)),
        (0, "", (1,)),
        (47, "", (52,)),
        (4, "2 to 8", (5,)),
        (8, "4 or 8 or 16", (4, 16)),
    ],
)
def test_a_parameter_moves_by_a_step_or_to_its_alternatives(
    value: int, plausible: str, to: tuple[int, ...]
) -> None:
    assert moves.values(parameter(value, ASSUMED, plausible)) == to


# ---- influence


def test_a_cell_is_calibrated_if_anything_calibrated_moves_it_enough() -> None:
    found = Influence(
        (
            Change(move(CALIBRATED, "", 4, 5, "little"), "cell", 1.9),
            Change(move(CALIBRATED, "", 4, 5, "down"), "cell", -2.1),
            Change(move(CALIBRATED, "", 4, 5, "up"), "cell", 7.0),
            Change(move(ASSUMED, "", 4, 5, "assumed"), "cell", 50.0),
        )
    )
    assert found.calibrated_by("e", "cell") == ("up", "down")
    assert found.calibrated_by("e", "another") == ()
    assert found.calibrated_by("another", "cell") == ()


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)
MOVES = st.builds(Move, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS)
PERCENTS = st.floats(-1000, 1000).map(lambda pct: round(pct, short_forms.DIGITS))


@given(st.lists(st.tuples(MOVES, TEXTS, PERCENTS).map(lambda one: Change(*one)), max_size=8))
def test_a_file_has_each_move_and_what_it_moves(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Change]
) -> None:
    path = tmp_path_factory.mktemp("read") / "sensitivity.csv"
    path.write_text(influence.to_csv(changes), encoding="utf-8", newline="")
    found = influence.read(path)
    assert found.moves == {change.move for change in changes}
    assert {one for one in found.changes if one.pct} == {one for one in changes if one.pct}


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sensitivity.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"sensitivity\.csv: its columns"):
        influence.read(path)
    assert influence.read(tmp_path / "none.csv").changes == ()


# ---- what is checked in


@pytest.mark.parametrize("name", experiments.ALL)
def test_the_sensitivities_are_those_of_the_parameters_that_exist(name: str) -> None:
    stale = "measure it anew: make sensitivity"
    planned = {moved.move for moved in moves.of(experiments.ALL[name])}
    kept = {found for found in influence.load().moves if found.experiment == name}
    assert kept - planned == set(), stale
    assert planned - kept == set(), stale
    known = _labels(experiments.ALL[name]) | {""}
    cells = {one.cell for one in influence.load().changes if one.move.experiment == name}
    assert cells <= known, stale


def _labels(experiment: Experiment) -> set[str]:
    return {
        label
        for run in moves.published_runs(experiment)
        for label in experiment.published_labels(run)
    }


@pytest.mark.parametrize("name", NAMES)
def test_at_most_one_value_for_four_independent_numbers_is_calibrated(name: str) -> None:
    calibrated = _calibrated(experiments.ALL[name])
    independent = _independent(experiments.ALL[name])
    assert 4 * len(calibrated) <= len(independent), calibrated


def test_fewer_values_are_calibrated_than_when_it_was_a_label() -> None:
    assert sum(len(_calibrated(experiment)) for experiment in MEASURED) <= MOST_CALIBRATED


@pytest.mark.parametrize("name", experiments.ALL)
def test_the_source_of_a_calibrated_value_names_a_cell(name: str) -> None:
    experiment = experiments.ALL[name]
    cells = _labels(experiment)
    for source in _calibrated(experiment).values():
        assert any(cell in source for cell in cells), source


def _independent(experiment: Experiment) -> set[str]:
    """The independent numbers that its published ones stand for."""
    runs = moves.published_runs(experiment)
    return {one for run in runs for one in experiment.independent_numbers(run)}


def _calibrated(experiment: Experiment) -> dict[tuple[str, str, str], str]:
    """Sources of calibrated values; a value that parts of a kind share is one.

    None where no number is of a board, as of sums by hand of a core's rules: there the boards'
    values are calibrated by other experiments.
    """
    if not _independent(experiment):
        return {}
    boards = dict.fromkeys(run.board for run in moves.published_runs(experiment))
    found = [one for board in boards for one in Board(board).parameters]
    found += [choice.parameter for choice in experiment.choices]
    return {
        (one.property_name, one.value, one.source): one.source
        for one in found
        if one.basis == CALIBRATED
    }


@pytest.mark.parametrize("name", NAMES)
def test_omissions_are_sorted_by_their_effect(name: str) -> None:
    effects = [omission.effect_pct for omission in experiments.ALL[name].left_out]
    assert effects
    assert effects == sorted(effects, reverse=True)


@pytest.mark.parametrize(
    "name", mostly_long(["quad-spi-throughput", "rpmsg-tty"], short={"quad-spi-throughput"})
)
def test_measured_again_the_strongest_move_gives_what_the_file_has(name: str) -> None:
    experiment = experiments.ALL[name]
    strongest, cell, pct = influence.load().strongest(name)[0]
    pairs = [pair for pair in sensitivity.plan([experiment]) if pair.move == strongest]
    changes = sensitivity.measure(pairs, 2)
    assert Change(strongest, cell, pct) in changes


def test_a_stopped_measurement_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = replace(experiments.ALL["rhealstone"], choices=())
    runs = [
        run
        for run in moves.published_runs(experiment)
        if run.settings["loops"] == 1 and run.settings["cache"] == "on"
    ]
    pairs = sensitivity.plan([replace(experiment, runs=tuple(runs[:2]))])[: sized(3, 6)]
    first = sensitivity.measure(pairs, 2)

    def none(*_: object, **__: object) -> None:
        raise AssertionError("everything was measured before")

    monkeypatch.setattr(sensitivity, "run_job", none)
    assert sensitivity.measure(pairs, 2) == first


# ---- the command


def test_an_experiment_without_published_numbers_has_no_sensitivity(cyclescope: Command) -> None:
    done = cyclescope("bench", "--sensitivity", "card-probe")
    assert done.status == Status.USAGE
    assert "card-probe" in done.error


@pytest.mark.parametrize("option", [("--quick",), ("--set", "a.b=1"), ("--json", "rows.json")])
def test_options_of_other_runs_are_refused(cyclescope: Command, option: tuple[str, ...]) -> None:
    done = cyclescope("bench", "--sensitivity", *option)
    assert done.status == Status.USAGE
    assert "--sensitivity" in done.error
