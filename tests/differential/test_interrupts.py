"""Timer interrupts at any instruction: nothing is lost, and blocks take them where steps do.

Programs end as they do on Unicorn, which has no timer. The handler's log, the time and its causes
have to be the same by blocks and by single steps.
"""

from __future__ import annotations

from collections.abc import Mapping

import choices
import harness
import programs
import pytest
from interrupts import LOG, LOG_BYTES, Timer
from test_blocks import KC705, LATE_RESULTS, MOST, THROUGH, TINY, TWO_WAYS

from cyclescope.overrides import OverrideValue

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
    for seed in range(30_001, 30_061):
        program = programs.generate(seed, timer)
        clint = [(timer.clint, 0x1_0000)]
        theirs, their_data = harness.reference_trace(program, MOST, clint)
        run = harness.loaded(program, board=board, overrides=overrides)
        by_blocks = run.run(None, None)
        assert by_blocks["outcome"] == "exit", by_blocks["message"]
        # The exit's own instructions change x10 and x11 alone.
        ours = run.registers()
        assert ours[1:11] + ours[13:] == [*theirs[-1][1:11], *theirs[-1][13:]], f"seed {seed}"
        data = run.read_memory(choices.DATA, choices.DATA_BYTES)
        assert data == their_data, f"seed {seed}: memory"
        stepped = harness.loaded(program, board=board, overrides=overrides)
        traps = by_blocks["counters"]["cpu0.traps"]
        # Up to the exit; entering a handler is a step of its own.
        stepped.trace(by_blocks["cores"][0]["instructions"] + traps - len(programs.EXIT))
        assert stepped.run(None, None) == by_blocks, f"seed {seed}: time and counters"
        assert stepped.read_memory(LOG, LOG_BYTES) == run.read_memory(LOG, LOG_BYTES), (
            f"seed {seed}"
        )
        interrupts += traps
    assert interrupts > 30
