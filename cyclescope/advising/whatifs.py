"""A what-if: one change to the board or the build, and its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cyclescope.board.description.presets import Preset
from cyclescope.sweeps.targets import FLAGS

# The setting of the compiler's level of optimisation in most apps.
_OPTIMISE = "optimise"


@dataclass(frozen=True)
class Move:
    """Code in another place: `ranges` are (address, bytes), in the memory of label `ram`."""

    ram: str
    ranges: tuple[tuple[int, int], ...]

    @property
    def size_bytes(self) -> int:
        """The number of bytes in the memory."""
        return sum(size for _, size in self.ranges)


@dataclass(frozen=True)
class WhatIf:
    """One change and how to make it.

    `what` describes it, `takes` its cost, and `source` the document that allows it, if it is not
    the board or the app itself. `changes` are values by their paths, as in `cyclescope sweep
    --vary`, `adds` values of properties that the board leaves out; `presets` are bits of registers
    that are set before `main`, `move` is code in another memory. `how` says what to write where: a
    property, a register, sections for the linker.
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
        """The names of what it changes: of two what-ifs that share one, only one can be made."""
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
    """All of some what-ifs at once, which change nothing twice."""
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
