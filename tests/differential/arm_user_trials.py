"""Single 32-bit encodings of A32 and T32, each with its own state, in User mode, on both sides.

A program goes from trial to trial. Before each trial it loads all registers and the flags, and
keeps the address of the next trial for the handlers: an undefined instruction or an abort continues
there. A trial that would continue anywhere else, by Unicorn, is left out beforehand, and so is a
trial that stores outside the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import arm_a32 as a32
import arm_a32_control as control
import arm_harness
import arm_reference as reference
import arm_system as system
import arm_translation as translation
import assembler as asm
import unicorn
from arm_choices import ALWAYS, CODE, DATA, DATA_BYTES, Rng
from arm_programs import EXIT, Program
from assembler import Instruction, Item, Label, half, word
from unicorn import arm_const as arm

# The address of the next trial.
CELL = translation.TABLE + 0x8000
SLOT = CODE + 0x4000
BX_PC, NOP = 0x4778, 0x46C0
FLAGS = 0xF80F0000


@dataclass(frozen=True)
class Trial:
    """An encoding (T32: first halfword on top), and the state before it."""

    encoding: int
    is_t32: bool
    flags: int
    registers: tuple[int, ...]

    def code(self) -> bytes:
        if not self.is_t32:
            return self.encoding.to_bytes(4, "little")
        halves = (self.encoding >> 16, self.encoding & 0xFFFF)
        return b"".join(each.to_bytes(2, "little") for each in halves)


class Filter:
    """Unicorn in User mode, for one trial after the other."""

    def __init__(self, vfp: bool) -> None:
        rng = Rng(0)
        rng.vfp = vfp
        self._core = reference.bare_machine(arm_harness.RAM, arm_harness.RAM_BYTES)
        code = asm.assemble([*system.set_up(rng, mmu=True), system.cps(system.USER)], CODE)
        self._core.mem_write(CODE, code)
        self._core.mem_write(translation.TABLE, translation.table())
        self._core.emu_start(CODE, CODE + len(code))
        self._core.hook_add(unicorn.UC_HOOK_INTR, self._interrupt)
        self._core.hook_add(unicorn.UC_HOOK_INSN_INVALID, self._invalid)
        self._core.hook_add(unicorn.UC_HOOK_MEM_WRITE, self._write)
        self._exception = 0
        self._strays = False

    def _interrupt(self, core: unicorn.Uc, number: int, _data: object) -> None:
        self._exception = number
        core.emu_stop()

    def _invalid(self, core: unicorn.Uc, _data: object) -> bool:
        self._exception = 1
        core.emu_stop()
        return True

    def _write(self, _core: object, _kind: int, address: int, size: int, *_: object) -> None:
        self._strays |= not DATA <= address <= DATA + DATA_BYTES - size

    def takes(self, trial: Trial) -> bool:
        """True if the trial continues after its instruction, is undefined, or is a data abort."""
        core = self._core
        core.mem_write(SLOT, trial.code())
        core.ctl_remove_cache(SLOT, SLOT + 4)
        core.reg_write(arm.UC_ARM_REG_CPSR, trial.flags | system.USER)
        for identifier, value in zip(reference.GENERAL[1:16], trial.registers, strict=True):
            core.reg_write(identifier, value)
        self._exception, self._strays = 0, False
        try:
            core.emu_start(SLOT | trial.is_t32, 0, count=1)
        except unicorn.UcError:
            return False
        if self._exception:
            return self._exception in (1, 4) and not self._strays
        goes_on = core.reg_read(arm.UC_ARM_REG_PC) == SLOT + 4
        is_same = bool(core.reg_read(arm.UC_ARM_REG_CPSR) & reference.T) == trial.is_t32
        return goes_on and is_same and not self._strays


def program(trials: list[Trial], data: bytes, *, vfp: bool) -> Program:
    """All trials in a row."""
    rng = Rng(0)
    rng.vfp = vfp
    start, handler, end = Label(), Label(), Label()
    handlers = dict.fromkeys((4, 16), handler)
    items = [*system.vectors(start, handlers), handler, *go_on_handler(rng), start]
    items += [*system.set_up(rng, mmu=True), system.cps(system.USER)]
    for trial in trials:
        items += around(rng, trial)
    items += [end, *map(word, EXIT)]
    code = asm.assemble(items, CODE)
    assert CODE + len(code) <= DATA
    return Program(0, code, data, CODE, end.address, True)


def go_on_handler(rng: Rng) -> list[Item]:
    """Returns to A32 at the address in the cell, with the flags that were."""
    return [
        word(0xE14FE000),  # mrs lr, spsr
        word(0xE3CEE020),  # bic lr, lr, #T
        word(0xE161F00E),  # msr spsr_c, lr
        *a32.constant(rng, 14, CELL),
        word(0xE59EE000),  # ldr lr, [lr]
        word(0xE1B0F00E),  # movs pc, lr
    ]


def around(rng: Rng, trial: Trial) -> list[Item]:
    """A trial, with what loads its state and what leads to the next."""
    slot, state, following = Label(), Label(), Label()
    items = [*a32.address(0, following), *a32.constant(rng, 1, CELL), word(0xE5810000)]
    items += [*a32.constant(rng, 0, trial.flags), word(0xE12CF000)]
    # ldm lr, {r0-lr}: a base register in the list keeps what was loaded.
    items += [*a32.address(14, state), word(0xE89E7FFF)]
    if trial.is_t32:
        # ldr pc, [pc, #-4], and the slot's address.
        items += [word(0xE51FF004), Instruction(4, lambda _: slot.address | 1)]
        items += [slot, half(trial.encoding >> 16), half(trial.encoding & 0xFFFF)]
        items += [half(BX_PC), half(NOP), control.branch(ALWAYS, following)]
    else:
        items += [word(trial.encoding), control.branch(ALWAYS, following)]
    return [*items, state, *map(word, trial.registers), following]
