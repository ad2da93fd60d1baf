"""Digests of what a run's result depends on, for results that are kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from cyclescope import _engine
from cyclescope.board import users_devices
from cyclescope.board.devicetree import Node
from cyclescope.board.overrides import OverrideValue
from cyclescope.units import parse_number

# Values' sources change no result.
_SAID = "cyclescope,sources"
_IMAGE = ".cyclescope,image"
# Of the package, what takes part in a run beside the engine.
_PARTS = ("bench", "board", "devices", "disks", "experiments", "firmware")


@cache
def of_engine() -> str:
    """Of the engine's build."""
    return hashlib.sha256(Path(_engine.__file__).read_bytes()).hexdigest()


@cache
def of_build() -> str:
    """Of the engine's build and of the package's modules that take part in a run."""
    digest = hashlib.sha256(of_engine().encode())
    package = Path(__file__).resolve().parent.parent
    for module in sorted(path for part in _PARTS for path in (package / part).rglob("*.py")):
        digest.update(module.name.encode() + b"\0" + module.read_bytes())
    return digest.hexdigest()


def of_tree(tree: Node) -> str:
    """Of all properties of a board but the sources of values, and of devices in Python."""
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


def of_overrides(overrides: Mapping[str, OverrideValue]) -> list[tuple[str, str]]:
    """Overrides as plain data, the same for all ways to write a number; images by what they hold.

    Raises `OSError` for an image that is there and can't be read.
    """
    return sorted((path, _plain(path, value)) for path, value in overrides.items())


def of_parts(parts: Iterable[object]) -> str:
    """Of plain data, as JSON has it."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


def _plain(path: str, value: OverrideValue) -> str:
    if path.endswith(_IMAGE) and value:
        image = Path(str(value))
        return hashlib.sha256(image.read_bytes()).hexdigest() if image.exists() else ""
    number = parse_number(value) if isinstance(value, str) else None
    return repr(value if number is None else number)
