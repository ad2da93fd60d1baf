"""Random 32-bit encodings of A32 and T32, each executed once in User mode.

Unicorn gives the registers and flags afterwards, the data at the end, and the undefined encodings.
`arm_unpredictable` decides where Unicorn's result means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import arm_harness
import arm_user_trials
import choices
import pytest
import tiers
from arm_choices import DATA_BYTES, DATA_MIDDLE, Rng
from arm_unpredictable import a32
from arm_unpredictable_t32 import t32
from arm_user_trials import Trial

Generator = Callable[[Rng], Iterator[int]]
TRIALS = tiers.sized(1000, 12_000)
AT_ONCE = 1500
# By bits 27:25 of A32.
WEIGHTS = (20, 12, 8, 20, 8, 1, 8, 10)


def random_a32(rng: Rng) -> Iterator[int]:
    while True:
        group = rng.choices(range(8), WEIGHTS)[0]
        condition = 14 if rng.random() < 0.85 else rng.choice([0, 1, 15])
        encoding = condition << 28 | group << 25 | rng.getrandbits(25)
        if not a32(encoding):
            yield encoding


def random_t32(rng: Rng) -> Iterator[int]:
    while True:
        encoding = rng.randrange(0xE800, 0x10000) << 16 | rng.getrandbits(16)
        if not t32(encoding):
            yield encoding


def state(rng: Rng) -> tuple[int, ...]:
    """r0 to r14: anything, multiples of four, or pointers into the data."""
    kind = rng.random()
    if kind < 0.3:
        # 0x7fffffff would be an address next to RAM.
        values = (choices.any_value(rng) for _ in range(15))
        return tuple(value - 0xFFFF if value == 0x7FFFFFFF else value for value in values)
    if kind < 0.5:
        return tuple(choices.any_value(rng) & 0xBFFFFFFC for _ in range(15))
    return tuple(DATA_MIDDLE + rng.randrange(-0x300, 0x300, 8) for _ in range(15))


def compare(rng: Rng, encodings: Iterable[int], *, is_t32: bool, most: int) -> int:
    """Tries up to `most` encodings; gives the number of those that were compared."""
    unicorn = arm_user_trials.Filter(vfp=True)
    data = b"".join(choices.any_value(rng).to_bytes(4, "little") for _ in range(DATA_BYTES // 4))
    taken: list[Trial] = []
    total = 0
    for _, encoding in zip(range(most), encodings, strict=False):
        trial = Trial(encoding, is_t32, rng.getrandbits(32) & arm_user_trials.FLAGS, state(rng))
        if unicorn.takes(trial):
            taken.append(trial)
        if len(taken) == AT_ONCE:
            arm_harness.compare(arm_user_trials.program(taken, data, vfp=True))
            total += len(taken)
            taken = []
    arm_harness.compare(arm_user_trials.program(taken, data, vfp=True))
    return total + len(taken)


@pytest.mark.parametrize("generator", [random_a32, random_t32])
def test_random_long_instructions_do_what_unicorns_do(generator: Generator) -> None:
    rng = Rng(4)
    is_t32 = generator is random_t32
    total = compare(rng, generator(rng), is_t32=is_t32, most=TRIALS)
    print(f"{total} of {TRIALS} encodings")
    assert total > 0.6 * TRIALS
