"""The experiment `quad-spi-throughput`: what its choices do to a few pages."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from tiers import mostly_long

from cyclescope import bench
from cyclescope.bench.experiment import Choice
from cyclescope.bench.planning import Job
from cyclescope.board.description.parameters import CALIBRATED
from cyclescope.experiments.quad_spi_throughput import EXPERIMENT, SHORT_PAGES
from cyclescope.firmware import with_defaults

# N25Q128A: a page program's typical time, which the board has.
PROGRAM_US = 500
CHOICES = {choice.name: choice for choice in EXPERIMENT.choices}
SHORT = {
    "what is timed of a page that is written",
    "clock of the processor and of AXI",
    "reads of the flash's status between the write enable and a page",
}
QUAD = EXPERIMENT.short_form(EXPERIMENT.runs[0])


@cache
def measured(choice: Choice | None = None) -> dict[str, float]:
    """The metrics of the short form in quad mode, with a choice's alternative."""
    run = QUAD if choice is None else choice.change(QUAD)
    run = replace(run, settings=with_defaults(run.app, run.settings))
    record = bench.run_job(Job(EXPERIMENT, run), checks_disk=False)
    assert record.error is None
    assert record.result is not None
    return {one.name: one.value for one in record.result.metrics}


def test_the_short_form_has_as_many_cells_of_fewer_pages() -> None:
    for run in EXPERIMENT.runs:
        short = EXPERIMENT.short_form(run)
        assert short.overrides == run.overrides
        assert short.settings.keys() == run.settings.keys()
        assert short.settings.get("pages", SHORT_PAGES) == SHORT_PAGES


# Other tests check the effect of the short ones.
@pytest.mark.parametrize("name", mostly_long(CHOICES, SHORT))
def test_each_choice_has_an_alternative_that_runs(name: str) -> None:
    other = measured(CHOICES[name])
    assert other["pages"] == SHORT_PAGES
    assert other["data_mismatches"] == 0
    assert other != measured()


def test_the_fitted_work_is_inside_the_timed_part_of_a_page() -> None:
    (fitted,) = (choice for choice in EXPERIMENT.choices if choice.basis == CALIBRATED)
    with_work = measured(fitted)
    assert with_work["write_time"] == with_work["write_page_time"]
    assert with_work["write_time"] > SHORT_PAGES * PROGRAM_US
    assert with_work["write_transfer_time"] == measured()["write_time"]
    assert with_work["read_time"] == measured()["read_time"]


def test_printed_times_follow_the_clock_of_the_bus() -> None:
    """The program divides its timer's clocks by those of a microsecond."""
    slower = measured(CHOICES["clock of the processor and of AXI"])
    assert 1.05 < slower["write_time"] / measured()["write_time"] < 1.25


def test_a_status_read_before_writes_costs_writes_alone() -> None:
    choice = CHOICES["reads of the flash's status between the write enable and a page"]
    more_us = (measured(choice)["write_time"] - measured()["write_time"]) / SHORT_PAGES
    # by hand 170 clocks of 100 MHz
    assert 1.4 < more_us < 2.2
    assert measured(choice)["read_time"] == pytest.approx(measured()["read_time"], rel=0.02)
