"""Random 32-bit encodings of T32 on an M-profile core, each executed once.

Unicorn gives the registers and flags afterwards, the data at the end, and the undefined encodings.
`arm_unpredictable_t32` and `is_left_out` decide where Unicorn's result means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import arm_m_harness
import arm_m_trials as trials
import choices
import tiers
from arm_choices import DATA_BYTES, DATA_MIDDLE, Rng
from arm_m_trials import STACK, Filter, Trial
from arm_m_vfp import is_there
from arm_unpredictable_t32 import t32

TRIALS, AT_ONCE = tiers.sized(1000, 12_000), 1000
# ldm, stm, ldrd, strd and those of floating point: Unicorn lets any address pass.
ALIGNED = (0xE8, 0xE9, 0xEC, 0xED)


def is_left_out(encoding: int) -> bool:
    """What differs from other profiles, and Unicorn has no say in or another idea of."""
    top = encoding >> 24
    # Doubles beyond single precision's moves, loads and stores are undefined there, too, but not
    # registers above D15.
    if top in (0xEC, 0xED, 0xEE) and encoding >> 8 & 0xF in (10, 11) and encoding >> 28 == 14:
        is_data = top == 0xEE and not encoding >> 4 & 1
        return not is_data and not is_there(encoding)
    # ldm of the program counter: it goes anywhere.
    if top in (0xE8, 0xE9) and not encoding >> 22 & 1 and encoding >> 15 & 1:
        return True
    # Branches, msr and mrs.
    return encoding >> 27 == 0b11110 and bool(encoding >> 15 & 1)


def encodings(rng: Rng) -> Iterator[int]:
    while True:
        encoding = rng.randrange(0xE800, 0x10000) << 16 | rng.getrandbits(16)
        if not t32(encoding) and not is_left_out(encoding):
            yield encoding


def registers(rng: Rng, encoding: int) -> tuple[int, ...]:
    """r0 to r14: anything, multiples of four, or pointers into the data; SP is in the stack."""
    kind = rng.random()
    if encoding >> 24 in ALIGNED or kind >= 0.4:
        values = [DATA_MIDDLE + rng.randrange(-0x300, 0x300, 4) for _ in range(15)]
    elif kind < 0.2:
        values = [choices.any_value(rng) & 0xBFFFFFFC for _ in range(15)]
    else:
        values = [choices.any_value(rng) for _ in range(15)]
    values[trials.SP] = STACK + rng.randrange(-0x200, 0x200, 4)
    return tuple(values)


def test_random_long_instructions_do_what_unicorns_do(changed_board: Callable[..., Path]) -> None:
    board = str(changed_board(arm_m_harness.MEMORY, arm_m_harness.BOARD))
    rng, unicorn = Rng(6), Filter()
    data = b"".join(choices.any_value(rng).to_bytes(4, "little") for _ in range(DATA_BYTES // 4))
    taken: list[Trial] = []
    total = 0
    for _, encoding in zip(range(TRIALS), encodings(rng), strict=False):
        trial = Trial(encoding, rng.getrandbits(32) & trials.FLAGS, registers(rng, encoding))
        if unicorn.takes(trial):
            taken.append(trial)
        if len(taken) == AT_ONCE:
            trials.compare(taken, data, board)
            total += len(taken)
            taken = []
    trials.compare(taken, data, board)
    total += len(taken)
    print(f"{total} of {TRIALS} encodings")
    assert total > 0.5 * TRIALS
