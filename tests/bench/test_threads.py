"""Runs side by side: in their turns, to a stop, and with what goes wrong."""

from __future__ import annotations

import threading
import time
from functools import partial
from pathlib import Path

import pytest

from cyclescope._engine import Stop
from cyclescope.bench.threads import side_by_side
from cyclescope.errors import UsageError, error_text
from cyclescope.suites import pqm4, running
from cyclescope.suites.programs import Program
from cyclescope.suites.running import Done
from cyclescope.suites.suite import Reads

SOON_S = 10


def test_runs_begin_in_their_order_and_are_reported_as_they_end() -> None:
    """The first of two at once waits for the second."""
    second = threading.Event()
    found: list[tuple[int, str]] = []
    begun: list[int] = []

    def run(place: int) -> str:
        begun.append(place)
        if place == 0:
            assert second.wait(SOON_S)
        return f"run {place}"

    def ended(place: int, result: str) -> None:
        found.append((place, result))
        second.set()

    side_by_side([partial(run, place) for place in range(3)], 2, Stop(), ended)
    assert begun == [0, 1, 2]
    assert found[0] == (1, "run 1")
    assert sorted(found) == [(place, f"run {place}") for place in range(3)]


def test_nothing_begins_after_a_stop() -> None:
    stop, begun = Stop(), []

    def run(place: int) -> int:
        begun.append(place)
        stop.request()
        return place

    found: list[int] = []
    runs = [partial(run, place) for place in range(50)]
    side_by_side(runs, 1, stop, lambda place, result: found.append(result))
    # one more may have begun before it was seen that all is to stop
    assert 1 <= len(found) <= len(begun) < 50


@pytest.mark.parametrize("in_run", [True, False])
def test_an_exception_stops_the_other_runs(in_run: bool) -> None:
    stop = Stop()

    def fail(*_: object) -> None:
        raise ValueError("no")

    def rest() -> None:
        until = time.monotonic() + SOON_S
        while not stop.requested and time.monotonic() < until:
            time.sleep(0.01)

    runs = [fail if in_run else lambda: None, rest]
    with pytest.raises(ValueError, match="no"):
        side_by_side(runs, 2, stop, lambda *_: None if in_run else fail())
    assert stop.requested


def test_programs_of_a_suite_are_reported_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    last = threading.Event()

    def run(suite: object, program: Program, *_: object) -> Done:
        if program.path.name == "0":
            assert last.wait(SOON_S)
        if program.path.name == "2":
            last.set()
        return Done(program, Reads(error=program.path.name))

    monkeypatch.setattr(running, "run", run)
    programs = [Program(Path(str(place)), {}, "a", True) for place in range(3)]
    seen: list[str | None] = []
    done = running.run_all(
        pqm4.SUITE, programs, 3, {}, Stop(), lambda one: seen.append(one.reads.error)
    )
    assert seen == [one.reads.error for one in done] == ["0", "1", "2"]


def test_foreseen_errors_speak_for_themselves() -> None:
    assert error_text(UsageError("a.elf: not there")) == "a.elf: not there"
    assert error_text(OSError(2, "No such file")) == "[Errno 2] No such file"
    assert error_text(KeyError("x")).startswith("a fault of Cyclescope at ")
