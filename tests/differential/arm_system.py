"""Modes, status registers, exceptions and system control, in A32.

Code that runs before a random program, handlers of its vectors, and units of system instructions.
"""

from __future__ import annotations

import arm_a32 as a32
import arm_a32_control as control
import arm_a32_memory as memory
import arm_translation as translation
from arm_choices import ALWAYS, CODE, FREE, PC, POINTER, SP, Rng, made
from assembler import Item, Label, word

USER, FIQ, IRQ, SVC, ABORT, UNDEFINED, SYSTEM = 0x10, 0x11, 0x12, 0x13, 0x17, 0x1B, 0x1F
VECTORS = CODE
# SCTLR: its fixed bits, swp allowed, branch prediction and caches on.
CONTROL = 0x00C5_0078 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 2
ENABLE_MMU = 1 << 0
ISB = word(0xF57FF06F)


def mcr(rt: int, crn: int, crm: int, opc1: int = 0, opc2: int = 0) -> Item:
    return word(0xEE000F10 | opc1 << 21 | crn << 16 | rt << 12 | opc2 << 5 | crm)


def mrc(rt: int, crn: int, crm: int, opc1: int = 0, opc2: int = 0) -> Item:
    return word(0xEE100F10 | opc1 << 21 | crn << 16 | rt << 12 | opc2 << 5 | crm)


def cps(mode: int) -> Item:
    """To another mode."""
    return word(0xF1020000 | mode)


def set_up(rng: Rng, *, mmu: bool) -> list[Item]:
    """Flags and masks, vectors, the memory management unit, floating point."""
    items = [word(0xE3A000D3), word(0xE12FF000), *a32.constant(rng, 0, VECTORS), mcr(0, 12, 0)]
    if mmu:
        items += [*a32.constant(rng, 0, translation.TABLE), mcr(0, 2, 0)]
        items += [*a32.constant(rng, 0, translation.DOMAINS), mcr(0, 3, 0)]
    items += [*a32.constant(rng, 0, CONTROL | (ENABLE_MMU if mmu else 0)), mcr(0, 1, 0), ISB]
    if rng.vfp:
        # mov r0, #0xf00000, to CPACR; mov r0, #0x40000000; vmsr fpexc, r0
        items += [word(0xE3A0060F), mcr(0, 1, 0, opc2=2), ISB, word(0xE3A00101), word(0xEEE80A10)]
    return items


def vectors(start: Label, handlers: dict[int, Label]) -> list[Item]:
    """Branches: to the program for a reset, to handlers by the vector's offset, or to itself."""
    items: list[Item] = []
    for offset in range(0, 32, 4):
        here = Label()
        target = start if offset == 0 else handlers.get(offset, here)
        items += [here, control.branch(ALWAYS, target)]
    return items


def handlers(rng: Rng) -> tuple[dict[int, Label], list[Item]]:
    """A handler each for supervisor calls, undefined instructions and data aborts."""
    calls, undefined, aborts = Label(), Label(), Label()
    items = [calls, *call_handler(rng)]
    # movs pc, lr; subs pc, lr, #4: continue after the instruction.
    items += [undefined, word(0xE1B0F00E), aborts, word(0xE25EF004)]
    return {0x08: calls, 0x04: undefined, 0x10: aborts}, items


def call_handler(rng: Rng) -> list[Item]:
    """Goes on in Supervisor mode, in one of the ways in which handlers return."""
    to_supervisor = [
        word(0xE14F0000),  # mrs r0, spsr
        word(0xE3800003),  # orr r0, r0, #3
        word(0xE161F000),  # msr spsr_c, r0
    ]
    kind = rng.randrange(3)
    # Supervisor mode's own stack pointer points into the data.
    if kind == 0:
        return [word(0xE92D0001), *to_supervisor, word(0xE8BD0001), word(0xE1B0F00E)]
    if kind == 1:
        return [word(0xE92D4001), *to_supervisor, word(0xE8FD8001)]
    # srsdb sp!, #19 stores the earlier mode, so it follows the change of spsr.
    moved = [word(0xE52D0004), *to_supervisor, word(0xE49D0004)]
    return [*moved, word(0xF96D0513), word(0xF8BD0A00)]


def unit(rng: Rng) -> list[Item]:
    """Some system instructions, in Supervisor mode before and after."""
    units = {
        other_mode: 4,
        other_mode_by_msr: 3,
        saved_status: 4,
        banked_block: 3,
        exception_return: 5,
        frames: 3,
        call: 3,
        undefined: 2,
        masks: 2,
        system_control: 4,
        user_mode: 4,
        translated: 8 if rng.unaligned else 0,
    }
    return rng.choices(list(units), list(units.values()))[0](rng)


