"""Units of what the M profile has for the system: special registers, stacks, privilege.

Left out is what Unicorn has another idea of: bits of priorities that a core may lack, stack
pointers that are no multiple of four.
"""

from __future__ import annotations

import arm_t32 as t32
import arm_t32_memory as memory
from arm_choices import POINTER, SP, Rng
from arm_t32 import wide, wide_word
from assembler import Item, half

APSR, IPSR, EPSR, MSP, PSP = 0, 5, 6, 8, 9
PRIMASK, BASEPRI, BASEPRI_MAX, FAULTMASK, CONTROL = 16, 17, 18, 19, 20
UNPRIVILEGED, SPSEL = 1, 2
# And SFPA of a later architecture, which Unicorn takes for part of the same.
FPCA = 4 | 8
READABLE = (0, 1, 2, 3, IPSR, EPSR, 7, MSP, PSP, PRIMASK, BASEPRI, BASEPRI_MAX, FAULTMASK, CONTROL)
MASKS = (PRIMASK, BASEPRI, BASEPRI_MAX, FAULTMASK)
ISB = wide_word(t32.ISB)


def mrs(register: int, special: int) -> Item:
    return wide_word(0xF3EF8000 | register << 8 | special)


def msr(special: int, register: int) -> Item:
    return wide_word(0xF3808800 | register << 16 | special)


def read(rng: Rng) -> list[Item]:
    # CONTROL has SFPA in it on Unicorn, where floating point is used.
    readable = READABLE[:-1] if rng.vfp else READABLE
    return [mrs(rng.destination(), rng.choice(readable))]


def flags(rng: Rng) -> list[Item]:
    """APSR under other names than T32's generator has for it."""
    write = wide(rng, "11110011 1000 nnnn 1000 kk00 000000oo", k=rng.randrange(1, 4))
    return [write, mrs(rng.destination(), rng.randrange(4))]


def mask(rng: Rng) -> list[Item]:
    """Writes a mask and reads it; now and then nothing is masked again."""
    special, register = rng.choice(MASKS), rng.destination()
    value = rng.randrange(16) << 4 if special in (BASEPRI, BASEPRI_MAX) else rng.getrandbits(32)
    write = [*t32.constant(register, value), msr(special, register)]
    return [*write, mrs(rng.destination(), special), *(clear(rng) if rng.random() < 0.4 else [])]


def clear(rng: Rng) -> list[Item]:
    register = rng.destination()
    zero = t32.constant(register, 0)
    return [*zero, *(msr(special, register) for special in (PRIMASK, BASEPRI, FAULTMASK))]


def state(rng: Rng) -> list[Item]:
    """cpsie, cpsid."""
    change = half(0xB660 | rng.randrange(2) << 4 | rng.randrange(1, 4))
    return [change, *(mrs(rng.destination(), special) for special in (PRIMASK, FAULTMASK))]


def control(rng: Rng, register: int, value: int) -> list[Item]:
    """Writes CONTROL. FPCA stays as it is: for a new context Unicorn clears FPSCR's flags, too."""
    value |= FPCA if rng.vfp else 0
    return [*t32.constant(register, value), msr(CONTROL, register), ISB]


def process_stack(rng: Rng) -> list[Item]:
    """Some instructions on the other stack, which is in the same place."""
    register, other = rng.destinations(2)
    items = [msr(PSP, POINTER), *control(rng, register, SPSEL)]
    for _ in range(rng.randrange(1, 5)):
        items += rng.choice((t32.single, memory.access))(rng)
    items += [mrs(other, rng.choice((MSP, PSP)))]
    register = rng.destination()
    return [*items, *control(rng, register, 0), t32.mov(SP, POINTER)]


def drop_privilege(rng: Rng) -> list[Item]:
    """For good: nothing here brings it back."""
    return [*clear(rng), *control(rng, rng.destination(), UNPRIVILEGED)]


def unit(rng: Rng) -> list[Item]:
    """One of those above."""
    units = {read: 5, flags: 3, mask: 4, state: 3}
    if rng.privileged:
        units[process_stack] = 4
    return rng.choices(list(units), list(units.values()))[0](rng)
