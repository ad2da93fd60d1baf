"""Forged snapshots: refused in a line, or gone on from up to the limit."""

from __future__ import annotations

import struct
from random import Random

from fuzz import forged, ways
from fuzz.inputs import Input
from fuzz.running import refused
from fuzz.target_code import Code

_MOST_PS = 10**7
# Most of a long state is memory: the bytes at its start lead to the rest.
_FIRST_BYTES = 12_000
_NUMBERS = (0, 1, 0xFF, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63, (1 << 64) - 1)


class Snapshots:
    """A program of the target `code`, when its snapshot is taken, and changes of that."""

    name = "snapshots"

    def __init__(self) -> None:
        self._code = Code()

    def make(self, seed: str) -> Input:
        """A program, a time, and numbers for places in the snapshot's state."""
        random = Random(seed)
        drawn = self._code.make(seed)
        made = {key: drawn[key] for key in ("board", "machine", "entry", "segments")}
        changes = [_change(random) for _ in range(random.choice((1, 1, 1, 2, 5)))]
        taken_ps = random.randrange(_MOST_PS)
        return made | {
            "target": self.name,
            "taken_ps": taken_ps,
            "limit_ps": taken_ps + _MOST_PS,
            "changes": changes,
        }

    def run(self, made: Input) -> str:
        """Its end."""
        first, other = (ways.machine(made) for _ in range(2))
        if first is None or other is None:
            return "refused"
        if first.run_to(made["taken_ps"]) is not None:
            return "done"
        snapshot = first.snapshot()
        state = forged.state_of(snapshot)
        for place, number in made["changes"]:
            at = place % len(state)
            state = state[:at] + bytes(number) + state[at + len(number) :]
        spoiled = forged.with_state(snapshot, state[: len(forged.state_of(snapshot))])
        if refused(lambda: other.restore(spoiled)):
            return "refused"
        return str(other.run(made["limit_ps"], None)["outcome"])


def _change(random: Random) -> list[int | bytes]:
    place = random.randrange(_FIRST_BYTES if random.random() < 0.8 else 1 << 32)
    number = random.choice(_NUMBERS) if random.random() < 0.5 else random.getrandbits(64)
    return [place, struct.pack("<Q", number)[: random.choice((1, 1, 2, 4, 8))]]
