"""The engine's side for MIPS32 programs, and what a divergence looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import elf32
import harness
import mips_programs as programs
import mips_reference as reference
import numpy as np
from mips_choices import CODE, K0, K1, KERNEL, PLAIN, PLAIN_BYTES
from mips_programs import Program
from mips_reference import Taken

from cyclescope import _engine
from cyclescope.board.description.overrides import OverrideValue

Overrides = Mapping[str, OverrideValue]
NONE: Overrides = {}

BOARD = "minimal-mips32"
RAM_BYTES = 0x10_0000
MOST = 60_000
# The engine's rows have these after the registers that Unicorn's rows have, too.
STATUS, CAUSE, EPC = range(reference.ROW_WORDS, reference.ROW_WORDS + 3)
ENGINE_WORDS = reference.ROW_WORDS + 3
VECTORS = (KERNEL + programs.REFILL_VECTOR, KERNEL + programs.GENERAL_VECTOR)
CAUSE_BITS = 0xB000_007C


def tree(board: str = BOARD, overrides: Overrides = NONE) -> dict[str, Any]:
    return harness.tree(board, tuple(overrides.items()))


def loaded(program: Program, board: str = BOARD, overrides: Overrides = NONE) -> _engine.Machine:
    """A machine with a random program."""
    machine = _engine.Machine(tree(board, overrides))
    segments = [
        elf32.Segment(KERNEL, program.vectors),
        elf32.Segment(KERNEL + CODE, program.code),
        elf32.Segment(KERNEL + PLAIN, program.data),
    ]
    elf = elf32.executable(*segments, entry=program.start, machine=elf32.EM_MIPS)
    machine.load(elf, "random program")
    return machine


def reference_trace(program: Program) -> tuple[np.ndarray, list[Taken], bytes]:
    """By Unicorn: registers before each instruction and at the end, exceptions, data at the end."""
    core = reference.machine(RAM_BYTES)
    core.mem_write(0, program.vectors)
    core.mem_write(CODE, program.code)
    core.mem_write(PLAIN, program.data)
    core.emu_start(program.start, program.begin, count=1000)
    rows, taken = reference.Tracer(core, program.view, MOST).trace(program.begin, program.end)
    return comparable(rows), taken, bytes(core.mem_read(PLAIN, PLAIN_BYTES))


def comparable(rows: np.ndarray) -> np.ndarray:
    """Without the registers of the handler."""
    rows = rows[:, : reference.ROW_WORDS].copy()
    rows[:, [1 + K0, 1 + K1]] = 0
    return rows


def in_handler(rows: np.ndarray) -> np.ndarray:
    """True for states in the vectors, and in the code before the program."""
    return rows[:, 0] - np.uint32(KERNEL) < programs.HANDLER_BYTES


def trace(machine: _engine.Machine, count: int) -> np.ndarray:
    return np.frombuffer(machine.trace(count), dtype="<u4").reshape(-1, ENGINE_WORDS)


def rows(machine: _engine.Machine, begin: int, count: int) -> tuple[np.ndarray, list[Taken]]:
    """States after each of `count` instructions from `begin` without handlers, and exceptions."""
    found = trace(machine, 200)
    found = found[int(np.flatnonzero(found[:, 0] == begin)[0]) :]
    while (missing := count - int((~in_handler(found)).sum())) > 0:
        more = trace(machine, missing)
        found = np.concatenate((found, more))
        if len(more) < missing:
            break
    return comparable(found[~in_handler(found)])[:count], exceptions(found)


def exceptions(rows: np.ndarray) -> list[Taken]:
    """The exceptions that handlers found."""
    return [taken_at(rows, int(at)) for at in np.flatnonzero(np.isin(rows[:-1, 0], VECTORS))]


def taken_at(rows: np.ndarray, at: int) -> Taken:
    """The exception whose handler is entered at row `at`: it reads BadVAddr into $26 first."""
    row = rows[at]
    code = int(row[CAUSE]) >> 2 & 31
    address = int(rows[at + 1][1 + K0]) if code in reference.WITH_ADDRESS else None
    return Taken(int(row[CAUSE]) & CAUSE_BITS, int(row[EPC]), address)


def divergence(program: Program, before: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> str:
    """The description of an instruction after which the two states differ."""
    pc = int(before[0])
    at = pc - program.view - CODE
    encoding = int.from_bytes(program.code[at : at + 4], "little")
    lines = [f"seed {program.seed}: {pc:#010x}: {encoding:08x}"]
    lines.append(f"{'':4} {'before':>10} {'engine':>10} {'unicorn':>10}")
    for name, *values in zip(reference.NAMES, before, ours, theirs, strict=True):
        mark = "" if values[1] == values[2] else "  <--"
        lines.append(f"{name:4} " + " ".join(f"{int(each):#010x}" for each in values) + mark)
    return "\n".join(lines)


def compare(program: Program, board: str = BOARD, overrides: Overrides = NONE) -> int:
    """Runs the program on both; gives the number of instructions."""
    seed = program.seed
    theirs, their_exceptions, their_data = reference_trace(program)
    assert int(theirs[-1][0]) == program.end, f"seed {seed}: the program does not end"
    count = len(theirs)
    machine = loaded(program, board, overrides)
    ours, our_exceptions = rows(machine, program.begin, count)
    common = min(len(ours), count)
    differing = np.flatnonzero((ours[:common] != theirs[:common]).any(axis=1))
    if differing.size:
        first = int(differing[0])
        before = theirs[max(first - 1, 0)]
        raise AssertionError(divergence(program, before, ours[first], theirs[first]))
    assert common == count, f"seed {seed}: the engine stopped after {common} of {count}"
    for number, (our, their) in enumerate(zip(our_exceptions, their_exceptions, strict=True)):
        assert our == their, f"seed {seed}: exception {number}: {our}, not {their}"
    our_data = machine.read_memory(PLAIN, PLAIN_BYTES)
    assert our_data == their_data, f"seed {seed}: memory differs at the end"
    return count - 1
