"""Single MIPS32 instructions, each with its own initial state, as one program for the engine.

Each trial has its own place, followed by an instruction, which may be its delay slot, and
two breaks. A dispatcher, which is the handler of every exception, takes the next trial's place and
registers from a table: whatever a trial does, the dispatcher comes next.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import elf32
import mips_assembler as mips
import mips_harness as harness
import mips_programs as programs
import mips_reference as reference
import numpy as np
from assembler import Item, Label, word
from mips_choices import CODE, K0, K1, KERNEL, USER
from mips_reference import Taken

from cyclescope import _engine

# The data that trials access: what an address of POINTER and 16 more bits reaches.
WINDOW, WINDOW_BYTES = 0x4_0000, 0x2_0000
MIDDLE, SPREAD = WINDOW + WINDOW_BYTES // 2, 0x7000
CURSOR, TABLE = 0x6_0000, 0x8_0000
PLACE_BYTES = 16
MOST = 1500
# Place, HI, LO, $1 to $31.
RECORD_WORDS = 34
RECORD_BYTES = 4 * RECORD_WORDS
# addiu $9, $9, 1: after each trial.
FOLLOWING = 0x25290001
DISPATCHED = 60
LW, ADDIU = mips.LOADS["lw"], mips.IMMEDIATES["addiu"]


@dataclass(frozen=True)
class Trial:
    """An encoding, and what $1 to $31, HI and LO are."""

    encoding: int
    registers: tuple[int, ...]
    hi_lo: tuple[int, int]

    def record(self, place: int) -> bytes:
        return struct.pack(f"<{RECORD_WORDS}I", place, *self.hi_lo, *self.registers)


@dataclass(frozen=True)
class Outcome:
    """Registers before each instruction of a trial, and the exception that ended it."""

    rows: tuple[tuple[int, ...], ...]
    taken: Taken


def view(is_user: bool) -> int:
    return USER if is_user else KERNEL


def place(number: int, is_user: bool) -> int:
    return view(is_user) + CODE + number * PLACE_BYTES


def image(trials: list[Trial]) -> bytes:
    """The code at all places."""
    each = (struct.pack("<4I", t.encoding, FOLLOWING, mips.BREAK, mips.BREAK) for t in trials)
    return b"".join(each)


def dispatcher() -> list[Item]:
    """Ends with the table: its last place is empty."""
    general = [register for register in range(1, 32) if register != K0]
    end = Label()
    return [
        word(mips.mfc0(K0, mips.BAD_VADDR)),
        word(mips.immediate(mips.IMMEDIATES["lui"], K1, 0, (KERNEL + CURSOR) >> 16)),
        word(mips.immediate(LW, K0, K1, 0)),
        word(mips.immediate(ADDIU, 1, K0, RECORD_BYTES)),
        word(mips.immediate(mips.STORES["sw"], 1, K1, 0)),
        word(mips.immediate(LW, K1, K0, 0)),
        mips.branch(mips.equal_branch("beq", K1, 0), end),
        word(mips.mtc0(K1, mips.EPC)),
        word(mips.immediate(LW, K1, K0, 4)),
        word(mips.TO_HI_LO["mthi"] | K1 << 21),
        word(mips.immediate(LW, K1, K0, 8)),
        word(mips.TO_HI_LO["mtlo"] | K1 << 21),
        *(word(mips.immediate(LW, each, K0, 8 + 4 * each)) for each in general),
        word(mips.immediate(LW, K0, K0, 8 + 4 * K0)),
        word(mips.ERET),
        end,
        *map(word, programs.EXIT),
    ]


def on_engine(trials: list[Trial], window: bytes, is_user: bool) -> tuple[list[Outcome], bytes]:
    """The engine's results of the trials, and the window's bytes at the end."""
    assert len(trials) <= MOST
    records = b"".join(t.record(place(number, is_user)) for number, t in enumerate(trials))
    first = Label(place(len(trials), is_user))
    machine = _engine.Machine(harness.tree())
    segments = [
        elf32.Segment(KERNEL, programs.vectors(is_user, first, dispatcher)),
        elf32.Segment(KERNEL + CODE, image(trials) + struct.pack("<I", mips.BREAK)),
        elf32.Segment(KERNEL + WINDOW, window),
        elf32.Segment(KERNEL + CURSOR, struct.pack("<I", KERNEL + TABLE)),
        elf32.Segment(KERNEL + TABLE, records + bytes(RECORD_BYTES)),
    ]
    entry = KERNEL + programs.SETUP
    machine.load(elf32.executable(*segments, entry=entry, machine=elf32.EM_MIPS), "trials")
    rows = harness.trace(machine, (len(trials) + 3) * DISPATCHED)
    outcomes = []
    for number in range(len(trials)):
        begins = np.flatnonzero(rows[:, 0] == place(number, is_user))
        assert len(begins) == 1, f"trial {number} begins {len(begins)} times"
        outcomes.append(outcome(rows[begins[0] :]))
    return outcomes, machine.read_memory(WINDOW, WINDOW_BYTES)


def outcome(rows: np.ndarray) -> Outcome:
    """A trial from its place to the vector."""
    count = int(np.argmax(np.isin(rows[:10, 0], harness.VECTORS)))
    assert count, "the trial came to no exception"
    kept = rows[:count, : reference.ROW_WORDS]
    return Outcome(tuple(tuple(map(int, row)) for row in kept), harness.taken_at(rows, count))


class Reference:
    """Unicorn, one trial after the other."""

    def __init__(self, trials: list[Trial], window: bytes, is_user: bool) -> None:
        self._is_user, self._trials = is_user, trials
        core = reference.machine(harness.RAM_BYTES)
        first = Label(place(0, is_user))
        core.mem_write(0, programs.vectors(is_user, first, dispatcher))
        core.mem_write(CODE, image(trials))
        core.mem_write(WINDOW, window)
        core.emu_start(KERNEL + programs.SETUP, first.address, count=1000)
        self._core = core
        self._clean = core.context_save()
        self._tracer = reference.Tracer(core, view(is_user), 10)

    def window(self) -> bytes:
        return bytes(self._core.mem_read(WINDOW, WINDOW_BYTES))

    def run(self, number: int) -> Outcome:
        """Unicorn's result of a trial."""
        trial = self._trials[number]
        self._core.context_restore(self._clean)
        values = (0, *trial.registers, *trial.hi_lo)
        for register, value in zip(reference.REGISTERS[1:], values, strict=True):
            self._core.reg_write(register, value)
        rows, taken = self._tracer.until_exception(place(number, self._is_user))
        return Outcome(tuple(tuple(map(int, row)) for row in rows), taken)
