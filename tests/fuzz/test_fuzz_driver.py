"""The fuzzing driver finds planted faults, keeps them, and continues."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fuzz.driver import Driver, Figures, Limits
from fuzz.inputs import Input, MisbehaviourError, load

INPUTS = 40
# a loaded host is not to be taken for a hang
LONGEST_S = 1.0


class Planted:
    """Numbers. Some of them are bad."""

    name = "planted"

    def make(self, seed: str) -> Input:
        return {"target": self.name, "number": int(seed)}

    def run(self, made: Input) -> str:
        match made["number"]:
            case 5:
                die(deep=200)
            case 11:
                while True:
                    pass
            case 12:
                time.sleep(60)
            case 17:
                raise MisbehaviourError("two and two is five")
            case 23 | 24 | 25 | 26 | 27:
                raise ZeroDivisionError(made["number"])
            case 31:
                bytearray(20 << 30)
        return "done"


def die(deep: int) -> None:
    """Panic with as many callers as Python's dump of the stack may show: it follows the message."""
    if deep:
        die(deep - 1)
    os.write(2, b"thread '<unnamed>' panicked at somewhere.rs:12:\n")
    os.abort()


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """The figures of a run with all inputs, including those that hang."""
    planted, folder = Planted(), tmp_path_factory.mktemp("found")

    def source(number: int) -> tuple[int, Input]:
        return 0, planted.make(str(number))

    limits = Limits(inputs=INPUTS, longest_s=LONGEST_S)
    with Driver([planted], source, folder, limits, 2, say=lambda text: None) as driver:
        return driver.run()


def test_a_crash_a_hang_and_what_is_wrong_are_kept_and_the_rest_is_run(figures: Figures) -> None:
    assert figures.sums["planted"].outcomes["done"] == INPUTS - 10
    numbers = {load(finding.file)["number"]: finding for finding in figures.findings}
    assert {5, 11, 12, 17, 31} < set(numbers)
    said = {number: finding.what for number, finding in numbers.items()}
    assert said[5] == "died: SIGABRT: thread '<unnamed>' panicked at somewhere.rs:12:"
    assert said[11] == said[12] == "hang: more than 1 s"
    assert said[17] == "two and two is five"
    assert said[31].startswith("MemoryError")
    # of five equal findings three are kept, and the others counted
    assert sum(23 <= number <= 27 for number in numbers) == 3
    assert sum(finding.times for finding in figures.findings) == 10
    assert "ZeroDivisionError" in numbers[23].file.with_suffix(".txt").read_text()


def test_a_finding_can_be_run_again(figures: Figures, tmp_path: Path) -> None:
    (first,) = [each for each in figures.findings if each.what == "two and two is five"]

    def source(number: int) -> tuple[int, Input] | None:
        return None if number else (0, load(first.file))

    with Driver([Planted()], source, tmp_path, Limits(), say=lambda text: None) as driver:
        (again,) = driver.run().findings
    assert (again.what, load(again.file)) == (first.what, load(first.file))


def test_a_worker_stops_in_time(tmp_path: Path) -> None:
    planted = Planted()
    limits = Limits(seconds=0.5)
    source = lambda number: (0, planted.make("0"))  # noqa: E731
    with Driver([planted], source, tmp_path, limits, say=lambda text: None) as driver:
        figures = driver.run()
    assert figures.sums["planted"].inputs > 100
    assert not figures.findings
