"""Unicorn's MIPS32 4Kc, read after each instruction.

Unicorn leaves exceptions to its user, and shows no coprocessor 0. Our programs' handlers skip what
raised the exception, and a branch with it if it was in its delay slot. So does this, and notes what
the handler should have found. As in `reference`, the registers are read by Unicorn's C interface.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import mips_assembler as mips
import numpy as np
import unicorn
from reference import ON_CODE
from unicorn import mips_const
from unicorn.unicorn_py3 import unicorn as wrapper

# pc, $0 to $31, HI, LO: the order in the engine's trace, then Status, Cause and EPC.
GENERAL = [mips_const.UC_MIPS_REG_0 + index for index in range(32)]
REGISTERS = [mips_const.UC_MIPS_REG_PC, *GENERAL, mips_const.UC_MIPS_REG_HI]
REGISTERS.append(mips_const.UC_MIPS_REG_LO)
ROW_WORDS = len(REGISTERS)
NAMES = ["pc", *(f"${index}" for index in range(32)), "hi", "lo"]
# Cause.ExcCode by Unicorn's numbers (QEMU, target/mips/cpu.h).
TLB_LOAD, TLB_STORE, ADDRESS_LOAD, ADDRESS_STORE, SYSCALL, BREAK = 2, 3, 4, 5, 8, 9
RESERVED, UNUSABLE, OVERFLOW, TRAP = 10, 11, 12, 13
CODES = {12: ADDRESS_LOAD, 13: ADDRESS_STORE, 17: SYSCALL, 18: BREAK, 19: UNUSABLE, 20: RESERVED}
CODES |= {21: OVERFLOW, 22: TRAP, 26: TLB_LOAD, 27: TLB_STORE}
WITH_ADDRESS = (TLB_LOAD, TLB_STORE, ADDRESS_LOAD, ADDRESS_STORE)
BRANCH_DELAY = 1 << 31


@dataclass(frozen=True)
class Taken:
    """An exception, as a handler finds it."""

    # BD, CE and ExcCode.
    cause: int
    epc: int
    # Where it has a meaning.
    bad_vaddr: int | None = None


def coprocessor(encoding: int) -> int:
    """The number of the coprocessor that an instruction needs: movf and cache are of 1 and 0."""
    return {0x00: 1, mips.CACHE: 0}.get(encoding >> 26, encoding >> 26 & 3)


def machine(memory_bytes: int) -> unicorn.Uc:
    """A core after reset, and memory at the physical address 0."""
    mode = unicorn.UC_MODE_MIPS32 | unicorn.UC_MODE_LITTLE_ENDIAN
    core = unicorn.Uc(unicorn.UC_ARCH_MIPS, mode)
    core.ctl_set_cpu_model(mips_const.UC_CPU_MIPS32_4KC)
    core.mem_map(0, memory_bytes)
    return core


class Tracer:
    """Runs a core, with its registers before each instruction, and its exceptions.

    `view` is where the code sees the physical address 0. `most` instructions are kept.
    """

    def __init__(self, core: unicorn.Uc, view: int, most: int) -> None:
        self._core, self._view, self._most = core, view, most
        self._clean = core.context_save()
        self._number: int | None = None
        self._rows = np.zeros((most + 2, ROW_WORDS), dtype=np.uint32)
        self._begin = self._rows.ctypes.data + 4 * np.arange(ROW_WORDS, dtype=np.uint64)
        self._places = places = self._begin.copy()
        identifiers = (ctypes.c_int * ROW_WORDS)(*REGISTERS)
        read = wrapper.uclib.uc_reg_read_batch
        read.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
        arguments = (core._uch, identifiers, places.ctypes.data, ROW_WORDS)

        def on_code(_core: int, _address: int, _size: int, _data: int) -> None:
            read(*arguments)
            np.add(places, 4 * ROW_WORDS, out=places)

        self._read = lambda: read(*arguments)
        self._callback = ON_CODE(on_code)
        core.hook_add(unicorn.UC_HOOK_INTR, self._interrupt)
        status = wrapper.uclib.uc_hook_add(
            core._uch,
            ctypes.byref(ctypes.c_size_t()),
            unicorn.UC_HOOK_CODE,
            ctypes.cast(self._callback, ctypes.c_void_p),
            None,
            ctypes.c_uint64(1),
            ctypes.c_uint64(0),
        )
        assert status == unicorn.UC_ERR_OK

    def _interrupt(self, core: unicorn.Uc, number: int, _data: object) -> None:
        self._number = number
        core.emu_stop()

    def _count(self) -> int:
        return int(self._places[0] - self._begin[0]) // (4 * ROW_WORDS)

    def trace(self, begin: int, end: int) -> tuple[np.ndarray, list[Taken]]:
        """From `begin` until `end`: one row an instruction, and one for the state at the end.

        Instructions that raise an exception are skipped.
        """
        self._places[:] = self._begin
        taken = []
        while self._once(begin, end):
            taken.append(self._taken())
            begin = self._skip()
        self._read()
        return self._executed(self._rows[: self._count() + 1]), taken

    def until_exception(self, begin: int) -> tuple[np.ndarray, Taken]:
        """From `begin` until an exception: one row an instruction."""
        self._places[:] = self._begin
        assert self._once(begin, 0)
        return self._executed(self._rows[: self._count()]), self._taken()

    def _once(self, begin: int, end: int) -> bool:
        """Up to the next exception; False if the run ended without one."""
        self._number = None
        try:
            self._core.emu_start(begin, end, count=self._most - self._count())
        except unicorn.UcError:
            # Unicorn's errors about accesses, in addition to the exception.
            assert self._number is not None
        return self._number is not None

    def _skip(self) -> int:
        """Undoes the last instruction; gives the address of the next one."""
        row = self._rows[self._count() - 1]
        # Unicorn's state of a delay slot is dropped with the rest of its state.
        self._core.context_restore(self._clean)
        for register, value in zip(REGISTERS[1:], row[1:], strict=True):
            self._core.reg_write(register, int(value))
        return int(row[0]) + 4

    def _taken(self) -> Taken:
        """The exception's registers after the last instruction."""
        assert self._number is not None
        count = self._count()
        row, pc = self._rows[count - 1], int(self._rows[count - 1][0])
        is_next = count > 1 and int(self._rows[count - 2][0]) == pc - 4
        in_slot = is_next and mips.has_delay_slot(self._word(pc - 4))
        code, encoding = CODES[self._number], self._word(pc)
        cause = code << 2 | (BRANCH_DELAY if in_slot else 0)
        if code == UNUSABLE:
            cause |= coprocessor(encoding) << 28
        address = None
        if code in WITH_ADDRESS:
            offset = (encoding & 0xFFFF ^ 0x8000) - 0x8000
            address = int(row[1 + (encoding >> 21 & 31)]) + offset & 0xFFFFFFFF
        return Taken(cause, pc - 4 if in_slot else pc, address)

    def _executed(self, rows: np.ndarray) -> np.ndarray:
        """Without the delay slots that likely branches annul: Unicorn calls the hook for most."""
        pcs, positions = np.unique(rows[:, 0], return_inverse=True)
        words = np.array([self._word(int(pc)) for pc in pcs], dtype=np.uint32)[positions]
        is_next = rows[1:, 0] == rows[:-1, 0] + np.uint32(4)
        return rows[~np.append(False, does_annul(rows, words)[:-1] & is_next)]

    def _word(self, address: int) -> int:
        return int.from_bytes(self._core.mem_read(address - self._view, 4), "little")


def does_annul(rows: np.ndarray, words: np.ndarray) -> np.ndarray:
    """True for likely branches that are not taken."""
    everywhere = np.arange(len(rows))
    rs, rt = (rows[everywhere, 1 + (words >> low & 31)] for low in (21, 16))
    opcode, of_sign, signed = words >> 26, words >> 16 & 0xF, rs.astype(np.int32)
    kinds = {20: rs == rt, 21: rs != rt, 22: signed <= 0, 23: signed > 0}
    annuls = np.zeros(len(rows), dtype=bool)
    for number, taken in kinds.items():
        annuls |= (opcode == number) & ~taken
    annuls |= (opcode == 1) & (of_sign == 2) & (signed >= 0)
    return annuls | (opcode == 1) & (of_sign == 3) & (signed < 0)
