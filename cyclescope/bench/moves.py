"""How far each assumed and calibrated parameter is moved to measure its effect on published cells.

It goes up by a step: one unit or a tenth of it, whichever is larger. A parameter with alternatives,
and a choice, takes each of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cyclescope.bench.experiment import Choice, Experiment, Run
from cyclescope.board import Board
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED, Parameter

MOVED = (ASSUMED, CALIBRATED)
"""The classes of what is moved: no document settles these values."""

_STEP = 10  # a tenth


@dataclass(frozen=True, order=True)
class Move:
    """One parameter of a board, or one choice of an experiment, with another value.

    `parameter` is "node.property" or "what: name"; `board` is empty for a choice. `plausible` is
    the parameter's text, "or X" for a choice.
    """

    experiment: str
    board: str
    parameter: str
    value: str
    basis: str
    plausible: str
    to: str


def step(value: int) -> int:
    """The step of a value: one unit or a tenth of it, whichever is larger."""
    return max(1, round(value / _STEP))


def values(parameter: Parameter) -> tuple[int, ...]:
    """The values that a parameter is moved to."""
    value = int(parameter.value)
    named = parameter.plausible_values
    if named and not parameter.is_span:
        return tuple(other for other in named if other != value)
    return (value + step(value),)


def published_runs(experiment: Experiment) -> list[Run]:
    """The runs whose cells have published numbers."""
    return [run for run in experiment.runs if experiment.has_published(run)]


@dataclass(frozen=True)
class Moved:
    """A move with its cause: a board's parameter, or a choice."""

    move: Move
    path: str = ""
    choice: Choice | None = None


def of(experiment: Experiment) -> Iterator[Moved]:
    """All moves of values that an experiment's published cells may depend on, parameters first."""
    runs = published_runs(experiment)
    for board in dict.fromkeys(run.board for run in runs):
        yield from _of_board(experiment.name, board)
    for choice in experiment.choices if runs else ():
        parameter = choice.parameter
        named = (f"{choice.what}: {choice.name}", parameter.value, choice.basis)
        move = Move(experiment.name, "", *named, parameter.plausible, str(choice.alternative))
        yield Moved(move, choice=choice)


def _of_board(experiment: str, board: str) -> Iterator[Moved]:
    parameters = [one for one in Board(board).parameters if one.basis in MOVED]
    for parameter, owner in zip(parameters, _owners(parameters), strict=True):
        named = (f"{owner}.{parameter.property_name}", parameter.value, parameter.basis)
        for to in values(parameter):
            move = Move(experiment, board, *named, parameter.plausible, str(to))
            yield Moved(move, path=f"{parameter.node}.{parameter.property_name}")


def _owners(parameters: Iterable[Parameter]) -> list[str]:
    """The name of each parameter's node: its label if no other node has it, else its path."""
    nodes = {(one.owner, one.node) for one in parameters}
    known = Counter(owner for owner, _ in nodes)
    return [one.owner if known[one.owner] == 1 else one.node for one in parameters]
