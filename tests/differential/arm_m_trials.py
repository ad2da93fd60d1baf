"""Single T32 encodings on an M-profile core, each with its own initial state, on both sides.

A program goes from trial to trial. Before each trial it loads all registers and the flags, and
keeps the address of the next trial: HardFault's handler returns there. Unicorn has no handlers:
`enter` has the effect of exception, handler and return. So the rows of the handler are left out on
the engine's side. A trial that would continue anywhere else, by Unicorn, is left out beforehand,
and so is a trial that stores outside the data.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import arm_choices as choices
import arm_harness
import arm_m_harness
import arm_reference as reference
import arm_t32 as t32
import arm_t32_control as control
import arm_translation as translation
import assembler as asm
import elf32
import harness
import numpy as np
import unicorn
from arm_choices import CODE, DATA, DATA_BYTES
from arm_m_programs import EXIT
from arm_t32 import wide_word
from assembler import Instruction, Item, Label, half, word
from unicorn import arm_const as arm

from cyclescope import _engine

# The address of the next trial; the vector table of HardFault; where frames go.
CELL, VECTORS, STACK = translation.TABLE + 0x8000, 0x8000_0000, 0x8009_0000
SLOT = CODE + 0x4000
# Every exception's handler is the one at the beginning of the code.
TABLE = struct.pack("<16I", *[CODE | 1] * 16)
SP, LR = 13, 14
FLAGS = 0xF80F0000
IPSR, ALIGNED = 0x1FF, 1 << 9
EXTENDED_BYTES = 0x68
VTOR, CPACR = 0xE000ED08, 0xE000ED88
STR_R1_AT_R0, LDR_R0_AT_R0 = 0x6001, 0x6800


@dataclass(frozen=True)
class Trial:
    """An encoding with its first halfword on top, and the state before it."""

    encoding: int
    flags: int
    registers: tuple[int, ...]

    def code(self) -> bytes:
        return struct.pack("<2H", self.encoding >> 16, self.encoding & 0xFFFF)


class Filter:
    """Unicorn, for one trial after the other."""

    def __init__(self) -> None:
        self._core = arm_m_harness.machine()
        self._core.mem_unmap(arm_m_harness.SYSTEM_CONTROL, arm_m_harness.PAGE)
        self._core.hook_add(unicorn.UC_HOOK_INTR, self._fault)
        self._core.hook_add(unicorn.UC_HOOK_INSN_INVALID, self._invalid)
        self._core.hook_add(unicorn.UC_HOOK_MEM_WRITE, self._write)
        self._faults = False
        self._strays = False

    def _fault(self, core: unicorn.Uc, _number: int, _data: object) -> None:
        self._faults = True
        core.emu_stop()

    def _invalid(self, core: unicorn.Uc, _data: object) -> bool:
        self._faults = True
        core.emu_stop()
        return True

    def _write(self, _core: object, _kind: int, address: int, size: int, *_: object) -> None:
        self._strays |= not DATA <= address <= DATA + DATA_BYTES - size

    def takes(self, trial: Trial) -> bool:
        """True if the trial continues after its instruction or is undefined."""
        core = self._core
        core.mem_write(SLOT, trial.code())
        core.ctl_remove_cache(SLOT, SLOT + 4)
        for identifier, value in zip(reference.GENERAL[1:16], trial.registers, strict=True):
            core.reg_write(identifier, value)
        core.reg_write(arm.UC_ARM_REG_XPSR, trial.flags | reference.M_PROFILE_T)
        self._faults, self._strays = False, False
        try:
            core.emu_start(SLOT | 1, 0, count=1)
        except unicorn.UcError:
            return False
        goes_on = core.reg_read(arm.UC_ARM_REG_PC) & ~1 == SLOT + 4
        stack_moved = core.reg_read(arm.UC_ARM_REG_SP) & 3 != 0
        return (self._faults or goes_on) and not self._strays and not stack_moved


def program(trials: list[Trial]) -> tuple[bytes, int, int]:
    """All trials in a row: the code, where it starts, and where it ends."""
    start, end = Label(), Label()
    items = [*handler(), start, *set_up()]
    for trial in trials:
        items += around(trial)
    items += [end, *EXIT]
    code = asm.assemble(items, CODE)
    assert CODE + len(code) <= DATA
    return code, start.address, end.address


def handler() -> list[Item]:
    """Has the frame lead to the address in the cell, outside any IT block."""
    return [
        *t32.constant(0, CELL),
        half(LDR_R0_AT_R0),
        word(0x0018F8CD),  # str r0, [sp, #24]
        half(0x4770),  # bx lr
    ]


def set_up() -> list[Item]:
    """Vectors, a stack, floating point."""
    items: list[Item] = []
    for register, value in ((VTOR, VECTORS), (CPACR, 0xF << 20)):
        items += [*t32.constant(0, register), *t32.constant(1, value), half(STR_R1_AT_R0)]
    items += [*t32.constant(0, STACK), t32.mov(SP, 0), *t32.constant(0, DATA)]
    return [*items, wide_word(t32.ISB), wide_word(0xEC900A20)]  # vldm r0, {s0-s31}


def around(trial: Trial) -> list[Item]:
    """A trial, with what loads its state and what leads to the next."""
    state, following = Label(), Label()
    items = [*t32.address(1, following), *t32.constant(0, CELL), half(STR_R1_AT_R0)]
    items += [*t32.constant(0, trial.flags), wide_word(0xF3808C00)]
    items += [*t32.constant(0, trial.registers[SP]), t32.mov(SP, 0), *t32.address(LR, state)]
    # ldm lr, {r0-r12, lr}: a base register in the list is loaded as well.
    items += [wide_word(0xE89E5FFF), wide_word(trial.encoding), wide_branch(following)]
    values = [value for register, value in enumerate(trial.registers) if register != SP]
    return [*items, asm.ALIGN, state, *map(word, values), following]


def wide_branch(target: Label) -> Instruction:
    branch = control.wide_branch(choices.ALWAYS, target)
    assert isinstance(branch, Instruction)
    return branch


def enter(core: unicorn.Uc) -> None:
    """A fault, its handler, and the return: what is left is the frame, and where it led to."""
    general = [core.reg_read(each) for each in reference.GENERAL]
    sp, status = general[1 + SP], core.reg_read(arm.UC_ARM_REG_XPSR)
    following = struct.unpack("<I", core.mem_read(CELL, 4))[0]
    frame = (sp - EXTENDED_BYTES) & ~7
    words = [*general[1:5], general[13], general[1 + LR], following]
    status |= ALIGNED if sp & 4 else 0
    core.mem_write(frame, struct.pack("<8I", *words, status))
    core.reg_write(arm.UC_ARM_REG_PC, following | 1)


def reference_trace(image: bytes, data: bytes, start: int, end: int) -> tuple[np.ndarray, bytes]:
    """States before each instruction and at the end, and the data at the end, by Unicorn."""
    core = arm_m_harness.machine()

    def on_invalid(_core: unicorn.Uc, _data: object) -> bool:
        enter(core)
        return True

    def on_fault(_core: unicorn.Uc, _number: int, _data: object) -> None:
        enter(core)

    core.hook_add(unicorn.UC_HOOK_INSN_INVALID, on_invalid)
    core.hook_add(unicorn.UC_HOOK_INTR, on_fault)
    for address, part in ((VECTORS, TABLE), (CODE, image), (DATA, data)):
        core.mem_write(address, part)
    status = arm.UC_ARM_REG_XPSR
    states = reference.trace(core, start | 1, end, arm_harness.MOST, status)
    return states, bytes(core.mem_read(DATA, DATA_BYTES))


def rows(machine: _engine.Machine, count: int) -> Iterator[np.ndarray]:
    """Our states after each instruction, those of handlers left out; the trials' rows at least."""
    found = 0
    while found < count:
        trace = np.frombuffer(machine.trace(count - found), dtype="<u4")
        trace = trace.reshape(-1, reference.ROW_WORDS)
        if not len(trace):
            return
        trace = trace[(trace[:, 16] & IPSR) == 0]
        found += len(trace)
        yield reference.comparable(trace)