def bounded(rng: Rng, mode: int) -> Rng:
    """For another mode's sequence, in which only r7 is sure to point into the data."""
    other = Rng(rng.getrandbits(64))
    other.free = [*range(7), *range(8, 15)] if mode == FIQ else [*range(7), 8, 9, 13, 14]
    other.bases, other.unaligned = (POINTER,), rng.unaligned
    return other


def in_mode(rng: Rng, mode: int) -> list[Item]:
    """A few instructions for another mode."""
    other = bounded(rng, mode)
    units = [rng.choice([a32.operation, memory.access]) for _ in range(rng.randrange(2, 7))]
    return [item for each in units for item in each(other)]


def other_mode(rng: Rng) -> list[Item]:
    mode = rng.choice([FIQ, IRQ, ABORT, UNDEFINED, SYSTEM])
    return [cps(mode), *in_mode(rng, mode), cps(SVC)]


def other_mode_by_msr(rng: Rng) -> list[Item]:
    """By msr cpsr_c, with an immediate or a register."""
    mode = rng.choice([FIQ, IRQ, ABORT, UNDEFINED, SYSTEM])
    value = rng.choice([0xC0, 0x80, 0x40, 0x00]) | mode
    back = word(0xE321F0D3)
    if rng.random() < 0.5:
        return [word(0xE321F000 | value), *in_mode(rng, mode), back]
    register = rng.choice(range(7))
    fields = rng.choice([0x1, 0x9, 0x5, 0xD])
    move = word(0xE120F000 | fields << 16 | register)
    high = rng.getrandbits(5) << 27 | rng.getrandbits(4) << 16
    return [*a32.constant(rng, register, value | high), move, *in_mode(rng, mode), back]


def saved_status(rng: Rng) -> list[Item]:
    """SPSR of the current mode, written in parts and read."""
    rm, rd = rng.destinations(2)
    value = any_status(rng, rng.choice([SVC, IRQ, USER, SYSTEM]))
    write = made(rng, "cccc 00010110 kkkk 1111 0000 0000 mmmm", k=rng.randrange(1, 16), m=rm)
    read = made(rng, "cccc 00010100 1111 dddd 0000 0000 0000", d=rd)
    return [*a32.constant(rng, rm, value), write, read]


def any_status(rng: Rng, mode: int) -> int:
    """Flags, GE and masks at random."""
    flags = rng.getrandbits(5) << 27 | rng.getrandbits(4) << 16
    return flags | rng.choice([0, 0x40, 0x80, 0xC0, 0x1C0]) | mode


def banked_block(rng: Rng) -> list[Item]:
    """ldm and stm of User mode's registers, in a mode that has others."""
    mode = rng.choice([FIQ, IRQ, SVC, ABORT])
    among = [*range(7), 8, 9, 14] if rng.random() < 0.5 else [13, 14]
    # Supervisor mode itself goes on with its r8 to r12, which are User mode's.
    registers = rng.sample(among, rng.randrange(1, len(among) + 1))
    listed = sum(1 << register for register in registers)
    pattern = "cccc 100 pu1 0 l nnnn rrrrrrrrrrrrrrrr"
    access = made(rng, pattern, n=POINTER, r=listed)
    return [cps(mode), access, cps(SVC)]


def exception_return(rng: Rng) -> list[Item]:
    """To a label, with a new status from SPSR."""
    after, status, target = Label(), *rng.destinations(2)
    value = any_status(rng, SVC)
    set_status = [*a32.constant(rng, status, value), word(0xE16FF000 | status)]
    point = a32.address(target, after)
    skipped = a32.operation(rng)
    kind = rng.randrange(4)
    if kind == 0:
        back: list[Item] = [made(rng, "1110 0001 1011 0000 1111 0000 0000 mmmm", m=target)]
    elif kind == 1:
        imm = rng.randrange(0, 256, 4)
        point = a32.address(target, after, imm)
        back = [made(rng, "1110 0010 0101 nnnn 1111 0000 iiiiiiii", n=target, i=imm)]
    elif kind == 2:
        store = made(rng, "1110 0101 1000 nnnn tttt 000000000100", n=POINTER, t=target)
        listed = 1 << PC | 1 << rng.randrange(7)
        back = [store, made(rng, "1110 1000 1101 nnnn rrrrrrrrrrrrrrrr", n=POINTER, r=listed)]
    else:
        return rfe(rng, after, value, target, status)
    return [*set_status, *point, *back, *skipped, after]


