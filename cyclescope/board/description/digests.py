"""Digests of a run's inputs (engine, package, board), for cached results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from cyclescope import _engine
from cyclescope.board.description.devicetree import Node
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.description.trees import board_tree
from cyclescope.board.setup import users_devices
from cyclescope.units import parse_number

# Properties that do not change results: the sources of values.
_SAID = "cyclescope,sources"
_IMAGE = ".cyclescope,image"
# Parts of the package that only show results.
_SHOWING = ("cli", "report")


@cache
def of_engine() -> str:
    """Digest of the engine's build."""
    return hashlib.sha256(Path(_engine.__file__).read_bytes()).hexdigest()


@cache
def of_build() -> str:
    """Digest of the engine's build and of the package, without modules that only show results."""
    digest = hashlib.sha256(of_engine().encode())
    package = Path(__file__).resolve().parent.parent
    for module in sorted(package.rglob("*.py")):
        within = module.relative_to(package)
        if within.parts[0] not in _SHOWING:
            digest.update(str(within).encode() + b"\0" + module.read_bytes())
    return digest.hexdigest()


def of_tree(tree: Node) -> str:
    """Digest of a board's properties, without the sources of values, and of its Python devices."""
    text = [
        (node.path, name, prop.value.hex(), prop.kind)
        for node in tree.walk()
        for name, prop in node.props.items()
        if name != _SAID
    ]
    digest = hashlib.sha256(repr(text).encode())
    for file in users_devices.files():
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()


class Boards:
    """Boards' trees, read when they are first requested, and their digests."""

    def __init__(self) -> None:
        self._trees: dict[str, Node] = {}
        self._digests: dict[str, str] = {}

    def __getstate__(self) -> dict[str, object]:
        """No state: another machine reads its own trees."""
        return {"_trees": {}, "_digests": {}}

    def tree(self, board: str) -> Node:
        """The tree without any override; callers must not change it."""
        if board not in self._trees:
            self._trees[board] = board_tree(board)
        return self._trees[board]

    def digest(self, board: str) -> str:
        """Digest of the board's tree."""
        if board not in self._digests:
            self._digests[board] = of_tree(self.tree(board))
        return self._digests[board]


def of_overrides(overrides: Mapping[str, OverrideValue]) -> list[tuple[str, str]]:
    """Overrides as plain data, independent of number notation; images by their contents.

    Raises `OSError` for an existing image that can't be read.
    """
    return sorted((path, _plain(path, value)) for path, value in overrides.items())


def of_parts(parts: Iterable[object]) -> str:
    """Digest of plain data, by its JSON."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


def _plain(path: str, value: OverrideValue) -> str:
    if path.endswith(_IMAGE) and value:
        image = Path(str(value))
        return hashlib.sha256(image.read_bytes()).hexdigest() if image.exists() else ""
    number = parse_number(value) if isinstance(value, str) else None
    return repr(value if number is None else number)
