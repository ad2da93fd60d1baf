"""Profiles that no machine made, for tests: `made_up` of a small program, and any at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from cyclescope.profile.building import core_profile
from cyclescope.profile.model import CoreProfile
from cyclescope.profile.profile import Profile

Frames = list[tuple[str, str | None, int | None, int | None]]
ELSEWHERE = -1
MAIN, WORK, FILL, FIB, ISR, BARE = 0x8000_0100, 0x8000_0200, 0x8000_0300, 0x8000_0400, 0x500, 0x600
SOURCE, HEADER = "/src/app.c", "/src/fill.h"

# The place of each address, innermost first; `fill` has a loop of fill.h inlined in it, twice deep.
PLACES: dict[int, Frames] = {
    0x8000_0000: [("_start", "/src/start.S", 3, None)],
    MAIN: [("main", SOURCE, 10, 1)],
    MAIN + 4: [("main", SOURCE, 12, 5)],
    WORK: [("work", SOURCE, 20, 1)],
    WORK + 4: [("work", SOURCE, 22, 9)],
    FILL: [("fill", SOURCE, 30, 1)],
    FILL + 4: [("set_word", HEADER, 5, 3), ("set_words", HEADER, 9, 3), ("fill", SOURCE, 31, 3)],
    FILL + 8: [("set_words", HEADER, 8, 3), ("fill", SOURCE, 31, 3)],
    FIB: [("fib", SOURCE, 40, 1)],
    FIB + 4: [("fib", SOURCE, 41, 1)],
    ISR: [("tick", SOURCE, 50, 1)],
    BARE: [("", None, None, None)],
}

CAUSES = ["issue", "load: ddr", "fetch: ddr", "jumps and taken branches"]
# The paths: code from reset, a recursion, an interrupt, code without a symbol.
PATHS = [
    (-1, "task", -1, "", 0, 0, 0, 0, 0),
    (0, "function", MAIN, "", 0, 0, 0, 0, 0),
    (1, "function", WORK, "", 3, 900, 400, 200, 7_000),
    (2, "function", FILL, "", 3, 600, 300, 100, 8_000),
    (1, "function", FIB, "", 1, 70, 70, 70, 9_000),
    (4, "function", FIB, "", 2, 50, 30, 20, 9_100),
    (2, "exception", -1, "IRQ 28", 2, 30, 20, 10, 9_500),
    (6, "function", ISR, "", 2, 24, 15, 9, 9_600),
    (1, "function", BARE, "", 1, 11, 11, 11, 9_900),
]
COSTS = [
    (0, ELSEWHERE, 0),
    (0, 0x8000_0000, 2),
    (1, MAIN, 5),
    (1, MAIN + 4, 1),
    (2, WORK, 100),
    (2, WORK + 4, 50),
    (3, FILL, 3),
    (3, FILL + 4, 120),
    (3, FILL + 8, 60),
    (4, FIB, 10),
    (5, FIB, 6),
    (5, FIB + 4, 14),
    (6, ELSEWHERE, 0),
    (7, ISR, 8),
    (8, BARE, 4),
]
# (cost, cause, rate, cycles)
CHARGES = [
    (0, 2, 0, 7),
    (1, 0, 0, 2),
    (2, 0, 0, 5),
    (3, 2, 0, 9),
    (4, 0, 1, 100),
    (4, 1, 1, 120),
    (5, 0, 1, 50),
    (6, 0, 1, 3),
    (7, 0, 1, 120),
    (7, 1, 1, 377),
    (8, 0, 1, 60),
    (8, 3, 1, 40),
    (9, 0, 1, 20),
    (10, 0, 1, 20),
    (11, 0, 1, 30),
    (12, 0, 1, 6),
    (13, 0, 1, 24),
    (14, 0, 1, 11),
]
CYCLES = sum(charge[3] for charge in CHARGES)


def raw(core: str = "cpu0") -> dict[str, Any]:
    """A profile of a core, in the engine's form."""
    return {
        "core": core,
        "rates": [(50_000_000, 23), (100_000_000, CYCLES - 23)],
        "causes": CAUSES,
        "paths": PATHS,
        "costs": COSTS,
        "charges": CHARGES,
        "calls": [[(2, 7_000, 400), (2, 8_500, 200), (2, 9_400, 300)]],
        "interrupts": [
            (6, None, 28, 9_400, 9_450, 9_600, 9_800),
            (6, None, 28, 9_700, 9_900, 9_960, 9_990),
        ],
        "notes": ["a jump at 0x8000020c is no call and no return"],
    }


def places_of(known: Mapping[int, Frames]) -> Any:
    """The engine's `Machine.places` of some addresses."""

    def places(_core: str, addresses: list[int]) -> Sequence[Frames]:
        assert ELSEWHERE not in addresses
        return [known[address] for address in addresses]

    return places


def core() -> CoreProfile:
    """The made-up profile of one core."""
    return core_profile(raw(), places_of(PLACES), CYCLES, ["work"])


def made_up(*others: CoreProfile) -> Profile:
    """A profile of a core, and of others."""
    return Profile("a-board", "app.elf", 10_000, (core(), *others))


NAMES = ["a", "b", "main", "operator;()", "x y", "µs", ""]
FILES = [None, "/a.c", "/b;c d.h"]


@st.composite
def any_core(draw: st.DrawFn, name: str = "cpu0") -> CoreProfile:
    """A profile of a core with random paths and costs, of kinds that the engine may give."""
    addresses = [0x1000 + 4 * number for number in range(12)]
    frame = st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(FILES),
        st.one_of(st.none(), st.integers(0, 30)),
        st.none(),
    )
    known = {address: draw(st.lists(frame, min_size=1, max_size=3)) for address in addresses}
    paths: list[Any] = [(-1, "task", -1, "", 0, 0, 0, 0, 0)]
    for number in range(draw(st.integers(0, 10))):
        parent = draw(st.integers(-1, number))
        kind = "task" if parent < 0 else draw(st.sampled_from(["function", "exception"]))
        called = "" if kind == "function" else draw(st.sampled_from(["IRQ 1", "idle", "x;y"]))
        entry = draw(st.sampled_from(addresses)) if kind == "function" else -1
        calls = draw(st.integers(0, 5))
        paths.append((parent, kind, entry, called, calls, 9 * calls, 9, 9, 5))
    cost = st.tuples(
        st.integers(0, len(paths) - 1),
        st.sampled_from([*addresses, ELSEWHERE]),
        st.integers(0, 9),
    )
    costs = draw(st.lists(cost, max_size=20))
    charges = [
        (number, draw(st.integers(0, len(CAUSES) - 1)), 0, draw(st.integers(1, 2**40)))
        for number in range(len(costs))
        for _ in range(draw(st.integers(0, 2)))
    ]
    cycles = sum(charge[3] for charge in charges)
    made = {
        "core": name,
        "rates": [(1_000_000, cycles)],
        "causes": CAUSES,
        "paths": paths,
        "costs": costs,
        "charges": charges,
        "calls": [],
        "interrupts": [],
        "notes": [],
    }
    return core_profile(made, places_of(known), cycles)
