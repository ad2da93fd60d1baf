"""Polling loops that are skipped give what loops that are run give: on every shipped board."""

from __future__ import annotations

import pytest
import tiers

from cyclescope._engine import exercise_polls
from cyclescope.board import board_tree, shipped_boards

LOOPS = 400
SEEDS = range(32)
# Other boards have all devices of the following boards, except a chip or two.
VARIANTS = {
    "ben-nanonote-rf230",
    "nucleo-l4r5zi-n25q128a",
    "stm32mp157c-dk2-tty",
    "nucleo-f411re",
    "nucleo-l4r5zi",
    "stm32mp157c-dk2",
}


@pytest.mark.parametrize(
    "board", tiers.mostly_long(shipped_boards(), lambda board: board not in VARIANTS)
)
@pytest.mark.parametrize("seed", tiers.mostly_long(SEEDS, [0]))
def test_skipped_iterations_change_nothing(board: str, seed: int) -> None:
    differences, skipped = exercise_polls(board_tree(board).to_dict(), seed, LOOPS)
    assert differences == []
    if seed == 0:
        # Most devices that are polled can be skipped over, unless a clock is changed first.
        assert sum(skipped.values()) > LOOPS
        assert sum(count > 0 for count in skipped.values()) >= len(skipped) / 2