def compare(trials: list[Trial], data: bytes, board: str) -> None:
    """Runs the trials on both."""
    code, start, end = program(trials)
    theirs, their_data = reference_trace(code, data, start, end)
    assert int(theirs[-1][0]) == end, "the program does not end"
    machine = _engine.Machine(harness.tree(board, ()))
    parts = ((VECTORS, TABLE), (CODE, code), (DATA, data))
    segments = [elf32.Segment(address, each) for address, each in parts]
    elf = elf32.executable(*segments, entry=start | 1, machine=elf32.EM_ARM)
    machine.load(elf, "trials")
    ours = np.concatenate(list(rows(machine, len(theirs) - 1)))
    common = min(len(ours), len(theirs) - 1)
    differing = np.flatnonzero((ours[:common] != theirs[1 : common + 1]).any(axis=1))
    if differing.size:
        first = int(differing[0])
        made = in_words(code)
        raise AssertionError(
            arm_harness.divergence(made, theirs[first], ours[first], theirs[first + 1])
        )
    assert common == len(theirs) - 1, f"the engine stopped after {common} instructions"
    assert machine.read_memory(DATA, DATA_BYTES) == their_data, "memory differs at the end"


def in_words(code: bytes) -> arm_harness.Program:
    """For messages."""
    return arm_harness.Program(0, code, b"", CODE, 0, has_mmu=False)
