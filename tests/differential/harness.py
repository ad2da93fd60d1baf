"""The engine's side, and what a divergence looks like."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from typing import Any

import choices
import elf32
import numpy as np
import programs
import reference
import tiers

from cyclescope import _engine
from cyclescope.board import board_tree
from cyclescope.board.description.overrides import OverrideValue, apply_overrides

# The number of instructions to compare one by one; the other tests run more programs with it.
WHOLE = 2_000_000
# Programs of a test, however few instructions there are to be.
LEAST = 2
INSTRUCTIONS = int(os.environ.get("CYCLESCOPE_DIFFERENTIAL") or tiers.sized(WHOLE // 8, WHOLE))
RAM, RAM_BYTES = 0x8000_0000, 0x10_0000
NAMES = ["pc", *(f"x{index}" for index in range(32))]
# Devicetree text: size and sets of both caches, and how lines are replaced.
CACHES = """
&cpu0 {
	i-cache-size = <%d>; i-cache-block-size = <32>; i-cache-sets = <%d>;
	d-cache-size = <%d>; d-cache-block-size = <32>; d-cache-sets = <%d>;
	cyclescope,d-cache-write-policy = "write-back";
	cyclescope,cache-replacement = "%s";
};
"""


def seeds(first: int, count: int, part: int = 0) -> range:
    """`count` seeds from `first` on, or more in a longer run.

    A shorter run has fewer of them, and other ones for each `part`: together, the parts of a test
    see more programs.
    """
    here = max(LEAST, count * INSTRUCTIONS // WHOLE)
    if here < count:
        first += part * here % count
    return range(first, first + here)


@functools.cache
def tree(board: str, overrides: tuple[tuple[str, OverrideValue], ...]) -> dict[str, Any]:
    tree = board_tree(board)
    apply_overrides(tree, dict(overrides))
    return tree.to_dict()


def engine(
    *segments: elf32.Segment,
    board: str = "minimal-rv32",
    overrides: Mapping[str, OverrideValue] | None = None,
) -> _engine.Machine:
    """A machine with these segments loaded, at RAM's first instruction."""
    machine = _engine.Machine(tree(board, tuple((overrides or {}).items())))
    machine.load(elf32.executable(*segments, entry=RAM), "random program")
    return machine


def loaded(
    program: programs.Program, compile_after: int | None = None, **board: Any
) -> _engine.Machine:
    """A machine with a random program; its blocks are compiled after `runs` runs (0: never)."""
    code = elf32.Segment(choices.CODE, program.code)
    machine = engine(code, elf32.Segment(choices.DATA, program.data), **board)
    if compile_after is not None:
        machine.compile_after(compile_after)
    return machine


def rows(trace: bytes) -> np.ndarray:
    """A trace, one row an instruction."""
    return np.frombuffer(trace, dtype="<u4").reshape(-1, len(NAMES))


def reference_trace(
    program: programs.Program, most: int, also_mapped: Iterable[tuple[int, int]] = ()
) -> tuple[np.ndarray, bytes]:
    """Registers before each instruction and at the end, and the data at the end, by Unicorn."""
    core = reference.machine(RAM, RAM_BYTES)
    for first, size in also_mapped:
        core.mem_map(first, size)
    core.mem_write(choices.CODE, program.code)
    core.mem_write(choices.DATA, program.data)
    states = reference.trace(core, choices.CODE, program.end, most)
    return states, bytes(core.mem_read(choices.DATA, choices.DATA_BYTES))


def ended(stepped: _engine.Machine, what: str) -> dict[str, Any]:
    """The report of a machine that has been stepped to its exit; each cycle has a cause."""
    report = stepped.run(None, None)
    assert report["outcome"] == "exit", report["message"]
    for core in report["cores"]:
        assert sum(share["cycles"] for share in core["stack"]) == core["cycles"], what
    return report


def assert_equal_runs(
    run: _engine.Machine,
    stepped: _engine.Machine,
    by_steps: dict[str, Any],
    data: tuple[int, bytes],
    what: str,
) -> None:
    """A machine that runs freely ends as the one that was stepped, with these bytes in memory."""
    assert run.run(None, None) == by_steps, f"{what}: time and counters"
    at, expected = data
    assert run.read_memory(at, len(expected)) == expected, f"{what}: memory"
    assert run.registers() == stepped.registers(), what


def divergence(
    seed: int, before: np.ndarray, ours: np.ndarray, theirs: np.ndarray, code: bytes
) -> str:
    """The description of an instruction after which the two states differ."""
    pc = int(before[0])
    at = pc - choices.CODE
    encoding = int.from_bytes(code[at : at + 4], "little")
    lines = [f"seed {seed}: {pc:#010x}: {_engine.disassemble(encoding, pc)}"]
    lines.append(f"{'':4} {'before':>10} {'engine':>10} {'unicorn':>10}")
    for name, *values in zip(NAMES, before, ours, theirs, strict=True):
        mark = "" if values[1] == values[2] else "  <--"
        lines.append(f"{name:4} " + " ".join(f"{int(value):#010x}" for value in values) + mark)
    return "\n".join(lines)
