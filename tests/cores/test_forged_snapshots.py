"""A snapshot that is forged, with a digest that fits, is refused in a line, or goes on."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable

import elf32
from fuzz import boards, forged
from fuzz.program import halves, words
from tiers import sized

from cyclescope._engine import EngineError, Machine

TAKEN_PS, LIMIT_PS = 10**9, 2 * 10**9
# SysTick every 997 cycles; a loop that stores: movw, movt r0, SYST_CSR; movw r1, #997; str r1,
# [r0, #4]; movs r1, #7; str r1, [r0]; movs r5, #1; lsls r5, #29; 1: str r4, [r5]; adds r4, #1; b 1b
CODE = [0xF24E, 0x0010, 0xF2CE, 0x0000, 0xF240, 0x31E5, 0x6041, 0x2107, 0x6001, 0x2501, 0x076D]
CODE += [0x602C, 0x3401, 0xE7FC, 0x4770]
START, HANDLER = 0x101, 0x100 + 2 * (len(CODE) - 1) + 1
PLACES = sized(150, 4000)
CLOCK_HZ, LAST_BYTES = 100_000_000, 64


def machine() -> Machine:
    table = [0x2001_0000, START, *[HANDLER] * 14]
    segments = (elf32.Segment(0, words(table)), elf32.Segment(0x100, halves(CODE)))
    fresh = boards.machine("minimal-armv7m")
    fresh.load(elf32.executable(*segments, machine=elf32.EM_ARM, entry=START), "loop")
    return fresh


def outcome(snapshot: bytes, state: bytes) -> str:
    """The outcome of a snapshot whose state was replaced."""
    other = machine()
    try:
        other.restore(forged.with_state(snapshot, state))
    except EngineError as error:
        return str(error)
    return str(other.run(LIMIT_PS, None)["outcome"])


def forged_at(snapshot: bytes, places: Iterable[int]) -> Counter[str]:
    """The outcomes with the byte 0xff at each of `places`."""
    state = forged.state_of(snapshot)
    return Counter(
        outcome(snapshot, state[:place] + b"\xff" + state[place + 1 :]) for place in places
    )


def test_no_forged_byte_brings_a_panic_or_a_run_without_an_end() -> None:
    first = machine()
    assert first.run_to(TAKEN_PS) is None
    snapshot = first.snapshot()
    count = len(forged.state_of(snapshot))
    came_to = forged_at(snapshot, range(0, count, max(1, count // PLACES)))
    # the machine's own description is at the end
    came_to += forged_at(snapshot, range(count - LAST_BYTES, count))
    assert not any("\n" in end for end in came_to)
    assert came_to["the snapshot is damaged"] > 0
    assert came_to["limit"] > 0


def test_a_core_whose_clock_is_forged_in_one_of_its_copies_is_refused() -> None:
    first = machine()
    assert first.run_to(TAKEN_PS) is None
    snapshot = first.snapshot()
    state, clock = forged.state_of(snapshot), struct.pack("<Q", CLOCK_HZ)
    places = [place for place in range(len(state)) if state.startswith(clock, place)]
    came_to = forged_at(snapshot, [place + 2 for place in places])
    # in memory, core, inputs and the rates that its clock has had
    assert came_to["the snapshot is damaged"] >= 4
    assert set(came_to) <= {"the snapshot is damaged", "limit"}
