"""Timing parameters of a board, each with the source of its value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

DOCUMENTED, DERIVED, ASSUMED, CALIBRATED = "documented", "derived", "assumed", "calibrated"
OVERRIDE, UNSTATED = "override", "unstated"
BASES = (DOCUMENTED, DERIVED, ASSUMED, CALIBRATED, OVERRIDE, UNSTATED)


@dataclass(frozen=True)
class Parameter:
    """A timing parameter of a board, with the source of its value; or an experiment's choice.

    `basis` is "documented" (a document about this part gives the number), "derived" (calculated
    from documents; `source` shows the calculation), "assumed" (estimated, chosen, or taken from a
    related part; `plausible` has the possible values), "calibrated" (chosen or kept because the
    results match published cells; `source` names one), "override" for a value that the user set, or
    "unstated". `plausible` is "2 to 8" or "4 or 8", in `unit`; empty if the board doesn't state it,
    and "or X" for a choice whose alternative is X. `at` is the place of the value in the board's
    source, FILE:LINE.
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
        """Whether the plausible values are a range."""
        return " to " in self.plausible

    @property
    def plausible_values(self) -> tuple[int, ...]:
        """The ends of the plausible range, or the alternatives; empty if none are stated."""
        words = self.plausible.replace(" to ", " or ").split(" or ")
        return tuple(map(int, words)) if self.plausible else ()

    @property
    def has_plausible_value(self) -> bool:
        """Whether the value is in its plausible range, or its source states no range."""
        named = self.plausible_values
        if not named:
            return True
        value = int(self.value)
        return named[0] <= value <= named[1] if self.is_span else value in named

    @property
    def owner(self) -> str:
        """The label or path of the parameter's node."""
        return self.label or self.node


def warnings(parameters: Sequence[Parameter], board: str) -> Iterator[str]:
    """One line if values have no source, and one if values are outside their plausible range.

    `board` is the user's name for the board.
    """
    unstated = [one for one in parameters if one.basis == UNSTATED]
    if unstated:
        yield (
            f"{_first_of(unstated)}: no source in cyclescope,sources that begins with its class; "
            f"`cyclescope board {board} --class {UNSTATED}` lists them"
        )
    outside = [one for one in parameters if not one.has_plausible_value]
    if outside:
        yield f"{_first_of(outside)}: outside the plausible range that its own source states"


def _first_of(parameters: Sequence[Parameter]) -> str:
    first, others = parameters[0], len(parameters) - 1
    more = f" and {others} more" if others else ""
    return f"{first.at}: {first.owner}: {first.property_name}{more}"
