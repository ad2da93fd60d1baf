"""Random programs for a PicoRV32: its interrupts, and how a core without them is to see a program.

An interrupt writes x3 and x4 and gives back neither. The programs keep a constant in each: the
handler sets x4 again, and retirq sets x3 if it can leave the next address there as a jump does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import assembler as asm
from assembler import Item, Label, word
from choices import Rng
from interrupts import LOG, X5, X6, load, store
from programs import Core

BOARD = str(Path(__file__).resolve().parent / "picorv32.dts")
# The handler's data at address 0: x5, x6, and the end of the log.
SCRATCH, SCRATCH_BYTES = 0, 0x1000
SAVED_X5, SAVED_X6, LOG_END = 0, 4, 8
ENTRY_BYTES = 8
EXIT = 0x0010_0000
# Registers that interrupts write.
RETURN_ADDRESS, CAUSES = 3, 4
CUSTOM_0 = 0x0B
X4_VALUE = 0x1234_5678


def own(funct7: int, rd: int, rs1: int) -> Item:
    return word(asm.r_type(funct7 << 25 | CUSTOM_0, rd, rs1, 0))


def retirq(rd: int) -> Item:
    return own(2, rd, 0)


def maskirq(rd: int, rs1: int) -> Item:
    return own(3, rd, rs1)


def waitirq(rd: int) -> Item:
    return own(4, rd, 0)


def timer(rd: int, rs1: int) -> Item:
    return own(5, rd, rs1)


def addi(rd: int, rs1: int, imm: int) -> Item:
    return word(asm.i_type(asm.I_OPS["addi"], rd, rs1, imm))


@dataclass(frozen=True)
class Timer:
    """The least number of cycles between two interrupts, up to 1792."""

    cycles: int
    # After the handler's retirq.
    _after: Label = field(default_factory=Label)

    def handler(self) -> list[Item]:
        """Logs x3 and x4 and starts the timer again, for a time that depends on the address."""
        return [
            store(0, X5, SAVED_X5),
            store(0, X6, SAVED_X6),
            load(X5, 0, LOG_END),
            store(X5, RETURN_ADDRESS, 0),
            store(X5, CAUSES, 4),
            addi(X5, X5, ENTRY_BYTES),
            store(0, X5, LOG_END),
            word(asm.i_type(asm.I_OPS["andi"], X6, RETURN_ADDRESS, 0xFF)),
            addi(X6, X6, self.cycles),
            timer(0, X6),
            load(X5, 0, SAVED_X5),
            load(X6, 0, SAVED_X6),
            *asm.load_immediate(CAUSES, X4_VALUE),
            retirq(RETURN_ADDRESS),
            self._after,
        ]

    def switch_on(self, _entry: int) -> list[Item]:
        """Prepares the log and x3 and x4, unmasks all interrupts and starts the timer."""
        return [
            *asm.load_immediate(X5, LOG),
            store(0, X5, LOG_END),
            *asm.load_address(RETURN_ADDRESS, self._after),
            *asm.load_immediate(CAUSES, X4_VALUE),
            maskirq(0, 0),
            addi(X5, 0, self.cycles),
            timer(0, X5),
        ]


def own_op(rng: Rng) -> list[Item]:
    """Waits for the timer, or masks all interrupts for a while."""
    if rng.random() < 0.3:
        return [waitirq(0)]
    mask, old = rng.sample([register for register in rng.free if register], 2)
    between = [addi(rng.choice(rng.free), rng.randrange(32), 1) for _ in range(rng.randrange(40))]
    return [addi(mask, 0, -1), maskirq(old, mask), *between, maskirq(0, 0)]


CORE = Core(
    exit=(asm.u_type(asm.LUI, 10, EXIT >> 12), asm.s_type(asm.STORES["sw"], 10, 0, 0)),
    has_csrs=False,
    has_fence_i=False,
    interrupts_write=(RETURN_ADDRESS, CAUSES),
    own_op=own_op,
)


def without_own_instructions(code: bytes) -> bytes:
    """A program in which PicoRV32's own instructions, outside the handler, write the 0 they give.

    They unmask what is masked or the other way round, and switch a timer on that does not run.
    """
    plain, at = bytearray(code), 0
    while at < len(plain):
        encoding = int.from_bytes(plain[at : at + 4], "little")
        if encoding & 0x7F == CUSTOM_0:
            zero = asm.i_type(asm.I_OPS["addi"], encoding >> 7 & 31, 0, 0)
            plain[at : at + 4] = zero.to_bytes(4, "little")
        at += 4 if encoding & 3 == 3 else 2
    return bytes(plain)
