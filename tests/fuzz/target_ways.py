"""Random programs, each run in several ways: whatever differs is a fault."""

from __future__ import annotations

from random import Random

from fuzz import boards, loops_arm_m, ways
from fuzz.inputs import Input, MisbehaviourError
from fuzz.target_code import Code

LOOPING = ("minimal-armv7m", "nucleo-f411re", "nucleo-l4r5zi", "stm32f4-disco")
"""Boards with a Cortex-M alone, for which there are programs that loop."""

_LOOPS, _FIRST_LOOPS = 0.5, 0.15
_LIMITS_PS = (3 * 10**8, 10**9, 3 * 10**9)
_MOST_PS = 10**8
_WAYS = 3


class Ways:
    """A program of the target `code`, or one that loops, and a seed of the ways it is run in."""

    name = "ways"

    def __init__(self) -> None:
        self._code = Code()

    def make(self, seed: str) -> Input:
        """A fresh program."""
        random = Random(seed)
        if random.random() < _LOOPS:
            made = looping(random, random.choice(LOOPING))
        else:
            drawn = self._code.make(seed)
            made = {key: drawn[key] for key in ("board", "machine", "entry", "segments")}
            made["limit_ps"] = min(drawn["limit_ps"], _MOST_PS)
        return made | {"target": self.name, "ways": random.getrandbits(32)}

    def run(self, made: Input) -> str:
        """Its end."""
        first = ways.at_once(made, 0, skip=False)
        if first is None:
            return "refused"
        made = made | {"ended_ps": first["elapsed_ps"]}
        random = Random(made["ways"])
        for _ in range(_WAYS):
            name, way = ways.drawn(random)
            difference = ways.difference(first, way(made, random))
            if difference:
                raise MisbehaviourError(f"{name}: {difference}")
        return str(first["outcome"])


def looping(random: Random, board: str) -> Input:
    """A program of loops for a board with a Cortex-M."""
    make = loops_arm_m.first_loop if random.random() < _FIRST_LOOPS else loops_arm_m.program
    program = make(random, boards.facts(board))
    return {
        "board": board,
        "machine": program.machine,
        "entry": program.entry,
        "segments": [[base, bytes(data)] for base, data in program.segments],
        "limit_ps": random.choice(_LIMITS_PS),
    }
