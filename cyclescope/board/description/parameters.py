"""Timing parameters of a board, each with what its value rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

DOCUMENTED, DERIVED, ASSUMED, CALIBRATED = "documented", "derived", "assumed", "calibrated"
OVERRIDE, UNSTATED = "override", "unstated"
BASES = (DOCUMENTED, DERIVED, ASSUMED, CALIBRATED, OVERRIDE, UNSTATED)


@dataclass(frozen=True)
class Parameter:
    """A timing parameter of a board, with where its value comes from; or a choice of an experiment.

    `basis` is "documented" (a document about this very part gives the number), "derived" (worked
    out from documents; `source` shows the sum), "assumed" (estimated, chosen, or as of a sibling;
    `plausible` has the values that it may have), "calibrated" (chosen or kept because published
    cells came out; `source` names one), "override" for a value that the user set, or "unstated".
    `plausible` is "2 to 8" or "4 or 8", in `unit`; empty where the board doesn't say, and "or X"
    for a choice whose alternative is X. `at` is where the board has the value, FILE:LINE.
    """

    node: str
    label: str
    property_name: str
    value: str
    unit: str
    source: str
    basis: str
    plausible: str = ""
    at: str = field(default="", compare=False)

    @property
    def is_span(self) -> bool:
        """Whether all values between the plausible ones are plausible, too."""
        return " to " in self.plausible

    @property
    def plausible_values(self) -> tuple[int, ...]:
        """The ends of the plausible span, or the alternatives; empty where none are stated."""
        words = self.plausible.replace(" to ", " or ").split(" or ")
        return tuple(map(int, words)) if self.plausible else ()

    @property
    def has_plausible_value(self) -> bool:
        """Whether its value is one that its own source calls plausible, or the source says none."""
        named = self.plausible_values
        if not named:
            return True
        value = int(self.value)
        return named[0] <= value <= named[1] if self.is_span else value in named

    @property
    def owner(self) -> str:
        """What people call the node that it belongs to."""
        return self.label or self.node


def warnings(parameters: Sequence[Parameter], board: str) -> Iterator[str]:
    """A line if values have no source, and one if values are outside their own plausible range.

    `board` is what the user calls it.
    """
    unstated = [one for one in parameters if one.basis == UNSTATED]
    if unstated:
        yield (
            f"{_first_of(unstated)}: no source in cyclescope,sources that begins with its class; "
            f"`cyclescope board {board} --class {UNSTATED}` lists them"
        )
    outside = [one for one in parameters if not one.has_plausible_value]
    if outside:
        yield f"{_first_of(outside)}: not what its own source calls plausible"


def _first_of(parameters: Sequence[Parameter]) -> str:
    first, others = parameters[0], len(parameters) - 1
    more = f" and {others} more" if others else ""
    return f"{first.at}: {first.owner}: {first.property_name}{more}"
