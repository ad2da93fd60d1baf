"""Going back from Python: all is as it was, and the way forth is the same again."""

from __future__ import annotations

import random
from typing import Any

import pytest
import tiers
from debugged import TARGETS, Target

from cyclescope.board.debugger import Debugger
from cyclescope.errors import EngineError, UsageError

LIMIT = "3s"


@pytest.fixture(params=TARGETS.values(), ids=TARGETS)
def target(request: pytest.FixtureRequest) -> Target:
    return request.param


def state(debugger: Debugger) -> dict[str, Any]:
    """The state of the cores."""
    return {
        name: (dict(core.regs), core.instructions, core.time_ps)
        for name, core in debugger.cores.items()
    }


def what_counts(result: dict[str, Any]) -> dict[str, Any]:
    """A result without the host's part of it."""
    return {key: value for key, value in result.items() if key != "host"}


def test_ways_back_and_forth_come_by_the_same_moments(target: Target) -> None:
    plain = target.load().run(limit=LIMIT)
    chosen = random.Random(target.name)
    debugger = target.load().debug()
    breakpoint = debugger.break_at(target.function)
    known: dict[int, dict[str, Any]] = {}
    core = debugger.core
    for _ in range(tiers.sized(12, 25)):
        match chosen.randrange(4):
            case 0:
                core.step(chosen.randrange(1, 20), into_handlers=True)
            case 1:
                core.step_back(chosen.randrange(1, 20))
            case 2:
                debugger.run_back()
            case _ if debugger.run(limit=LIMIT).reason == "end":
                debugger.run_back()
        here = state(debugger)
        assert known.setdefault(core.instructions, here)[core.name] == here[core.name]
    breakpoint.remove()
    assert debugger.run_back().reason == "begin"
    assert core.instructions == 0
    assert debugger.run(limit=LIMIT).reason == "end"
    result = debugger.result()
    assert what_counts(result.to_dict()) == what_counts(plain.to_dict())
    # output is not printed twice
    assert result.console == plain.console


def test_a_step_back_is_the_moment_before(target: Target) -> None:
    debugger = target.load().debug()
    debugger.run(until=target.function)
    steps = [state(debugger)]
    for _ in range(tiers.sized(12, 30)):
        debugger.core.step(into_handlers=True)
        steps.append(state(debugger))
    for before in reversed(steps[:-1]):
        halt = debugger.core.step_back()
        assert (halt.reason, halt.core) == ("step", debugger.core.name)
        # the other core may be up to a quantum ahead
        assert state(debugger)[halt.core] == before[halt.core]


def test_the_last_store_is_found_and_gone_back_to() -> None:
    debugger = TARGETS["m4"].load().debug()
    debugger.run(until="xQueueGenericSend")
    sp = debugger.core.regs["sp"] - 8
    debugger.watch(sp, 4)
    halt = debugger.run()
    stored, here = debugger.mem.u32(sp), state(debugger)
    access = debugger.last_store(sp)
    assert access is not None
    assert (access.time_ps, access.core, access.pc) == (halt.time_ps, halt.core, halt.pc)
    assert (access.instructions, access.device) == (debugger.core.instructions, None)
    assert state(debugger) == here
    debugger.core.step(10)
    back = debugger.run_back()
    assert (back.reason, back.watched, back.is_write) == ("watch", sp, True)
    assert debugger.core.instructions == access.instructions - 1
    debugger.core.step()
    assert (debugger.mem.u32(sp), state(debugger)) == (stored, here)


def test_an_address_without_a_store_has_no_last_store() -> None:
    debugger = TARGETS["rv32"].load().debug()
    debugger.run(until="clock_ticks")
    assert debugger.last_store(debugger.core.regs["sp"] - 4096) is None
    with pytest.raises(EngineError, match="can't be watched"):
        debugger.last_store(0xFFFF_0000)


def test_a_condition_is_gone_back_to() -> None:
    debugger = TARGETS["rv32"].load().debug()
    debugger.break_when('"clock_ticks" in cpu0.calls')
    first = debugger.run()
    assert debugger.run().reason == "condition"
    back = debugger.run_back()
    assert (back.reason, back.conditions) == ("condition", first.conditions)
    assert back.time_ps <= first.time_ps


def test_there_is_no_way_back_to_before_memory_was_set() -> None:
    debugger = TARGETS["rv32"].load().debug()
    debugger.run(until="clock_ticks")
    instructions = debugger.core.instructions
    sp = debugger.core.regs["sp"]
    debugger.mem[sp - 64 : sp - 60] = b"1234"
    debugger.core.step(20)
    assert debugger.run_back().reason == "begin"
    assert debugger.core.instructions == instructions
    assert debugger.mem[sp - 64 : sp - 60] == b"1234"
    assert debugger.core.step_back().reason == "begin"


def test_a_result_that_was_taken_is_final() -> None:
    debugger = TARGETS["rv32"].load().debug()
    debugger.run(until="clock_ticks")
    debugger.result()
    for go_back in (debugger.run_back, debugger.core.step_back, lambda: debugger.last_store(0)):
        with pytest.raises(UsageError, match="has ended"):
            go_back()
    with pytest.raises(UsageError, match="0 steps"):
        debugger.core.step_back(0)
