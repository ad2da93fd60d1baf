"""Divisions, which a Cortex-A7 has, by random and by awkward numbers: as Unicorn's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import arm_a7
import arm_harness
import arm_user_trials
import choices
import pytest
import tiers
from arm_choices import DATA_BYTES, Rng
from arm_user_trials import Trial

AWKWARD = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF)
TRIALS = tiers.sized(500, 1500)
SDIV, UDIV = 0, 1


def operands(rng: Rng) -> tuple[int, int]:
    """Mostly any; each pair of awkward ones comes sooner or later."""
    if rng.random() < 0.4:
        return rng.choice(AWKWARD), rng.choice(AWKWARD)
    return choices.any_value(rng), choices.any_value(rng)


def encoding(rng: Rng, kind: int, *, is_t32: bool) -> tuple[int, int, int]:
    """A division of r[n] by r[m], and the two registers."""
    rd, rn, rm = (rng.randrange(13) for _ in range(3))
    if is_t32:
        return 0xFB90F0F0 | kind << 21 | rn << 16 | rd << 8 | rm, rn, rm
    condition = 14 if rng.random() < 0.8 else rng.randrange(14)
    return condition << 28 | 0x0710F010 | kind << 21 | rd << 16 | rm << 8 | rn, rn, rm


def trials(rng: Rng, *, is_t32: bool) -> Iterator[Trial]:
    for index in range(TRIALS):
        divides, rn, rm = encoding(rng, (SDIV, UDIV)[index % 2], is_t32=is_t32)
        state = [choices.any_value(rng) for _ in range(15)]
        state[rn], state[rm] = operands(rng)
        flags = rng.getrandbits(32) & arm_user_trials.FLAGS
        yield Trial(divides, is_t32, flags, tuple(state))


@pytest.mark.parametrize("is_t32", [False, True])
def test_divisions_are_unicorns(is_t32: bool, changed_board: Callable[..., Path]) -> None:
    board = str(changed_board(arm_a7.CORTEX_A7, arm_harness.BOARD))
    rng = Rng(4)
    program = arm_user_trials.program(
        list(trials(rng, is_t32=is_t32)), bytes(DATA_BYTES), vfp=False
    )
    assert arm_harness.compare(program, board) > TRIALS
