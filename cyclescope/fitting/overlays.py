"""A fit's values as a board file: the fitted board with changes, each with its source."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cyclescope.board import board_tree, find_board, shipped_boards
from cyclescope.board.description.devicetree import Node
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.errors import UsageError
from cyclescope.fitting.judging import NO_EFFECT, TOGETHER, Judgement
from cyclescope.fitting.results import FitResult, possible
from cyclescope.units import count

_SOURCES = "cyclescope,sources"


def overlay(result: FitResult, path: Path, sets: Mapping[str, OverrideValue]) -> str:
    """The text of a .dts at this path, with the values that at least one cell depends on.

    `sets` are overrides with which the cells were measured. Raises `UsageError` if no cell depends
    on any free parameter.
    """
    fitted = [one for one in result.parameters if one.told != NO_EFFECT]
    if not fitted:
        raise UsageError(f"{path}: no cell depends on a free parameter: there is nothing to write")
    tree = board_tree(result.board)
    nodes = {node.path: node for node in tree.walk()}
    by_node: dict[str, list[Judgement]] = {}
    for one in fitted:
        by_node.setdefault(one.free.parameter.node, []).append(one)
    lines = [
        "/*",
        f" * {_comment(result)}.",
        *([f" * Fitted with {_set_words(sets)}."] if sets else []),
        " */",
        "/dts-v1/;",
        f'/include/ "{_quoted(_included(result.board, path))}"',
    ]
    for place, changed in by_node.items():
        lines += ["", *_node(nodes[place], changed, result)]
    return "\n".join(lines) + "\n"


def _comment(result: FitResult) -> str:
    cells = count(len(result.fitted), "cell")
    return f"{_plain(result.board)}, fitted to {cells} of {_plain(result.table)}"


def _node(node: Node, changed: Iterable[Judgement], result: FitResult) -> Iterator[str]:
    changed = list(changed)
    name = f"&{node.labels[0]}" if node.labels else f"&{{{node.path}}}"
    yield f"{name} {{"
    for one in changed:
        yield f"\t{one.free.parameter.property_name} = <{one.value}>;"
    own = {one.free.parameter.property_name for one in changed}
    entries = [*_others(node, own), *(_source(one, result) for one in changed)]
    yield f"\t{_SOURCES} ="
    yield ",\n".join(f'\t\t"{_quoted(entry)}"' for entry in entries) + ";"
    yield "};"


def _others(node: Node, own: set[str]) -> Iterator[str]:
    """The node's existing entries, without the names that get an entry of their own."""
    prop = node.props.get(_SOURCES)
    entries = prop.value.decode().split("\0")[:-1] if prop else []
    for entry in entries:
        names, colon, text = entry.partition(": ")
        left = [name for name in names.split(", ") if name.strip() not in own]
        if left:
            yield f"{', '.join(left)}{colon}{text}"


def _source(one: Judgement, result: FitResult) -> str:
    values = list(dict.fromkeys(one.possible))
    span = f" {possible(one)}" if len(values) > 1 else ""
    cells = count(len(result.fitted), "cell")
    remark = "the 95 % interval" if span else "exact to the unit"
    if one.told == TOGETHER:
        others = next(group for group in result.untold if one.free.path in group.paths)
        remark = others.words
    return (
        f"{one.free.parameter.property_name}: calibrated{span}: fitted to {cells} of "
        f"{_plain(result.table)} by cyclescope fit; {remark}"
    )


def _included(board: str, path: Path) -> str:
    """How a file at this path names the board: a shipped board by its name alone."""
    if board in shipped_boards():
        return f"{board}.dts"
    return os.path.relpath(find_board(board).resolve(), path.resolve().parent)


def _set_words(sets: Mapping[str, OverrideValue]) -> str:
    return " ".join(f"--set {_plain(path)}={_plain(str(value))}" for path, value in sets.items())


def _plain(text: str) -> str:
    """The text without the end of a comment; of a path only the file's name."""
    return Path(text).name.replace("*/", "* /") if os.sep in text else text.replace("*/", "* /")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
