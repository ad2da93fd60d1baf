"""Unicorn's Cortex-A15, read after each instruction.

Unicorn leaves exceptions to its user: for supervisor calls, undefined instructions and aborts
`enter` does what the manual says (ARM DDI 0406C, B1.8). As in `reference`, the registers are read
by Unicorn's C interface.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
import unicorn
from reference import ON_CODE
from unicorn import arm_const as arm
from unicorn.unicorn_py3 import unicorn as wrapper

# pc, r0 to r14, cpsr, s0 to s63 (as d0 to d31), fpscr: the order of the engine's trace.
GENERAL = [arm.UC_ARM_REG_PC, *(arm.UC_ARM_REG_R0 + index for index in range(13))]
GENERAL += [arm.UC_ARM_REG_SP, arm.UC_ARM_REG_LR, arm.UC_ARM_REG_CPSR]
REGISTERS = [*GENERAL, *(arm.UC_ARM_REG_D0 + index for index in range(32)), arm.UC_ARM_REG_FPSCR]
WORDS = [*range(17), *range(17, 81, 2), 81]
ROW_WORDS = 82
NAMES = ["pc", *(f"r{index}" for index in range(13)), "sp", "lr", "cpsr"]
NAMES += [*(f"s{index}" for index in range(64)), "fpscr"]
T, MASK_I, MASK_A, MODE = 1 << 5, 1 << 7, 1 << 8, 0x1F
M_PROFILE_T = 1 << 24
IT = 0x0600FC00


@dataclass(frozen=True)
class Entry:
    """An exception: its mode, the vector's offset, and the offset of LR to pc by T."""

    mode: int
    offset: int
    lr_a32: int
    lr_t32: int
    masks: int = MASK_I


# By Unicorn's numbers; undefined instructions have their own hook. Unicorn's pc is after a
# supervisor call, else at the instruction.
SVC = Entry(0x13, 0x08, 0, 0)
PREFETCH_ABORT = Entry(0x17, 0x0C, 4, 4, MASK_A | MASK_I)
DATA_ABORT = Entry(0x17, 0x10, 8, 8, MASK_A | MASK_I)
UNDEFINED = Entry(0x1B, 0x04, 4, 2)
EXCEPTIONS = {2: SVC, 3: PREFETCH_ABORT, 4: DATA_ABORT, 7: PREFETCH_ABORT}


def bare_machine(memory_base: int, memory_bytes: int) -> unicorn.Uc:
    """A core in Supervisor mode, and memory."""
    core = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_ARM)
    core.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_A15)
    core.mem_map(memory_base, memory_bytes)
    return core


def machine(memory_base: int, memory_bytes: int, vectors: int) -> unicorn.Uc:
    """A core in Supervisor mode, and memory; exceptions are entered at `vectors`."""
    core = bare_machine(memory_base, memory_bytes)

    def interrupt(_core: unicorn.Uc, number: int, _data: object) -> None:
        enter(core, EXCEPTIONS[number], vectors)

    def invalid(_core: unicorn.Uc, _data: object) -> bool:
        enter(core, UNDEFINED, vectors)
        return True

    core.hook_add(unicorn.UC_HOOK_INTR, interrupt)
    core.hook_add(unicorn.UC_HOOK_INSN_INVALID, invalid)
    return core


def enter(core: unicorn.Uc, exception: Entry, vectors: int) -> None:
    """Takes an exception."""
    cpsr, pc = (core.reg_read(number) for number in (arm.UC_ARM_REG_CPSR, arm.UC_ARM_REG_PC))
    core.reg_write(arm.UC_ARM_REG_CPSR, cpsr & ~(MODE | T | IT) | exception.masks | exception.mode)
    core.reg_write(arm.UC_ARM_REG_SPSR, cpsr)
    core.reg_write(arm.UC_ARM_REG_LR, pc + (exception.lr_t32 if cpsr & T else exception.lr_a32))
    core.reg_write(arm.UC_ARM_REG_PC, vectors + exception.offset)


def trace(
    core: unicorn.Uc, begin: int, end: int, most: int, status: int = arm.UC_ARM_REG_CPSR
) -> np.ndarray:
    """Runs from `begin` until `end`, `most` instructions at the most: registers before each.

    One row an instruction, and one for the state at the end. `status` is the register with the
    flags.
    """
    rows = np.zeros((most + 1, ROW_WORDS), dtype=np.uint32)
    chosen = [status if each == arm.UC_ARM_REG_CPSR else each for each in REGISTERS]
    identifiers = (ctypes.c_int * len(chosen))(*chosen)
    places = rows.ctypes.data + 4 * np.array(WORDS, dtype=np.uint64)
    read = wrapper.uclib.uc_reg_read_batch
    read.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    arguments = (core._uch, ctypes.addressof(identifiers), places.ctypes.data, len(REGISTERS))

    def on_code(_core: int, _address: int, _size: int, _data: int) -> None:
        nonlocal places
        read(*arguments)
        places += 4 * ROW_WORDS

    callback, hook = ON_CODE(on_code), ctypes.c_size_t()
    status = wrapper.uclib.uc_hook_add(
        core._uch,
        ctypes.byref(hook),
        unicorn.UC_HOOK_CODE,
        ctypes.cast(callback, ctypes.c_void_p),
        None,
        ctypes.c_uint64(1),
        ctypes.c_uint64(0),
    )
    assert status == unicorn.UC_ERR_OK
    core.emu_start(begin, end, count=most)
    wrapper.uclib.uc_hook_del(core._uch, hook)
    read(*arguments)
    count = int(places[0] - rows.ctypes.data) // (4 * ROW_WORDS)
    return comparable(rows[: count + 1])


def skipped(rows: np.ndarray) -> np.ndarray:
    """True where an IT block skips the next instruction: Unicorn calls no hook for it."""
    cpsr = rows[:, 16]
    state = cpsr >> 8 & 0xFC | cpsr >> 25 & 3
    n, z, c, v = (cpsr >> place & 1 == 1 for place in (31, 30, 29, 28))
    kinds = [z, c, n, v, c & ~z, n == v, ~z & (n == v)]
    holds = np.select([state >> 5 == kind for kind in range(len(kinds))], kinds, True)
    is_opposite = (state >> 4 & 1 == 1) & (state >> 5 != len(kinds))
    return (state & 0xF != 0) & (holds == is_opposite)


def comparable(rows: np.ndarray) -> np.ndarray:
    """Without what one side has another idea of: pc's lowest bit, and IT inside a block."""
    rows = rows.copy()
    rows[:, 0] &= ~np.uint32(1)
    rows[:, 16] &= ~np.uint32(IT)
    return rows