def rfe(rng: Rng, after: Label, value: int, target: int, status: int) -> list[Item]:
    """By the two words in memory, in each of the four ways."""
    pu = rng.randrange(4)
    first = {0: -4, 1: 0, 2: -8, 3: 4}[pu] + 32
    base = rng.choice([each for each in FREE if each not in (target, status)])
    stores = [
        made(rng, "1110 0101 1000 nnnn tttt iiiiiiiiiiii", n=POINTER, t=target, i=first),
        made(rng, "1110 0101 1000 nnnn tttt iiiiiiiiiiii", n=POINTER, t=status, i=first + 4),
    ]
    add = made(rng, "1110 0010 1000 nnnn dddd 0000 00100000", n=POINTER, d=base)
    load = made(rng, "1111 100 pp 0w1 nnnn 0000 1010 0000 0000", p=pu, n=base)
    point = [*a32.address(target, after), *a32.constant(rng, status, value)]
    return [*point, *stores, add, load, *a32.operation(rng), after]


def frames(rng: Rng) -> list[Item]:
    """srs to a stack, of this mode or of another, which is given one."""
    mode = rng.choice([IRQ, ABORT, UNDEFINED, SVC, SYSTEM])
    give = [cps(mode), a32.mov(SP, POINTER), cps(SVC)] if mode != SVC else []
    store = made(rng, "1111 100 pp 1w0 1101 0000 0101 000 mmmmm", m=mode)
    return [*give, store, a32.mov(SP, POINTER)]


def call(rng: Rng) -> list[Item]:
    return [made(rng, "cccc 1111 0000 iiiiiiiiiiiiiiiiiiii")]


def undefined(rng: Rng) -> list[Item]:
    """udf."""
    return [made(rng, "1110 0111 1111 iiiiiiiiiiii 1111 iiii")]


def masks(rng: Rng) -> list[Item]:
    """cpsie, cpsid."""
    flags = rng.randrange(1, 8)
    return [made(rng, "1111 0001 0000 1i00 0000 000f ff 0 00000", f=flags)]


def system_control(rng: Rng) -> list[Item]:
    """Registers that keep what is written to them, and maintenance, which changes nothing."""
    kept = [(13, 0, 2), (13, 0, 3), (13, 0, 4), (6, 0, 0), (6, 0, 2)]
    if rng.random() < 0.5:
        crn, crm, opc2 = rng.choice(kept)
        rt, rd = rng.destinations(2)
        return [mcr(rt, crn, crm, opc2=opc2), mrc(rd, crn, crm, opc2=opc2)]
    by_nothing = [(7, 5, 0), (7, 5, 6), (8, 7, 0), (8, 5, 0), (8, 6, 0)]
    by_address = [(7, 5, 1), (7, 10, 1), (7, 11, 1), (7, 14, 1), (8, 7, 1), (7, 10, 4), (7, 10, 5)]
    crn, crm, opc2 = rng.choice(by_nothing + by_address)
    return [mcr(POINTER, crn, crm, opc2=opc2)]


def user_mode(rng: Rng) -> list[Item]:
    """To User mode, where system instructions do nothing or are undefined, and back by a call."""
    tries = [
        word(0xF1020013),  # cps #19
        word(0xE321F0D3),  # msr cpsr_c, #0xd3
        word(0xF10C01C0),  # cpsid aif
        mcr(0, 1, 0),
        mrc(0, 1, 0),
        mrc(1, 13, 0, opc2=3),
        mcr(1, 13, 0, opc2=2),
        mcr(1, 13, 0, opc2=3),
    ]
    some = rng.sample(tries, rng.randrange(3))
    return [cps(USER), *some, *in_mode(rng, USER), made(rng, "1110 1111 0000 iiiiiiiiiiiiiiiiiiii")]


def any_list(rng: Rng) -> int:
    """A list of registers for ldm that may be destinations."""
    return sum(1 << each for each in rng.destinations(rng.randrange(1, 6)))


def translated(rng: Rng) -> list[Item]:
    """Accesses to the data under other names, which may abort: the base register stays then.

    From Supervisor mode, as from User mode (ldrt and the like), and from there.
    """
    rn, rt = rng.sample(range(7), 2)
    address = a32.constant(rng, rn, rng.choice(translation.names()))
    patterns = (
        "1110 010 pu0wl nnnn tttt 0000iiiiii00",
        "1110 010 0u01l nnnn tttt 0000iiiiii00",
        "1110 010 pu1wl nnnn tttt 0000iiiiii00",
        "1110 000 pu1wl nnnn tttt 00ii 1011 ii00",
        "1110 100 pu0wl nnnn rrrrrrrrrrrrrrrr",
    )
    accesses = [
        made(rng, rng.choice(patterns), n=rn, t=rt, r=any_list(rng) & ~(1 << rn) | 1 << rt)
        for _ in range(rng.randrange(1, 4))
    ]
    if rng.random() < 0.4:
        return [*address, *accesses]
    return [*address, cps(USER), *accesses, made(rng, "1110 1111 0000 iiiiiiiiiiiiiiiiiiii")]
