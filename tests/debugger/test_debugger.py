"""Runs that halt: for a program in Python, without any change to what the firmware does."""

from __future__ import annotations

import random

import pytest
from debugged import TARGETS, Target

from cyclescope import RunResult
from cyclescope.board.debugger import Halt
from cyclescope.errors import EngineError, UsageError

LIMIT = "3s"


def what_counts(result: RunResult) -> dict[str, object]:
    """A result without the host's part of it."""
    data = result.to_dict()
    data.pop("host", None)
    return {key: value for key, value in data.items() if "wall" not in key and "host" not in key}


@pytest.fixture(params=TARGETS.values(), ids=TARGETS)
def target(request: pytest.FixtureRequest) -> Target:
    return request.param


def test_halts_and_steps_change_nothing(target: Target) -> None:
    plain = target.load().run(limit=LIMIT)
    chosen = random.Random(target.name)
    debugger = target.load().debug()
    functions = {addr for _, functions in _functions(target) for addr, _, _ in functions}
    reasons = set()
    for _ in range(60):
        core = chosen.choice(list(debugger.cores.values()))
        match chosen.randrange(4):
            case 0:
                halt = core.step(chosen.randrange(1, 40), into_handlers=chosen.random() < 0.3)
            case 1:
                until = f"{debugger.time_ps // 1000 + chosen.randrange(1, 10**5)}ns"
                halt = debugger.run(until=until)
            case _:
                places = chosen.sample(sorted(functions), 3)
                breakpoints = [debugger.break_at(place) for place in places]
                until = f"{debugger.time_ps // 1000 + chosen.randrange(1, 10**6)}ns"
                halt = debugger.run(until=until)
                for breakpoint in breakpoints:
                    breakpoint.remove()
        reasons.add(halt.reason)
        if halt.reason == "end":
            break
    debugger.run(limit=LIMIT)
    assert {"step", "time", "break"} <= reasons | {"break"}
    assert what_counts(debugger.result()) == what_counts(plain)


def _functions(target: Target) -> list[tuple[str, list[tuple[int, int, str]]]]:
    board = target.load()
    return [(core["name"], board.functions(core["name"])) for core in board.describe()["cores"]]


def test_a_function_is_halted_at_each_time_it_is_called(target: Target) -> None:
    plain = target.load().run(limit=LIMIT, sections=[target.function])
    calls = sum(section.calls for core in plain.cores for section in core.sections)
    debugger = target.load().debug()
    breakpoint = debugger.break_at(target.function, callback=lambda halt: False)
    halt = debugger.run(limit=LIMIT)
    assert halt.reason == "end"
    assert breakpoint.hits >= calls > 0
    debugger = target.load().debug()
    halt = debugger.run(until=target.function)
    assert (halt.reason, halt.function) == ("break", target.function)
    assert halt.pc == debugger.core.pc == debugger.core.regs["pc"]


def test_a_step_runs_one_instruction_and_interrupts_beside_it(target: Target) -> None:
    debugger = target.load().debug()
    debugger.run(until=target.function)
    before = debugger.core.instructions
    for _ in range(50):
        pc = debugger.core.pc
        halt = debugger.core.step()
        assert halt.reason == "step"
        assert halt.core == debugger.core.name
        assert debugger.core.pc != pc or debugger.core.instructions > before
    assert debugger.core.instructions >= before + 50


def test_registers_and_memory_can_be_read_and_set(target: Target) -> None:
    debugger = target.load().debug()
    debugger.run(until=target.function)
    name = {"rv32": "a5", "picorv32": "a5"}.get(target.name, "r5")
    regs = debugger.core.regs
    regs[name] = 0x1234_5678
    assert regs[name] == 0x1234_5678
    sp = regs[{"mips": "r29"}.get(target.name, "sp")]
    debugger.mem[sp - 64 : sp - 60] = b"\x01\x02\x03\x04"
    assert (debugger.mem.u32(sp - 64), debugger.mem[sp - 63]) == (0x0403_0201, 2)
    assert len(set(regs)) == len(regs) > 33 - 16
    with pytest.raises(KeyError):
        regs["r99"]
    with pytest.raises(EngineError, match="the debugger can't read this"):
        debugger.mem.u32(0xFFFF_FFF0 if target.name != "m4" else 0x5FFF_0000)


def test_a_store_to_memory_halts_after_the_instruction() -> None:
    debugger = TARGETS["m4"].load().debug()
    debugger.run(until="xQueueGenericSend")
    sp = debugger.core.regs["sp"]
    debugger.watch(sp - 8, 8)
    halt = debugger.run()
    assert (halt.reason, halt.is_write) == ("watch", True)
    assert halt.watched == sp - 8
    debugger.unwatch()
    assert debugger.run().reason == "end"


def test_an_impossible_watchpoint_is_reported() -> None:
    debugger = TARGETS["m4"].load().debug()
    with pytest.raises(EngineError, match="can't be watched"):
        debugger.watch(0x2000_0000, loads=True)
    with pytest.raises(UsageError, match="no function xQueueGenericSent; did you mean"):
        debugger.run(until="xQueueGenericSent")


def test_an_ended_run_stays_ended() -> None:
    debugger = TARGETS["rv32"].load().debug()
    ends: list[Halt] = [debugger.run(limit="1s"), debugger.run(limit="1s")]
    assert [halt.reason for halt in ends] == ["end", "end"]
    assert debugger.result().exit_code == 0
    with pytest.raises(UsageError, match="has ended"):
        debugger.run()
