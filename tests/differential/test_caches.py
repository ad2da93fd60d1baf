"""Fills and write-backs of random programs, against a model that looks at every access.

The engine asks its directory only where a line is not known to be present and most recently used.
The model is fed from Unicorn's trace, so it shares nothing with the engine.
"""

from __future__ import annotations

import assembler as asm
import choices
import harness
import numpy as np
import programs
import pytest
from cache_model import Cache
from test_blocks import FOUR_WAYS, KC705, MOST, THROUGH, TINY, TWO_WAYS

DEFAULT = {
    f"cpu0.{which}-cache-{what}": value
    for which in "id"
    for what, value in (("size", 16384), ("block-size", 16), ("sets", 1024))
}


def data_address(encoding: int, registers: np.ndarray) -> tuple[int, bool] | None:
    """The address of a load or store, and whether it is a store; None for other instructions."""
    if encoding & 3 == 3:
        is_store = encoding & 0x7F == asm.STORES["sb"]
        if not is_store and encoding & 0x7F != asm.LOADS["lb"]:
            return None
        low = encoding >> 25 << 5 | encoding >> 7 & 31 if is_store else encoding >> 20
        base, offset = encoding >> 15 & 31, (low ^ 0x800) - 0x800
    else:
        quadrant, funct3 = encoding & 3, encoding >> 13 & 7
        if quadrant == 1 or funct3 not in (2, 6):
            return None
        is_store = funct3 == 6
        if quadrant == 0:
            base, offset = 8 + (encoding >> 7 & 7), short_offset(encoding)
        else:
            base, offset = 2, stack_offset(encoding, is_store=is_store)
    return int(registers[base]) + offset & 0xFFFFFFFF, is_store


def short_offset(encoding: int) -> int:
    """c.lw, c.sw: the reverse of `asm.c_word_offset`."""
    return (encoding >> 10 & 7) << 3 | (encoding >> 6 & 1) << 2 | (encoding >> 5 & 1) << 6


def stack_offset(encoding: int, *, is_store: bool) -> int:
    """c.swsp: [5:2 | 7:6] in 12:7; c.lwsp: [5] in 12, [4:2 | 7:6] in 6:2."""
    if is_store:
        return (encoding >> 9 & 15) << 2 | (encoding >> 7 & 3) << 6
    return (encoding >> 12 & 1) << 5 | (encoding >> 4 & 7) << 2 | (encoding >> 2 & 3) << 6


def replay(states: np.ndarray, program: programs.Program, icache: Cache, dcache: Cache) -> None:
    """Feeds the models with each fetch, load and store of a trace."""
    code = bytearray(program.code)
    for state in states:
        pc, registers = int(state[0]), state[1:]
        at = pc - choices.CODE
        encoding = int.from_bytes(code[at : at + 4], "little")
        length = 4 if encoding & 3 == 3 else 2
        icache.access(pc)
        if (pc + length - 1) // icache.line_bytes != pc // icache.line_bytes:
            icache.access(pc + length - 1)
        if access := data_address(encoding, registers):
            address, is_store = access
            dcache.access(address, store=is_store)
            if is_store and address < choices.CODE + len(code):
                # Only `programs.patch` stores to code: halves.
                value = int(registers[encoding >> 20 & 31]) & 0xFFFF
                code[address - choices.CODE : address - choices.CODE + 2] = value.to_bytes(
                    2, "little"
                )
        if encoding & 0x707F == asm.FENCE_I:
            icache.invalidate()


SETTINGS = {
    "direct-mapped": {},
    "tiny": TINY,
    "two ways": TWO_WAYS,
    "four ways": FOUR_WAYS,
    "two ways, write-through": TWO_WAYS | THROUGH,
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_fills_and_write_backs_are_the_models(setting: str) -> None:
    values = DEFAULT | SETTINGS[setting]
    for seed in harness.seeds(400_001, 10, part=[*SETTINGS].index(setting)):
        program = programs.generate(seed)
        states, _ = harness.reference_trace(program, MOST)
        icache, dcache = (
            Cache(
                *(values[f"cpu0.{which}-cache-{what}"] for what in ("size", "block-size", "sets"))
            )
            for which in "id"
        )
        dcache.is_write_back = "write-through" not in setting
        replay(states[:-1], program, icache, dcache)
        machine = harness.loaded(program, board=KC705, overrides=SETTINGS[setting])
        machine.trace(len(states) - 1)
        # A run that may not take any time gives the counters as they are.
        counters = machine.run(0, None)["counters"]
        ours = [
            counters[f"cpu0.{name}"]
            for name in ("i-cache.fills", "d-cache.fills", "d-cache.write-backs")
        ]
        assert ours == [icache.fills, dcache.fills, dcache.write_backs], f"seed {seed}"
