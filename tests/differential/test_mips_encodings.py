"""Random encodings of all entries of MIPS32's tables, executed once each from a random state.

Registers after each instruction (a trial and its delay slot), and the exception that comes, with
Cause, EPC and BadVAddr, have to be Unicorn's; memory at the end, too. In kernel and in user mode.
`mips_encodings` has what is not tried, and where Unicorn is not asked.
"""

from __future__ import annotations

import random
from collections import Counter

import harness
import mips_encodings as encodings
import mips_reference as reference
import mips_trials as trials
import pytest
from mips_reference import RESERVED, UNUSABLE, Taken
from mips_trials import Outcome, Trial

# Of each entry; with at least this number, each exception comes at least once.
EACH = max(5, len(harness.seeds(0, 12)))


def expected(unicorn: trials.Reference, trial: Trial, number: int, is_user: bool) -> Outcome:
    """The expected result of a trial."""
    cause = encodings.expected_cause(trial.encoding, is_user)
    if cause is None:
        return unicorn.run(number)
    place = trials.place(number, is_user)
    return Outcome(((place, 0, *trial.registers, *trial.hi_lo),), Taken(cause, place))


def divergence(trial: Trial, *outcomes: Outcome) -> str:
    """The results of a trial on the engine and on Unicorn: changed registers, and the exception."""
    lines = [f"{trial.encoding:#010x} with {list(map(hex, trial.registers))}"]
    for outcome in outcomes:
        before = outcome.rows[0]
        for row in outcome.rows:
            pairs = zip(reference.NAMES, before, row, strict=True)
            lines.append(" ".join(f"{name} {new:#x}" for name, old, new in pairs if new != old))
            before = row
        lines.append(str(outcome.taken))
    return "\n".join(lines)


def compare(some: list[Trial], rng: random.Random, is_user: bool) -> Counter[int]:
    """Tries them on both sides; gives how many ended in which exception."""
    window = rng.randbytes(trials.WINDOW_BYTES)
    unicorn = trials.Reference(some, window, is_user)
    ours, our_window = trials.on_engine(some, window, is_user)
    for number, (trial, outcome) in enumerate(zip(some, ours, strict=True)):
        theirs = expected(unicorn, trial, number, is_user)
        if outcome != theirs:
            raise AssertionError(divergence(trial, outcome, theirs))
    assert our_window == unicorn.window(), "memory differs at the end"
    return Counter(outcome.taken.cause >> 2 & 31 for outcome in ours)


@pytest.mark.parametrize("is_user", [False, True], ids=["kernel", "user"])
def test_every_entry_of_the_tables_does_what_unicorns_does(is_user: bool) -> None:
    rng = random.Random(31 + is_user)
    entries = encodings.ENTRIES * EACH
    rng.shuffle(entries)
    causes: Counter[int] = Counter()
    for first in range(0, len(entries), trials.MOST):
        part = entries[first : first + trials.MOST]
        some = [
            encodings.random_trial(rng, number, entry, len(part), is_user)
            for number, entry in enumerate(part)
        ]
        causes += compare(some, rng, is_user)
    print(f"{len(entries)} instructions, exceptions {dict(sorted(causes.items()))}")
    assert causes[RESERVED] > 10
    assert causes[UNUSABLE] > 10
    assert set(causes) == {2, 3, 4, 5, 8, 9, 10, 11, 12, 13}
