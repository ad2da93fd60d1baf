"""Single instructions, each with its own initial state, on both sides.

The engine runs a small dispatcher: it takes the next trial from a table in RAM, writes the encoding
into a slot (and executes fence.i), loads x1 to x31 and jumps to the slot. Everything around the
slot is c.ebreak, so whatever the trial does, the next instruction traps, and the handler, which
reads mcause, mepc and mtval, takes the next trial.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import assembler as asm
import elf32
import harness
import numpy as np
import reference
import unicorn
from assembler import Item, Label, half, word

RAM = harness.RAM
AREA, SLOT, AREA_END = RAM + 0x1000, RAM + 0x2000, RAM + 0x3000
WINDOW, WINDOW_BYTES = RAM + 0x4000, 0x2000
WINDOW_MIDDLE = WINDOW + WINDOW_BYTES // 2
CURSOR = RAM + 0x6000
TABLE = RAM + 0x8000
RECORD_BYTES = 128
MOST = 7000
CAUSE_ILLEGAL, CAUSE_BREAKPOINT, CAUSE_ECALL = 2, 3, 11
CAUSE_LOAD_MISALIGNED, CAUSE_LOAD_FAULT, CAUSE_STORE_MISALIGNED, CAUSE_STORE_FAULT = 4, 5, 6, 7
X27, X28, X29, X30, X31 = range(27, 32)


@dataclass(frozen=True)
class Trial:
    """An encoding and what x1 to x31 hold before it."""

    encoding: int
    registers: tuple[int, ...]

    @property
    def length(self) -> int:
        return 4 if self.encoding & 3 == 3 else 2


@dataclass(frozen=True)
class Outcome:
    """Registers (pc, x0 to x31) after a trial, or the trap that it raised instead."""

    registers: tuple[int, ...] = ()
    cause: int | None = None
    value: int = 0


def dispatcher(count: int) -> tuple[bytes, int]:
    """The program around the trials, and its trap handler's address."""
    handler, wait_loop = Label(), Label()
    csrr, lw, sw = asm.CSRS["csrrs"], asm.LOADS["lw"], asm.STORES["sw"]

    def go_to_slot(pc: int) -> int:
        return asm.j_type(0, SLOT - pc)

    items: list[Item] = [
        word(asm.u_type(asm.AUIPC, X31, 0)),
        asm.Instruction(4, lambda _: asm.i_type(0x13, X31, X31, handler.address - RAM)),
        word(asm.i_type(asm.CSRS["csrrw"], 0, X31, 0x305)),
        asm.jump(0, handler),
        half(asm.C_NOP),
        half(asm.C_NOP),
        handler,
        *(word(asm.i_type(csrr, rd, 0, csr)) for rd, csr in ((5, 0x342), (6, 0x341), (7, 0x343))),
        word(asm.u_type(asm.LUI, X31, CURSOR >> 12)),
        word(asm.i_type(lw, X30, X31, 0)),
        *asm.load_immediate(X28, TABLE + count * RECORD_BYTES),
        asm.branch("beq", X30, X28, wait_loop),
        word(asm.i_type(0x13, X29, X30, RECORD_BYTES)),
        word(asm.s_type(sw, X31, X29, 0)),
        word(asm.i_type(lw, X29, X30, 0)),
        *asm.load_immediate(X28, SLOT),
        word(asm.s_type(sw, X28, X29, 0)),
        word(asm.FENCE_I),
        *(word(asm.i_type(lw, rd, X30, 4 * rd)) for rd in (*range(1, 30), 31, 30)),
        asm.Instruction(4, go_to_slot),
        wait_loop,
        asm.jump(0, wait_loop),
    ]
    code = asm.assemble(items, RAM)
    assert handler.address % 4 == 0
    assert len(code) <= AREA - RAM
    return code, handler.address


def table(trials: list[Trial]) -> bytes:
    records = b""
    for trial in trials:
        upper = asm.C_EBREAK << 16 if trial.length == 2 else 0
        records += struct.pack("<32I", trial.encoding | upper, *trial.registers)
    return records


