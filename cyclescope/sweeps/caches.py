"""Caches of other sizes: their sets follow, so that they keep their ways.

A board says a cache's size, line and sets; a size alone would change the ways, and most sizes would
fit no whole number of them. A fully associative cache keeps its one set.
"""

from __future__ import annotations

import re

from cyclescope.board.description import overrides
from cyclescope.board.description.devicetree import Node
from cyclescope.units import parse_number

_SIZE = re.compile(r"(?P<node>.+)\.(?P<cache>(?:[id]-)?cache-)size")
_LINES = ("block-size", "line-size")


def sets_path(path: str) -> str | None:
    """The path of the sets of the cache whose size a path means; None if it means none."""
    match = _SIZE.fullmatch(path)
    return None if match is None else f"{match['node']}.{match['cache']}sets"


def sets_for(tree: Node, path: str, size: str) -> int | None:
    """How many sets the cache of this size has, with the ways that it has on the board.

    None where the sets stay as they are: for a cache that is not there, that is fully associative,
    or for what is no size.
    """
    found = overrides.find(tree, path, size)
    size_bytes = parse_number(size)
    if found is None or not size_bytes:
        return None
    node, name = found
    cache = name.removesuffix("size")
    old_bytes, sets = (node.number(f"{cache}{what}") for what in ("size", "sets"))
    lines = (node.number(f"{cache}{what}") for what in _LINES)
    line_bytes = next(filter(None, lines), None)
    if not old_bytes or not sets or not line_bytes or sets == 1:
        return None
    ways = max(1, old_bytes // (line_bytes * sets))
    return max(1, size_bytes // (line_bytes * ways))
