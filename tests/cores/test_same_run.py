"""A run is the same run, however it is made: at once, in slices, stepped, from a snapshot, looked
at, compiled sooner or later, profiled. And no program reaches memory of the host.
"""

from __future__ import annotations

from random import Random

import pytest
import tiers
from fuzz import boards, loops_arm_m, tables_arm_a, ways
from fuzz.inputs import Input, MisbehaviourError
from fuzz.program import Program
from fuzz.target_ways import LOOPING, Ways
from shipped_programs import PROGRAMS, built

SEEDS = tiers.sized(30, 3000)
# A line of flash that comes on time, after a store.
FOUND = (908,)
FIRST_LOOPS = tiers.sized(8, 400)
TABLES = tiers.sized(24, 400)
# On boards whose memories and flash interfaces differ, and on each core.
WHOLE = ("f4", "f411", "l4r5", "m4", "a5", "a7-and-m4-talking", "rv32-cached", "nios-v", "mips")


def made_of(program: Program, board: str, limit_ps: int) -> Input:
    """A program for a board, as the ways take it."""
    return {
        "board": board,
        "machine": program.machine,
        "entry": program.entry,
        "segments": program.segments,
        "limit_ps": limit_ps,
    }


def test_random_programs_on_all_boards_give_equal_results_in_all_ways() -> None:
    target, outcomes = Ways(), set()
    for seed in {*range(SEEDS), *FOUND}:
        made = target.make(f"same run {seed}")
        try:
            outcomes.add(target.run(made))
        except MisbehaviourError as error:
            pytest.fail(f"{made['board']}, seed {seed}: {error}")
    assert {"exit", "fault", "limit"} <= outcomes


@pytest.mark.parametrize("board", LOOPING)
def test_no_access_of_several_words_in_the_first_block_reaches_the_host(board: str) -> None:
    """The access begins the first block of all, which is compiled; at last it meets no memory."""
    for seed in range(FIRST_LOOPS):
        program = loops_arm_m.first_loop(Random(seed), boards.facts(board))
        made = made_of(program, board, 10**12)
        interpreted = ways.at_once(made, 0, skip=False)
        assert interpreted is not None
        assert interpreted["outcome"] == "exit", seed
        for runs in (1, 20):
            assert not ways.difference(interpreted, ways.at_once(made, runs)), (seed, runs)


@pytest.mark.parametrize("board", tables_arm_a.PLACES)
def test_tables_changed_without_tlb_maintenance_give_equal_results_in_all_ways(board: str) -> None:
    """TLBs and tables say where an address leads, whatever was decoded before, and when."""
    for seed in range(TABLES):
        random = Random(seed)
        program = tables_arm_a.program(random, boards.facts(board))
        made = made_of(program, board, 10**8)
        first = ways.at_once(made, 0, skip=False)
        assert first is not None
        made["ended_ps"] = first["elapsed_ps"]
        for way in (ways.sliced, ways.restored, ways.held):
            difference = ways.difference(first, way(made, random))
            assert not difference, (seed, way.__name__, difference)
        assert not ways.difference(first, ways.at_once(made, 1)), seed


@pytest.mark.parametrize("name", tiers.mostly_long(WHOLE, {"f4", "l4r5"}))
def test_whole_programs_give_equal_results_in_all_ways(name: str) -> None:
    program, random = PROGRAMS[name], Random(name)
    assert not program.overrides
    made = {"board": program.board, "elf": built(name).read_bytes(), "limit_ps": 10**12}
    first = ways.at_once(made, 0, skip=False)
    assert first is not None
    assert first["outcome"] == "exit", first["message"]
    made["ended_ps"] = first["elapsed_ps"]
    for way in (ways.sliced, ways.restored, ways.held, ways.restored):
        assert not ways.difference(first, way(made, random)), way.__name__
    assert not ways.difference(first, ways.at_once(made, None, skip=True, profiled=True))