def on_engine(trials: list[Trial], window: bytes) -> tuple[list[Outcome], bytes]:
    """The engine's results of the trials, and the window's bytes at the end."""
    assert len(trials) <= MOST
    code, handler = dispatcher(len(trials))
    fill = half(asm.C_EBREAK).encode(0).to_bytes(2, "little") * ((AREA_END - AREA) // 2)
    machine = harness.engine(
        elf32.Segment(RAM, code),
        elf32.Segment(AREA, fill),
        elf32.Segment(WINDOW, window),
        elf32.Segment(CURSOR, struct.pack("<I", TABLE)),
        elf32.Segment(TABLE, table(trials)),
    )
    # From a trap to the next trial it takes each of the dispatcher's instructions at most once; the
    # trial itself and its trap are one more each.
    rows = harness.rows(machine.trace(len(trials) * (len(code) // 4 + 2)))
    begun = np.flatnonzero(rows[:, 0] == SLOT)
    assert len(begun) == len(trials), f"{len(begun)} of {len(trials)} trials"
    outcomes = []
    for before in begun:
        after = rows[before + 1]
        if after[0] != handler:
            outcomes.append(Outcome(tuple(map(int, after))))
            continue
        # The handler's first instructions put mcause, mepc and mtval into x5 to x7, columns 6 to 8.
        cause, mepc, value = (int(rows[before + 2 + step][6 + step]) for step in range(3))
        assert mepc == SLOT, "mepc"
        assert np.array_equal(rows[before][1:], after[1:]), "a trap changed a register"
        outcomes.append(Outcome(cause=cause, value=value))
    return outcomes, machine.read_memory(WINDOW, WINDOW_BYTES)


class Reference:
    """Unicorn, one trial after the other."""

    def __init__(self, window: bytes) -> None:
        self._core = reference.machine(harness.RAM, harness.RAM_BYTES)
        self._core.mem_write(WINDOW, window)
        self._illegal = False
        self._fault_address = 0
        self._core.hook_add(unicorn.UC_HOOK_INTR, self._interrupt)
        self._core.hook_add(unicorn.UC_HOOK_MEM_UNMAPPED, self._unmapped)

    def _interrupt(self, core: unicorn.Uc, number: int, _data: object) -> None:
        assert number == CAUSE_ILLEGAL, number
        self._illegal = True
        core.emu_stop()

    def _unmapped(self, _core: unicorn.Uc, _access: int, address: int, *_: object) -> bool:
        self._fault_address = address
        return False

    def window(self) -> bytes:
        return bytes(self._core.mem_read(WINDOW, WINDOW_BYTES))

    def run(self, trial: Trial) -> Outcome:
        """Unicorn's result of a trial."""
        self._core.mem_write(SLOT, table([trial])[:4] + b"\x02\x90" * 2)
        self._core.ctl_remove_cache(SLOT, SLOT + 8)
        identifiers = reference.REGISTERS[2:]
        self._core.reg_write_batch(list(zip(identifiers, trial.registers, strict=True)))
        self._illegal = False
        try:
            self._core.emu_start(SLOT, 0, count=1)
        except unicorn.UcError as error:
            if error.errno == unicorn.UC_ERR_READ_UNMAPPED:
                return Outcome(cause=CAUSE_LOAD_FAULT, value=self._fault_address)
            if error.errno == unicorn.UC_ERR_WRITE_UNMAPPED:
                return Outcome(cause=CAUSE_STORE_FAULT, value=self._fault_address)
            # A jump to nowhere is complete; the fetch after it isn't part of the trial.
            if error.errno != unicorn.UC_ERR_FETCH_UNMAPPED:
                raise
        if self._illegal:
            return Outcome(cause=CAUSE_ILLEGAL, value=trial.encoding)
        return Outcome(tuple(self._core.reg_read_batch(reference.REGISTERS)))
