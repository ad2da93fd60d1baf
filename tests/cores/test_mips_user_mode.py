"""A program in user mode over a software-managed TLB, with its kernel."""

from __future__ import annotations

import struct

import mips_assembly

from cyclescope import _engine
from cyclescope.board import board_tree

# the program's counters: by Cause.ExcCode, and refills
COUNTERS, REFILLS = 0x4000, 0x4080
TLB_MODIFIED, TLB_LOAD, TLB_STORE, ADDRESS_LOAD, ADDRESS_STORE = 1, 2, 3, 4, 5
SYSCALL, COPROCESSOR_UNUSABLE = 8, 11
PAGES = 64
LIMIT_PS = 10**9


def loaded() -> _engine.Machine:
    machine = _engine.Machine(board_tree("minimal-mips32").to_dict())
    machine.load(mips_assembly.built("user_mode").read_bytes(), "user_mode")
    return machine


def counters(machine: _engine.Machine) -> tuple[dict[int, int], int]:
    """The count of each exception except refills, and the count of refills."""
    counts = struct.unpack("<32I", machine.read_memory(COUNTERS, 128))
    (refills,) = struct.unpack("<I", machine.read_memory(REFILLS, 4))
    return {code: count for code, count in enumerate(counts) if count}, refills


def test_a_kernel_serves_a_program_in_user_mode() -> None:
    machine = loaded()
    report = machine.run(LIMIT_PS, None)
    assert (report["outcome"], report["code"]) == ("exit", 0), report["message"]
    refused = "4-byte load at 0x80000000: a kernel segment: user mode may not use addresses from"
    assert any(refused in note for note in report["notes"])
    counts, refills = counters(machine)
    assert counts == {
        # each page becomes writable once, in either space
        TLB_MODIFIED: PAGES + 1,
        # nothing is mapped close to 0
        TLB_LOAD: 2,
        # each page becomes valid by its first store, but for the other space's
        TLB_STORE: PAGES,
        # two kernel segments, a misaligned word
        ADDRESS_LOAD: 3,
        ADDRESS_STORE: 2,
        SYSCALL: 3,
        # mfc0, tlbwi, cache, wait, eret
        COPROCESSOR_UNUSABLE: 5,
    }
    # 33 pairs of pages are in the first round; what the last rounds miss depends on Random
    assert 40 < refills < 150


def test_steps_and_runs_take_the_same_path() -> None:
    run, stepped = loaded(), loaded()
    run.run(LIMIT_PS, None)
    assert stepped.trace(100_000)
    assert run.registers() == stepped.registers()
    assert counters(run) == counters(stepped)
