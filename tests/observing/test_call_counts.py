"""All features that count calls agree: profiles, sections, single calls, conditions.

A Cortex-M4's program makes the calls that a script says, in two tasks, with interrupts that come
late, pend each other, and are taken one after the other. The engine's tests have programs for all
instruction sets (conformance/following.rs).
"""

from __future__ import annotations

import contextlib
import re
import struct
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiers import sized

from cyclescope import Board, firmware
from cyclescope.board.results import RunResult

BOARD = "minimal-armv7m"
SOURCE = ROOT / "tests" / "firmware" / "armv7m" / "calls.c"
WORK, CALL, TAIL, RECUR, PEND, TRY, SWITCH, THROW = range(16, 144, 16)
END = b"\0"
HALF = 256
# placeholders in the program for its scripts and for the ticks' period
SCRIPT_MARK = b"the script of calls begins"
PERIOD_MARK = struct.pack("<4I", 0x70657269, 0x6F64206F, 0x66207469, 0x636B730A)
HANDLERS = ["SysTick_Handler", "PendSV_Handler", "Interrupt0_Handler", "Interrupt1_Handler"]
STEPS = [f"step{number}" for number in range(4)]
FUNCTIONS = [*STEPS, "recurs", "thrower", "helper", "set_jump", "long_jump", *HANDLERS]


class ThrownError(Exception):
    """The function ends here."""


@dataclass
class Script:
    """A random script of a task, and the counts of its calls."""

    random: Random
    acts: bytearray = field(default_factory=bytearray)
    calls: Counter[str] = field(default_factory=Counter)

    def function(self, number: int, depth: int, tries: bool) -> None:
        """A step function reads what it does, up to an end or a jump to another."""
        self.calls[f"step{number}"] += 1
        for _ in range(self.random.randrange(5)):
            self.act(depth, tries)
        # one to itself could be a loop
        callee = (number + self.random.randrange(1, 4)) % 4
        if depth < 4 and self.random.random() < 0.25:
            self.acts.append(TAIL | callee)
            return self.function(callee, depth + 1, tries)
        self.acts += END

    def act(self, depth: int, tries: bool) -> None:
        kinds = [WORK, RECUR, PEND, SWITCH, *[CALL] * 3 * (depth < 4)]
        kind = self.random.choice([*kinds, *([THROW] if tries else [TRY] * (depth < 4))])
        number = self.random.randrange(4)
        if len(self.acts) > HALF - 64:
            kind = WORK
        self.acts.append(kind | number)
        if kind == CALL:
            self.function(number, depth + 1, tries)
        elif kind == RECUR:
            self.calls["recurs"] += number + 1
        elif kind == TRY:
            self.calls["set_jump"] += 1
            with contextlib.suppress(ThrownError):
                self.function(number, depth + 1, tries=True)
        elif kind == THROW:
            self.calls["thrower"] += number + 1
            self.calls["long_jump"] += 1
            raise ThrownError


@cache
def program() -> Path:
    return firmware.build(firmware.board_recipe("calls", BOARD, [SOURCE]))


def scripted(folder: Path, seed: int, period: int) -> tuple[Path, Counter[str]]:
    """The program with scripts for both tasks, and the calls that these make."""
    tasks = [Script(Random(2 * seed + number)) for number in range(2)]
    for task in tasks:
        task.function(0, 0, tries=False)
    halves = b"".join(bytes(task.acts[:HALF]).ljust(HALF, END) for task in tasks)
    data = program().read_bytes()
    for mark, what in ((SCRIPT_MARK, halves), (PERIOD_MARK, struct.pack("<I", period))):
        (place,) = [match.start() for match in re.finditer(re.escape(mark), data)]
        data = data[:place] + what + data[place + len(what) :]
    elf = folder / "calls.elf"
    elf.write_bytes(data)
    return elf, tasks[0].calls + tasks[1].calls


Spans = dict[str, list[tuple[int, int]]]


def by_calls(result: RunResult) -> Spans:
    (core,) = result.cores
    return {
        section.name: sorted((call.begin_ps, call.ps) for call in section.longest_calls or ())
        for section in core.sections
    }


def by_profile(result: RunResult) -> Spans:
    assert result.profile is not None
    (core,) = result.profile.cores
    cycle_ps = 10**12 // result.cores[0].hz
    return {
        name: sorted((call.begin_ps, call.cycles * cycle_ps) for call in core.calls.get(name, ()))
        for name in FUNCTIONS
    }


def under_way(spans: list[tuple[int, int]]) -> tuple[int, int]:
    """The number of times that some call was under way, and the total time."""
    count, held_ps, until_ps = 0, 0, -1
    for begin_ps, took_ps in spans:
        end_ps = begin_ps + took_ps
        count += begin_ps > until_ps
        held_ps += max(0, end_ps - max(begin_ps, until_ps))
        until_ps = max(until_ps, end_ps)
    return count, held_ps


def check(elf: Path, expected: Counter[str]) -> None:
    loaded = Board(BOARD).load(elf)
    plain = loaded.run()
    assert plain.outcome == "exit", plain.message
    numbers = [int(number) for number in re.findall(r"\d+", plain.console)]
    counted = [*numbers[:2], *numbers[2:4]]
    expected = expected + Counter(dict(zip(HANDLERS, counted, strict=True)))
    expected["helper"] = numbers[4]

    kept = loaded.run(calls=FUNCTIONS, longest_calls=10_000, waits=True)
    spans = by_calls(kept)
    assert {name: len(of) for name, of in spans.items()} == {
        name: expected[name] for name in FUNCTIONS
    }
    assert by_profile(loaded.run(profile=FUNCTIONS)) == spans
    conditions = loaded.run(count_when=[f'"{name}" in cpu0.calls' for name in FUNCTIONS])
    assert [(one.count, one.true_ps) for one in conditions.triggers] == [
        under_way(spans[name]) for name in FUNCTIONS
    ]
    sections = loaded.run(sections=FUNCTIONS, compile_after=1)
    assert [section.calls for section in sections.cores[0].sections] == [
        section.calls for section in kept.cores[0].sections
    ]
    for one, other in zip(sections.cores[0].sections, kept.cores[0].sections, strict=True):
        assert one.stack == other.stack
    together = loaded.run(sections=FUNCTIONS[:3], profile=FUNCTIONS, compile_after=0)
    assert by_profile(together) == spans
    for run in (kept, conditions, sections, together):
        assert (run.elapsed_ps, run.cores[0].stack) == (plain.elapsed_ps, plain.cores[0].stack)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("calls")


@settings(
    max_examples=sized(5, 100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 2**32), period=st.integers(300, 3000))
def test_all_ways_of_counting_calls_agree(folder: Path, seed: int, period: int) -> None:
    check(*scripted(folder, seed, period))
