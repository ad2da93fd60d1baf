"""A MIPS32 core's TLB against Unicorn's: `mips_tlb` has the steps."""

from __future__ import annotations

from collections import Counter

import harness
import mips_tlb as tlb
import pytest
import tiers

STEPS = tiers.sized(1000, 2000)


def comparable(record: tlb.Record) -> tlb.Record:
    """Without what only the engine knows, and what is left open of an Index that names no entry."""
    words = list(record)
    words[tlb.VECTOR] = 0
    if words[tlb.INDEX] & tlb.NOT_FOUND:
        words[tlb.INDEX] = tlb.NOT_FOUND
    return tuple(words)


@pytest.mark.parametrize("board", ["minimal-mips32", "ben-nanonote"])
def test_the_tlb_does_what_unicorns_does(board: str) -> None:
    causes: Counter[int] = Counter()
    for seed in harness.seeds(1, 4):
        steps = tlb.generate(seed, STEPS)
        ours, our_window = tlb.on_engine(steps, board)
        theirs, their_window = tlb.on_unicorn(steps)
        for number, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            shown = f"seed {seed}, step {number} at {steps.places[number][0].address:#x}"
            assert [*map(hex, comparable(our))] == [*map(hex, comparable(their))], shown
            # A miss has a vector of its own.
            cause = our[tlb.CAUSE] >> 2 & 31
            if our[tlb.VECTOR]:
                is_miss = cause in (2, 3) and our[tlb.INDEX] & tlb.NOT_FOUND != 0
                assert (our[tlb.VECTOR] == tlb.TLB_REFILL) == is_miss, shown
            causes[cause] += 1
        assert our_window == their_window, f"seed {seed}: memory differs at the end"
    print(dict(sorted(causes.items())))
    # Modified, a miss or not valid on a load and on a store, misaligned.
    assert all(causes[code] > 10 for code in (1, 2, 3, 4, 5))
