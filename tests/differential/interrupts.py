"""Timer interrupts for random programs, with a handler that leaves no trace but a log."""

from __future__ import annotations

from dataclasses import dataclass

import assembler as asm
from assembler import Item, word

MSTATUS, MIE, MTVEC, MSCRATCH, MEPC = 0x300, 0x304, 0x305, 0x340, 0x341
MSTATUS_MIE, MIE_MTIE = 1 << 3, 1 << 7
MRET = 0x30200073
# The handler's data: x5 to x7, the end of the log, and the log of mepc.
SAVED = 0x8006_0000
LOG = SAVED + 16
LOG_BYTES = 0x1_0000 - 16
X5, X6, X7, X30 = 5, 6, 7, 30


@dataclass(frozen=True)
class Timer:
    """The board's CLINT, and how many of its ticks lie between two interrupts at least."""

    clint: int
    ticks: int

    def handler(self) -> list[Item]:
        """Logs mepc and asks for the next interrupt, at a distance that depends on mepc."""
        return handler(self)

    def switch_on(self, entry: int) -> list[Item]:
        """Prepares memory and CSRs for the handler at `entry`, and enables the interrupt."""
        return switch_on(self, entry)


def load(rd: int, rs1: int, offset: int) -> Item:
    return word(asm.i_type(asm.LOADS["lw"], rd, rs1, offset))


def store(rs1: int, rs2: int, offset: int) -> Item:
    return word(asm.s_type(asm.STORES["sw"], rs1, rs2, offset))


def add(rd: int, rs1: int, rs2: int) -> Item:
    return word(asm.r_type(asm.R_OPS["add"], rd, rs1, rs2))


def csr_write(csr: int, rs1: int) -> Item:
    return word(asm.i_type(asm.CSRS["csrrw"], 0, rs1, csr))


def handler(timer: Timer) -> list[Item]:
    """Logs mepc and asks for the next interrupt, at a distance that depends on mepc."""
    swap = word(asm.i_type(asm.CSRS["csrrw"], X30, X30, MSCRATCH))
    saved = (X5, X6, X7)
    return [
        swap,
        *(store(X30, register, 4 * index) for index, register in enumerate(saved)),
        word(asm.i_type(asm.CSRS["csrrs"], X5, 0, MEPC)),
        load(X6, X30, 12),
        store(X6, X5, 0),
        word(asm.i_type(0x13, X6, X6, 4)),
        store(X30, X6, 12),
        word(asm.i_type(asm.I_OPS["andi"], X5, X5, 0xFE)),
        *asm.load_immediate(X6, timer.ticks),
        add(X5, X5, X6),
        word(asm.u_type(asm.LUI, X7, (timer.clint >> 12) + 0xC)),
        load(X6, X7, -8),
        add(X5, X5, X6),
        word(asm.u_type(asm.LUI, X7, (timer.clint >> 12) + 4)),
        store(X7, X5, 0),
        *(load(register, X30, 4 * index) for index, register in enumerate(saved)),
        swap,
        word(MRET),
    ]


def switch_on(timer: Timer, entry: int) -> list[Item]:
    """Prepares memory and CSRs for the handler at `entry`, and enables the timer's interrupt."""
    return [
        *asm.load_immediate(X6, SAVED),
        *asm.load_immediate(X5, LOG),
        store(X6, X5, 12),
        csr_write(MSCRATCH, X6),
        *asm.load_immediate(X5, entry),
        csr_write(MTVEC, X5),
        *asm.load_immediate(X7, timer.clint + 0x4000),
        *asm.load_immediate(X5, timer.ticks),
        store(X7, X5, 0),
        store(X7, 0, 4),
        *asm.load_immediate(X5, MIE_MTIE),
        csr_write(MIE, X5),
        word(asm.i_type(asm.CSRS["csrrsi"], 0, MSTATUS_MIE, MSTATUS)),
    ]
