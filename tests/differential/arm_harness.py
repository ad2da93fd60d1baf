"""The engine's side for Arm programs, and what a divergence looks like."""

from __future__ import annotations

from collections.abc import Mapping

import arm_choices as choices
import arm_reference as reference
import arm_system as system
import arm_translation as translation
import elf32
import harness
import numpy as np
from arm_programs import Program

from cyclescope import _engine
from cyclescope.board.description.overrides import OverrideValue

Overrides = Mapping[str, OverrideValue]
NONE: Overrides = {}

BOARD = "minimal-armv7a"
RAM, RAM_BYTES = 0x8000_0000, 0x10_0000
MOST = 60_000


def loaded(program: Program, board: str = BOARD, overrides: Overrides = NONE) -> _engine.Machine:
    """A machine with a random program."""
    machine = _engine.Machine(harness.tree(board, tuple(overrides.items())))
    segments = [elf32.Segment(choices.CODE, program.code)]
    segments += [elf32.Segment(choices.DATA, program.data)]
    segments += [elf32.Segment(translation.TABLE, translation.table())]
    elf = elf32.executable(*segments, entry=program.start, machine=elf32.EM_ARM)
    machine.load(elf, "random program")
    return machine


def rows(machine: _engine.Machine, count: int) -> np.ndarray:
    """The states after each of `count` instructions, without those that IT blocks skip."""
    found = np.zeros((0, reference.ROW_WORDS), dtype=np.uint32)
    while missing := count - len(found):
        trace = np.frombuffer(machine.trace(missing), dtype="<u4").reshape(-1, reference.ROW_WORDS)
        if not len(trace):
            break
        found = np.concatenate((found, trace[~reference.skipped(trace)]))
    return reference.comparable(found)


def reference_trace(program: Program) -> tuple[np.ndarray, bytes]:
    """Registers before each instruction and at the end, and the data at the end, by Unicorn."""
    core = reference.machine(RAM, RAM_BYTES, system.VECTORS)
    core.mem_write(choices.CODE, program.code)
    core.mem_write(choices.DATA, program.data)
    core.mem_write(translation.TABLE, translation.table())
    states = reference.trace(core, program.start, program.end, MOST)
    return states, bytes(core.mem_read(choices.DATA, choices.DATA_BYTES))


def divergence(program: Program, before: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> str:
    """The description of an instruction after which the two states differ."""
    pc = int(before[0])
    at = pc - choices.CODE
    encoding = program.code[at : at + 4]
    is_t32 = bool(before[16] & (reference.T | reference.M_PROFILE_T))
    shown = f"{int.from_bytes(encoding, 'little'):08x}"
    if is_t32:
        shown = " ".join(f"{int.from_bytes(encoding[at : at + 2], 'little'):04x}" for at in (0, 2))
    lines = [f"seed {program.seed}: {pc:#010x}: {'T32' if is_t32 else 'A32'} {shown}"]
    lines.append(f"{'':5} {'before':>10} {'engine':>10} {'unicorn':>10}")
    for name, *values in zip(reference.NAMES, before, ours, theirs, strict=True):
        differs = values[1] != values[2]
        if differs or not name.startswith("s") or name == "sp":
            mark = "  <--" if differs else ""
            lines.append(f"{name:5} " + " ".join(f"{int(each):#010x}" for each in values) + mark)
    return "\n".join(lines)


def compare(program: Program, board: str = BOARD, overrides: Overrides = NONE) -> int:
    """Runs the program on both; gives the number of instructions."""
    return compare_machine(program, loaded(program, board, overrides), *reference_trace(program))


def compare_machine(
    program: Program, machine: _engine.Machine, theirs: np.ndarray, their_data: bytes
) -> int:
    """Steps a machine with the program, beside what Unicorn did."""
    seed = program.seed
    assert int(theirs[-1][0]) == program.end, f"seed {seed}: the program does not end"
    count = len(theirs) - 1
    ours = rows(machine, count)
    common = min(len(ours), count)
    differing = np.flatnonzero((ours[:common] != theirs[1 : common + 1]).any(axis=1))
    if differing.size:
        first = int(differing[0])
        raise AssertionError(divergence(program, theirs[first], ours[first], theirs[first + 1]))
    assert common == count, f"seed {seed}: the engine stopped after {common} of {count}"
    our_data = machine.read_memory(choices.DATA, choices.DATA_BYTES)
    assert our_data == their_data, f"seed {seed}: memory differs at the end"
    return count
