"""Free parameters: timing parameters of a board that a fit may change, and their possible values.

A parameter is written as `PATH` if the board's own source states the plausible values, else as
`PATH=LOW:HIGH`, or as `PATH=4,8,16` if only certain values make sense.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cyclescope.board import Board, board_tree
from cyclescope.board.description import overrides
from cyclescope.board.description.devicetree import Node
from cyclescope.board.description.overrides import MOST_CELL, OverrideValue
from cyclescope.board.description.parameters import Parameter
from cyclescope.errors import SettingError
from cyclescope.host.inputs import printable
from cyclescope.similar_names import did_you_mean
from cyclescope.units import parse_number

EXAMPLE = "ddr.cyclescope,first-word-cycles=17:45"
# A column of the Jacobian takes two runs of each cell, and so does each step: more takes too long.
MOST = 12


@dataclass(frozen=True)
class Asked:
    """A free parameter as the user wrote it; `values` is empty if the board states them."""

    path: str
    values: Sequence[int] = ()
    is_span: bool = True


@dataclass(frozen=True)
class Free:
    """A timing parameter that may change, with its possible values in ascending order.

    `path` is the user's name for it. A span has all integers between its ends as values; otherwise
    the values are alternatives, and each is tried. `board_value` is the board's own value.
    """

    path: str
    parameter: Parameter
    values: Sequence[int]
    is_span: bool

    @property
    def board_value(self) -> int:
        """The board's own value."""
        return int(self.parameter.value)

    @property
    def width(self) -> int:
        """The number of steps from the first value to the last."""
        return max(1, len(self.values) - 1)

    @property
    def start(self) -> int:
        """The index of the value that is nearest to the board's."""
        if isinstance(self.values, range):
            return min(max(self.board_value - self.values[0], 0), len(self.values) - 1)
        near = [abs(value - self.board_value) for value in self.values]
        return near.index(min(near))

    @property
    def bounds(self) -> str:
        """The possible values in words: "17 to 45", "4 or 8"."""
        return words(self.values, self.is_span)


def words(values: Sequence[int], is_span: bool) -> str:
    """Values in words, as sources of a board write them; a single value stands alone."""
    if is_span and len(values) > 1:
        return f"{values[0]} to {values[-1]}"
    return " or ".join(map(str, values))


def parse(argument: str) -> Asked:
    """The parameter of `PATH`, `PATH=LOW:HIGH` or `PATH=A,B`. Raises `SettingError` for others."""
    path, equals, text = argument.partition("=")
    if not path.strip() or not argument.isprintable():
        raise SettingError(f"--free {printable(argument)}: expected PATH or PATH=LOW:HIGH")
    return asked(path.strip(), text if equals else None)


def asked(path: str, text: str | None) -> Asked:
    """The parameter of a path with its values as text; None for the board's own.

    Raises `SettingError` for text that is not a range or a list.
    """
    if text is None:
        return Asked(path)
    low, colon, high = text.partition(":")
    found = [_number(path, text, word) for word in ([low, high] if colon else text.split(","))]
    if colon and found[0] >= found[1]:
        raise SettingError(f"--free {path}={text}: nothing between {found[0]:,} and {found[1]:,}")
    if len(set(found)) < 2:
        raise SettingError(f"--free {path}={text}: one value is not free: as in {EXAMPLE}")
    if colon:
        return Asked(path, range(found[0], found[1] + 1))
    return Asked(path, tuple(sorted(set(found))), is_span=False)


def _number(path: str, text: str, word: str) -> int:
    number = parse_number(word)
    if number is None or not 0 <= number <= MOST_CELL:
        shown = printable(text)
        raise SettingError(
            f"--free {path}={shown}: expected LOW:HIGH, of integers from 0, as in {EXAMPLE}"
        )
    return number


def resolved(
    wanted: Iterable[Asked], board: str, sets: Mapping[str, OverrideValue]
) -> tuple[Free, ...]:
    """The free parameters of a board.

    Raises `SettingError` for a path that is not a timing parameter, that occurs twice or also in
    `--set`, or that has no values, for values that the board refuses, and for all that `Board`
    does.
    """
    tree = board_tree(board)
    known = {(one.node, one.property_name): one for one in Board(board, sets).parameters}
    set_too = {place for path in sets if (place := _place(tree, path)) is not None}
    found: dict[Parameter, Free] = {}
    for one in wanted:
        if _place(tree, one.path) in set_too:
            raise SettingError(f"--free {one.path}: --set already gives its value")
        free = _free(one, tree, known, board)
        if free.parameter in found:
            raise SettingError(f"--free {one.path}: given twice")
        found[free.parameter] = free
    if not found:
        raise SettingError(f"nothing is free: --free PATH, as in {EXAMPLE}")
    if len(found) > MOST:
        raise SettingError(f"--free: {len(found)} parameters: {MOST} at most")
    for free in found.values():
        _check_ends(free, board, sets)
    return tuple(found.values())


def _free(one: Asked, tree: Node, known: Mapping[tuple[str, str], Parameter], board: str) -> Free:
    place = _place(tree, one.path)
    if place is None:
        error = str(overrides.absent(tree, one.path)).replace("--set ", "--free ", 1)
        raise SettingError(error.replace(" or app setting", ""))
    parameter = known.get(place)
    if parameter is None:
        names = [f"{other.owner}.{other.property_name}" for other in known.values()]
        hint = did_you_mean(one.path, names) or f"; `cyclescope board {board}` lists them"
        raise SettingError(f"--free {one.path}: not a timing parameter{hint}")
    if one.values:
        return Free(one.path, parameter, one.values, one.is_span)
    named = parameter.plausible_values
    if not named:
        raise SettingError(
            f"--free {one.path}: the board does not say what is plausible: "
            f"--free {one.path}=LOW:HIGH"
        )
    values = range(named[0], named[1] + 1) if parameter.is_span else tuple(sorted(named))
    return Free(one.path, parameter, values, parameter.is_span)


def _place(tree: Node, path: str) -> tuple[str, str] | None:
    found = overrides.find(tree, path, "0")
    return None if found is None else (found[0].path, found[1])


def _check_ends(free: Free, board: str, sets: Mapping[str, OverrideValue]) -> None:
    for value in (free.values[0], free.values[-1]):
        try:
            Board(board, {**sets, free.path: value})
        except Exception as error:
            reason = " ".join(str(error).split())
            raise SettingError(f"--free {free.path}={value}: {reason}") from None
