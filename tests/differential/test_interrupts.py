"""Timer interrupts at any instruction: nothing is lost, and blocks take them where steps do.

Programs end as they do on Unicorn, which has no timer. The handler's log, the time and its causes
have to be the same by single steps, by blocks, and by blocks compiled for the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import choices
import harness
import programs
import pytest
from interrupts import LOG, LOG_BYTES, Timer
from test_blocks import KC705, LATE_RESULTS, MOST, THROUGH, TINY, TWO_WAYS

from cyclescope.board.description.overrides import OverrideValue

# Far enough apart for the handler to come to an end, whatever the caches.
MINIMAL, KC705_TIMER = Timer(0x0200_0000, 30), Timer(0x4400_0000, 2500)
SETTINGS: dict[str, tuple[str, Timer, Mapping[str, OverrideValue]]] = {
    "minimal": ("minimal-rv32", MINIMAL, {}),
    "kc705": (KC705, Timer(0x4400_0000, 400), {}),
    "tiny": (KC705, KC705_TIMER, TINY),
    "two ways": (KC705, KC705_TIMER, TWO_WAYS),
    "write-through": (KC705, KC705_TIMER, THROUGH),
    "late results": (KC705, KC705_TIMER, LATE_RESULTS),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_interrupts_come_at_the_same_instruction_by_blocks_and_by_steps(setting: str) -> None:
    board, timer, overrides = SETTINGS[setting]
    interrupts = 0
    seeds = harness.seeds(300_001, 15, part=[*SETTINGS].index(setting))
    for seed in seeds:
        program = programs.generate(seed, timer)
        compare(program, timer, board=board, overrides=overrides)
        machine = harness.loaded(program, board=board, overrides=overrides)
        interrupts += machine.run(None, None)["counters"]["cpu0.traps"]
    assert interrupts >= len(seeds)


def compare(program: programs.Program, timer: Timer, **board: Any) -> None:
    """Runs a program on Unicorn, by steps and by blocks, compiled and not."""
    theirs, their_data = harness.reference_trace(program, MOST, [(timer.clint, 0x1_0000)])
    runs = [harness.loaded(program, after, **board) for after in (0, 1, 3)]
    results = [run.run(None, None) for run in runs]
    by_blocks, counters = results[0]["cores"][0], results[0]["counters"]
    stepped = harness.loaded(program, **board)
    # Up to the exit; entering a handler is a step of its own.
    stepped.trace(by_blocks["instructions"] + counters["cpu0.traps"] - len(programs.EXIT))
    by_steps = stepped.run(None, None)
    assert by_steps["outcome"] == "exit", by_steps["message"]
    log = stepped.read_memory(LOG, LOG_BYTES)
    for run, result in zip(runs, results, strict=True):
        assert result == by_steps, f"seed {program.seed}: time and counters"
        assert run.read_memory(LOG, LOG_BYTES) == log, f"seed {program.seed}: interrupts"
        data = run.read_memory(choices.DATA, choices.DATA_BYTES)
        assert data == their_data, f"seed {program.seed}: memory"
        # The exit's own instructions change x10 and x11 alone.
        ours = run.registers()
        assert ours[1:11] + ours[13:] == [*theirs[-1][1:11], *theirs[-1][13:]], program.seed
