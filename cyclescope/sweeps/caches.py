"""Caches of other sizes: the number of sets follows, so that the number of ways stays.

A board gives a cache's size, line and sets; a size alone would change the ways, and for most sizes
their number would not be an integer. A fully associative cache keeps its one set.
"""

from __future__ import annotations

import re

from cyclescope.board.description import overrides
from cyclescope.board.description.devicetree import Node
from cyclescope.units import parse_number

_SIZE = re.compile(r"(?P<node>.+)\.(?P<cache>(?:[id]-)?cache-)size")
_LINES = ("block-size", "line-size")


def sets_path(path: str) -> str | None:
    """The path of a cache's sets if this path is the cache's size, else None."""
    match = _SIZE.fullmatch(path)
    return None if match is None else f"{match['node']}.{match['cache']}sets"


def sets_for(tree: Node, path: str, size: str) -> int | None:
    """The number of sets of a cache of this size, with the same number of ways as on the board.

    None if the sets do not change: the board lacks the cache, the cache is fully associative, or
    the text is not a size.
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
