"""Units of system instructions in T32. What runs before them, and the handlers, are of A32."""

from __future__ import annotations

import arm_system as system
import arm_t32 as t32
import arm_t32_control as control
import arm_t32_memory as memory
import arm_translation as translation
from arm_choices import DATA_MIDDLE, FREE, LR, POINTER, SP, Rng
from arm_system import ABORT, FIQ, IRQ, SVC, SYSTEM, UNDEFINED, USER
from arm_t32 import narrow, wide, wide_word
from assembler import Instruction, Item, Label

SEMIHOSTING = 0xAB
T = 1 << 5


def as_t32(items: list[Item]) -> list[Item]:
    """Instructions to coprocessors, which both sets encode the same way."""
    return [wide_word(item.encode(0)) for item in items if isinstance(item, Instruction)]


def cps(mode: int) -> Item:
    """To another mode."""
    return wide_word(0xF3AF8100 | mode)


def unit(rng: Rng) -> list[Item]:
    """Some system instructions, in Supervisor mode before and after."""
    units = {
        other_mode: 4,
        other_mode_by_msr: 3,
        saved_status: 4,
        exception_return: 4,
        rfe: 3,
        frames: 3,
        call: 3,
        undefined: 2,
        masks: 2,
        system_control: 4,
        user_mode: 4,
        abort: 4 if rng.unaligned else 0,
    }
    return rng.choices(list(units), list(units.values()))[0](rng)


def in_mode(rng: Rng, mode: int) -> list[Item]:
    """A few instructions for another mode."""
    other = system.bounded(rng, mode)
    other.free = [each for each in other.free if each != SP]
    units = (t32.operation, memory.access, control.it_block)
    chosen = [rng.choice(units) for _ in range(rng.randrange(2, 7))]
    return [item for each in chosen for item in each(other)]


def other_mode(rng: Rng) -> list[Item]:
    mode = rng.choice([FIQ, IRQ, ABORT, UNDEFINED, SYSTEM])
    return [cps(mode), *in_mode(rng, mode), cps(SVC)]


def other_mode_by_msr(rng: Rng) -> list[Item]:
    mode, register = rng.choice([FIQ, IRQ, ABORT, UNDEFINED, SYSTEM]), rng.choice(range(7))
    fields = rng.choice([0x1, 0x9, 0x5, 0xD])
    move = wide_word(0xF3808000 | register << 16 | fields << 8)
    status = t32.constant(register, system.any_status(rng, mode) & ~0x100)
    return [*status, move, *in_mode(rng, mode), cps(SVC)]


def saved_status(rng: Rng) -> list[Item]:
    """SPSR of the current mode, written in parts and read."""
    rm, rd = rng.destinations(2)
    value = system.any_status(rng, rng.choice([SVC, IRQ, USER, SYSTEM])) | rng.choice((0, T))
    write = wide(rng, "11110011 1001 nnnn 1000 kkkk 00000000", k=rng.randrange(1, 16), n=rm)
    read = wide(rng, "11110011 1111 1111 1000 dddd 00000000", d=rd)
    return [*t32.constant(rm, value), write, read]


def exception_return(rng: Rng) -> list[Item]:
    """subs pc, lr: to a label, with a new status from SPSR."""
    after, status, imm = Label(), rng.choice(range(7)), rng.randrange(0, 256, 2)
    set_status = t32.constant(status, system.any_status(rng, SVC) | T)
    write = wide_word(0xF3908F00 | status << 16)
    back = wide_word(0xF3DE8F00 | imm)
    point = t32.address(LR, after, imm)
    return [*set_status, write, *point, back, *t32.operation(rng), after]


def rfe(rng: Rng) -> list[Item]:
    """By the two words in memory, above the base register or below."""
    after, (status, target) = Label(), rng.destinations(2)
    upwards = rng.randrange(2)
    first = 32 if upwards else 24
    base = rng.choice([each for each in FREE if each not in (target, status)])
    pattern = "11111000 1100 nnnn tttt iiiiiiiiiiii"
    stores = [
        wide(rng, pattern, n=POINTER, t=register, i=at)
        for register, at in ((target, first), (status, first + 4))
    ]
    add = wide(rng, "11110010 0000 nnnn 0000 dddd 00100000", n=POINTER, d=base)
    load = wide(rng, "1110100 uu0w1 nnnn 1100000000000000", u=3 * upwards, n=base)
    value = system.any_status(rng, SVC) | T
    point = [*t32.address(target, after), *t32.constant(status, value)]
    return [*point, *stores, add, load, *t32.operation(rng), after]


def frames(rng: Rng) -> list[Item]:
    """srs to a stack, of this mode or of another, which is given one."""
    mode = rng.choice([IRQ, ABORT, UNDEFINED, SVC, SYSTEM])
    give = [cps(mode), t32.mov(SP, POINTER), cps(SVC)] if mode != SVC else []
    upwards = rng.randrange(2)
    store = wide(rng, "1110100 uu0w0 1101 11000000000 mmmmm", u=3 * upwards, m=mode)
    return [*give, store, t32.mov(SP, POINTER)]


def call(rng: Rng) -> list[Item]:
    numbers = [each for each in range(256) if each != SEMIHOSTING]
    return [narrow(rng, "11011111 iiiiiiii", i=rng.choice(numbers))]


def undefined(rng: Rng) -> list[Item]:
    """udf."""
    return [narrow(rng, "11011110 iiiiiiii")]


def masks(rng: Rng) -> list[Item]:
    """cpsie, cpsid."""
    flags = rng.randrange(1, 8)
    if rng.random() < 0.5:
        return [narrow(rng, "10110110011 i 0 fff", f=flags)]
    return [wide(rng, "11110011 1010 1111 10000 1i 0 fff 00000", f=flags)]


def system_control(rng: Rng) -> list[Item]:
    return as_t32(system.system_control(rng))


def user_mode(rng: Rng) -> list[Item]:
    """To User mode, where system instructions do nothing or are undefined, and back by a call."""
    tries = [
        cps(SVC),
        wide_word(0xF3AF8660),  # cpsid if
        narrow(rng, "10110110011 i 0 fff"),
        *as_t32([system.mrc(1, 13, 0, opc2=3), system.mcr(1, 13, 0, opc2=2)]),
    ]
    some = rng.sample(tries, rng.randrange(3))
    return [cps(USER), *some, *in_mode(rng, USER), *call(rng)]


def abort(rng: Rng) -> list[Item]:
    """A store to what can only be read, or any access to nothing: the base register stays."""
    rn, rt, rt2 = rng.destinations(3)
    is_load = rng.randrange(2)
    read_only = translation.READ_ONLY_RAM + DATA_MIDDLE - translation.RAM
    at = translation.NOTHING + 0x800 if is_load else read_only
    pattern = rng.choice(
        (
            "11111000 110l nnnn tttt 0000iiiiii00",
            "11111000 010l nnnn tttt 1pu1 iiiiii00",
            "1110100 1uwwl nnnn tttt vvvv 00iiiiii",
            "1110100 010wl nnnn rrrrrrrrrrrrrrrr",
            "1110100 100wl nnnn rrrrrrrrrrrrrrrr",
        )
    )
    among = [each for each in rng.free if each != rn]
    listed = sum(1 << each for each in rng.sample(among, rng.randrange(2, 6)))
    fields = {"l": is_load, "n": rn, "t": rt, "v": rt2, "r": listed}
    if "ww" in pattern:
        # Bit 22 is set: ldrd, strd.
        fields["w"] = 0b10 | rng.randrange(2)
    return [*t32.constant(rn, at), wide(rng, pattern, **fields)]
