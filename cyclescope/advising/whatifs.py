"""A what-if: one change that the board, or who builds the firmware, can make, and what it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cyclescope.board.description.presets import Preset
from cyclescope.sweeps.targets import FLAGS

# The setting by which most apps say the compiler's level of optimisation.
_OPTIMISE = "optimise"


@dataclass(frozen=True)
class Move:
    """Code that is somewhere else: `ranges` are (address, bytes), in the memory of label `ram`."""

    ram: str
    ranges: tuple[tuple[int, int], ...]

    @property
    def size_bytes(self) -> int:
        """How much of the memory it takes."""
        return sum(size for _, size in self.ranges)


@dataclass(frozen=True)
class WhatIf:
    """One change and how to make it.

    `what` says it in words, `takes` what it costs, and `source` the document that allows it, if it
    is not the board or the app by itself. `changes` are values by their paths, as `cyclescope sweep
    --vary` has them, `adds` those of properties that the board leaves out; `presets` are bits of
    registers that are set before `main`, `move` is code that is in another memory. `how` is what to
    write where: a property, a register, sections for the linker.
    """

    what: str
    takes: str
    how: str
    source: str = ""
    changes: Mapping[str, str] = field(default_factory=dict)
    adds: Mapping[str, int | str] = field(default_factory=dict)
    presets: tuple[Preset, ...] = ()
    move: Move | None = None

    @property
    def touches(self) -> frozenset[str]:
        """What it changes, by name: of two what-ifs that share one, only one can be made."""
        registers = (f"{one.register}&{bit:#x}" for one in self.presets for bit in _bits(one.mask))
        names = {*self.adds, *registers}
        for path in self.changes:
            names.add(_OPTIMISE if path.endswith(f".{_OPTIMISE}") else path)
        if self.move is not None:
            names.add("code")
        if self.changes.get(FLAGS, "").startswith("-O"):
            names.add(_OPTIMISE)
        return frozenset(names)


def _bits(mask: int) -> list[int]:
    return [1 << place for place in range(32) if mask >> place & 1]


def together(chosen: Sequence[WhatIf]) -> WhatIf:
    """All of some what-ifs at once, which touch nothing twice."""
    moves = [one.move for one in chosen if one.move is not None]
    return WhatIf(
        what="; ".join(one.what for one in chosen),
        takes="; ".join(one.takes for one in chosen if one.takes),
        how="; ".join(one.how for one in chosen),
        changes={path: value for one in chosen for path, value in one.changes.items()},
        adds={path: value for one in chosen for path, value in one.adds.items()},
        presets=tuple(preset for one in chosen for preset in one.presets),
        move=moves[0] if moves else None,
    )
