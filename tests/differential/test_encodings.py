"""Every 16-bit encoding and random 32-bit ones, each executed once from a random state.

Unicorn says what the registers are afterwards and which encodings mean nothing; mcause, mepc and
mtval come from the manual. What Unicorn does otherwise, and so has no say in:

- it passes over many 16-bit encodings that are not RV32IMC without an exception: loads and stores
  of F and D, c.subw, c.addw, and reserved ones. (LLVM's word on them is in the engine's own tests.)
- it executes c.slli, c.srli and c.srai by 32 and more, which are not RV32 (chapter 27);
- it does misaligned accesses, which trap here (an implementation may do either);
- ebreak and ecall stop it without a machine-mode cause.
"""

from __future__ import annotations

import random
from collections import Counter

import assembler as asm
import choices
import tiers
import trials
from trials import Outcome, Trial

LONG_TRIALS = tiers.sized(4000, 30_000)
# Of each cause that random encodings come to.
LEAST = tiers.sized(1, 10)
# One 16-bit encoding in this number is tried: prime, so that all fields take all values.
STRIDE = tiers.sized(7, 1)
OPCODES = (0x37, 0x17, 0x6F, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33, 0x33, 0x0F)


def not_rv32imc(encoding: int) -> bool:
    """True for 16-bit encodings that Unicorn passes over and RV32IMC doesn't have."""
    quadrant, funct3 = encoding & 3, encoding >> 13
    if quadrant != 1 and (funct3 in (1, 3, 5, 7) or (quadrant, funct3) == (0, 4)):
        return True  # loads and stores of F and D; reserved
    if not encoding & 0x1000:
        return False
    if (quadrant, funct3) == (1, 4):
        return encoding & 0x0C00 != 0x0800  # shifts by 32 and more; c.subw, c.addw, reserved
    return (quadrant, funct3) == (2, 0)  # c.slli by 32 and more


def registers(rng: random.Random, encoding: int) -> tuple[int, ...]:
    """x1 to x31 for a trial: pointers that suit it where it jumps or accesses memory."""
    long = encoding & 3 == 3
    is_jump = encoding & 0x7F == asm.JALR if long else encoding & 0xE07F == 0x8002
    is_access = encoding & 0x5F == 0x03 if long else encoding & 3 != 1 and encoding >> 13 in (2, 6)
    if is_jump:
        return tuple(trials.SLOT + rng.randrange(-1000, 1000) for _ in range(31))
    if is_access:
        step = 1 if long and rng.random() < 0.2 else 4
        return tuple(trials.WINDOW_MIDDLE + rng.randrange(-1000, 1000, step) for _ in range(31))
    values = [choices.any_value(rng) for _ in range(31)]
    # Equal operands matter to branches and divisions.
    return tuple(rng.choice(values) if rng.random() < 0.2 else value for value in values)


def long_encoding(rng: random.Random) -> int:
    """A 32-bit encoding, in most cases a defined one."""
    encoding = rng.getrandbits(32) & ~0x7F | rng.choice(OPCODES)
    if rng.random() < 0.8:
        encoding = encoding & 0x01FFFFFF | rng.choice((0x00, 0x20, 0x01)) << 25
    if encoding & 0x7F == asm.JAL:
        return asm.j_type(encoding >> 7 & 31, rng.randrange(-2048, 2048, 2))
    return encoding


def misaligned(trial: Trial) -> Outcome | None:
    """The trap of a long load or store whose address is no multiple of its size."""
    encoding, funct3 = trial.encoding, trial.encoding >> 12 & 7
    is_load, is_store = encoding & 0x7F == 0x03, encoding & 0x7F == 0x23
    if funct3 not in ((1, 2, 5) if is_load else (1, 2) if is_store else ()):
        return None
    low = encoding >> 20 if is_load else encoding >> 25 << 5 | encoding >> 7 & 31
    address = (0, *trial.registers)[encoding >> 15 & 31] + (low ^ 0x800) - 0x800 & 0xFFFFFFFF
    if address % (1 << (funct3 & 3)) == 0:
        return None
    cause = trials.CAUSE_LOAD_MISALIGNED if is_load else trials.CAUSE_STORE_MISALIGNED
    return Outcome(cause=cause, value=address)


def expected(core: trials.Reference, trial: Trial) -> Outcome:
    """The expected result of a trial."""
    if trial.encoding in (asm.C_EBREAK, asm.EBREAK):
        return Outcome(cause=trials.CAUSE_BREAKPOINT, value=trials.SLOT)
    if trial.length == 2 and not_rv32imc(trial.encoding):
        return Outcome(cause=trials.CAUSE_ILLEGAL, value=trial.encoding)
    return misaligned(trial) or core.run(trial)


def leaves_the_slot(outcome: Outcome, length: int) -> bool:
    """False for jumps to the trial itself or into its middle, which would never come to an end."""
    return not outcome.registers or not trials.SLOT <= outcome.registers[0] < trials.SLOT + length


def compare(rng: random.Random, encodings: list[int]) -> Counter[str]:
    """Tries the encodings on both sides; gives how many ended in what."""
    window = rng.randbytes(trials.WINDOW_BYTES)
    core = trials.Reference(window)
    tried: list[tuple[Trial, Outcome]] = []
    for encoding in encodings:
        trial = Trial(encoding, registers(rng, encoding))
        outcome = expected(core, trial)
        if leaves_the_slot(outcome, trial.length):
            tried.append((trial, outcome))
    ours, our_window = trials.on_engine([trial for trial, _ in tried], window)
    for (trial, theirs), outcome in zip(tried, ours, strict=True):
        assert outcome == theirs, f"{trial.encoding:#x} with {list(map(hex, trial.registers))}"
    assert our_window == core.window(), "memory differs at the end"
    return Counter(f"cause {o.cause}" if o.cause is not None else "done" for o in ours)


def compare_all(rng: random.Random, encodings: list[int]) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for first in range(0, len(encodings), trials.MOST):
        outcomes += compare(rng, encodings[first : first + trials.MOST])
    return outcomes


def test_every_short_instruction_does_what_unicorns_does() -> None:
    rng = random.Random(2)
    tried = {*range(0, 0x10000, STRIDE), asm.C_EBREAK}
    encodings = [encoding for encoding in sorted(tried) if encoding & 3 != 3]
    outcomes = compare_all(rng, encodings)
    print(outcomes)
    # Encodings that jump to themselves are left out: c.j, c.jal, and what c.beqz and c.bnez choose.
    assert sum(outcomes.values()) >= len(encodings) - 18
    assert outcomes["cause 3"] == 1


def test_random_long_instructions_do_what_unicorns_do() -> None:
    rng = random.Random(3)
    outcomes = compare_all(rng, [long_encoding(rng) for _ in range(LONG_TRIALS)])
    print(outcomes)
    assert sum(outcomes.values()) > 0.99 * LONG_TRIALS
    assert all(outcomes[f"cause {cause}"] >= LEAST for cause in (2, 4, 5, 6, 7))
