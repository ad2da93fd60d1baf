"""The experiment `thread-metric`: FreeRTOS on an STM32L4 at 80 MHz."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from conftest import Command
from stored_results import source
from tiers import ALL, sized

from cyclescope import Board, bench, experiments, firmware
from cyclescope.bench import planning, published
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.board.results import RunResult, Value
from cyclescope.experiments import thread_metric
from cyclescope.experiments.thread_metric import APP, BASE, BOARD, EXPERIMENT, TESTS

# Cycles of a yield: the loop, the service, entry, PendSV_Handler up to the call, vTaskSwitchContext
# (a fifth of the rounds goes past the end of the list), the rest of the handler, return. The page
# docs/thread-metric.md has the sum.
YIELD = 8 + 10 + 12 + 35 + 46.4 + 28 + 10
SHORT_MS = sized(10, 20)
# Runs without caches, which take long to simulate.
FETCHED = "all" if ALL else "message"


@cache
def ran(elf: Path, compile_after: int | None, words_ahead: int | None) -> RunResult:
    more = {} if compile_after is None else {"compile_after": compile_after}
    ahead = {} if words_ahead is None else {"flash.cyclescope,words-ahead": words_ahead}
    return Board(BOARD, ahead).load(elf).run("10s", **more)


def run(
    settings: dict[str, Value], compile_after: int | None = None, words_ahead: int | None = None
) -> RunResult:
    """The result of a program; identical programs run once."""
    elf = firmware.build_app(APP, BOARD, BASE | {"window_ms": SHORT_MS} | settings)
    return ran(elf, compile_after, words_ahead)


def cycles(settings: dict[str, Value], words_ahead: int | None = None) -> dict[str, float]:
    """By test."""
    found = run(settings, words_ahead=words_ahead)
    metrics = [metric for metric in found.metrics if metric.name == "cycles"]
    return {str(metric.settings["test"]): float(metric.value) for metric in metrics}


@pytest.fixture(scope="module")
def known() -> dict[str, float]:
    return cycles({"test": "all"})


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    """The experiment with short windows."""
    jobs = [
        replace(job, run=EXPERIMENT.short_form(job.run))
        for job in planning.plan(experiments.select(["thread-metric"]))
        if job.run.documented
    ]
    # nothing here looks at waits
    (table,) = bench.tabulate(
        jobs, bench.run_jobs(jobs, threads=2, recorded=bench.Recorded(waits=ALL))
    )
    return table


def test_all_tests_run_and_print_both_results(known: dict[str, float]) -> None:
    assert tuple(known) == TESTS
    loops = {m.settings["test"]: m.value for m in run({"test": "all"}).metrics if m.unit == "loops"}
    for test, taken in known.items():
        assert loops[test] == pytest.approx(30 * 80e6 / taken, rel=3e-4)


def test_a_yield_takes_what_its_instructions_do() -> None:
    """Within what ticks take: 100 a second, each less than 300 cycles of 800,000."""
    taken = cycles({"test": "cooperative", "tick_hz": 100, "window_ms": 100})["cooperative"]
    assert YIELD <= taken <= YIELD * (1 + 300 / 800_000)


def test_a_tick_costs_what_it_costs_in_any_test(known: dict[str, float]) -> None:
    """In cycles: what a loop is longer by, over a tick's time. The handler's way back differs."""
    seldom = cycles({"test": "all", "tick_hz": 100, "window_ms": sized(20, 50)})
    often, rarely = 80e6 / 1000, 80e6 / 100
    ticks = [
        (known[test] / seldom[test] - 1) / (1 / often - 1 / rarely)
        for test in ("basic", "interrupt", "synchronization", "message", "memory")
    ]
    assert all(80 < tick < 300 for tick in ticks), ticks


def test_an_interrupt_that_wakes_another_costs_two_switches_more(known: dict[str, float]) -> None:
    """Two more PendSV, and the kernel's lists; no more than a pre-emption's round has of them."""
    more = known["interrupt-preemption"] - known["interrupt"]
    assert 2 * (12 + 37 + 48 + 28 + 10) < more < 5 * known["preemptive"]


def test_the_flash_without_caches_costs_and_prefetch_hides_little(known: dict[str, float]) -> None:
    caches, plain = (cycles({"test": FETCHED, "accelerators": on}) for on in ("caches", "none"))
    assert tuple(plain) == (TESTS if ALL else (FETCHED,))
    for test in plain:
        # a loop stays in the caches; a prefetch for nothing can keep a read waiting
        assert 0.999 * known[test] <= caches[test] <= 1.01 * known[test]
        # a fetch of 64 bits takes five cycles, of two to four instructions; some are asked early
        assert 1.1 * known[test] < plain[test] < 5 * known[test]


def test_each_wait_state_costs_as_much_without_caches(known: dict[str, float]) -> None:
    """A fetch of 64 bits, of two to four instructions, is waited for a cycle longer.

    If the core asks for a line only when it is due: asking early hides some of each wait.
    """
    three, four, five = (
        cycles({"test": "message", "accelerators": "none", "wait_states": states}, 0)["message"]
        for states in (3, 4, 5)
    )
    assert five - four == pytest.approx(four - three, rel=0.02)
    instructions = known["message"]
    assert instructions / 8 < four - three < instructions / 2


def test_protections_and_mutexes_cost(known: dict[str, float]) -> None:
    checked = cycles({"test": "all", "protections": "on"})
    for test in ("cooperative", "preemptive", "message", "synchronization"):
        assert checked[test] > known[test]
    mutex = cycles({"test": "synchronization", "semaphore": "mutex"})
    assert mutex["synchronization"] > known["synchronization"]


def test_compiled_code_takes_the_same() -> None:
    interpreted, compiled = (run({"test": "all"}, after) for after in (0, 1))
    assert interpreted.exit_code == 0
    assert interpreted.console.count('"metric":"cycles"') == len(TESTS)
    assert interpreted.console == compiled.console
    assert interpreted.elapsed_ps == compiled.elapsed_ps


def test_four_numbers_are_published_for_tests_and_one_for_a_program() -> None:
    table = published.load(thread_metric.TABLE)
    names = {row["test"] for row in table.results}
    assert names - set(TESTS) == {"calibration"}
    assert len(names & set(TESTS)) == 4


def test_the_published_numbers_are_whole_but_for_a_tick() -> None:
    """9, 510 and 333 cycles, and fifths of 702 and 2745: each about 0.33 % more."""
    whole = {"calibration": 9, "message": 510, "synchronization": 333}
    whole |= {"cooperative": 702 / 5, "preemptive": 2745 / 5}
    for row in published.load(thread_metric.TABLE).results:
        rounding = 0.005 / row["cycles"]
        assert row["cycles"] / whole[row["test"]] - 1 == pytest.approx(0.0033, abs=4e-4 + rounding)


def test_the_rows_that_the_experiment_compares(result: ExperimentResult) -> None:
    assert [(failed.label, failed.error) for failed in result.failures] == []
    compared = {row.settings["test"]: row for row in result.rows if row.published is not None}
    assert set(compared) == {"cooperative", "preemptive", "message", "synchronization"}
    assert len(result.rows) == 2 * len(TESTS)
    for row in compared.values():
        assert abs(row.simulated / row.published - 1) < 0.25


def test_a_rows_stack_is_its_window(result: ExperimentResult) -> None:
    rows = {row.settings["test"]: row for row in result.rows if row.metric == "cycles"}
    stack = stack_of(rows["cooperative"])
    whole = 80e6 * thread_metric.SHORT_WINDOW_MS / 1000
    assert sum(stack.values()) == pytest.approx(whole, rel=1e-3)
    yields = whole / rows["cooperative"].simulated
    # entry 12 and return 10, with 2 for bx
    assert stack["exception entry and return"] / yields == pytest.approx(20, rel=0.01)


def stack_of(row: Row) -> dict[str, float]:
    return {share.cause: share.cycles for share in row.stack}


def test_answer_and_findings_agree_with_the_rows(result: ExperimentResult) -> None:
    taken = {row.settings["test"]: row.simulated for row in result.rows if row.unit == "cycles"}
    yields = taken["cooperative"]
    assert EXPERIMENT.answer(result.rows) == (
        f"A context switch by a yield takes {yields:.0f} cycles, {yields / 80:.2f} us at 80 MHz; a "
        f"message there and back {taken['message']:.0f}, a semaphore "
        f"{taken['synchronization']:.0f}."
    )
    assert EXPERIMENT.answer(result.rows[:2]) == ""
    assert list(EXPERIMENT.findings(result.rows)) == []


def test_findings_say_how_much_longer_a_yield_takes_by_the_kept_rows() -> None:
    rows = source().results.experiments["thread-metric"].rows
    known = {
        row.settings["accelerators"]: row.simulated
        for row in rows
        if row.label.startswith("cooperative O2 port 1000 ")
    }
    without = {"caches": "prefetch", "none": "prefetch and caches"}
    assert list(EXPERIMENT.findings(rows)) == [
        f"Without the flash's {what} a yield takes {known[name] / known['all']:.2f} times as long."
        for name, what in without.items()
    ]
    assert 1.5 < known["none"] / known["all"] < 2.5


def test_an_unknown_setting_is_refused(cyclescope: Command) -> None:
    refused = cyclescope("bench", "thread-metric", "--set", "thread_metric.test=mail")
    assert refused.status == 121
    assert "thread_metric.test=mail: allowed: all, basic" in refused.error
