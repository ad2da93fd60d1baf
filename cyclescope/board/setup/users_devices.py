"""Devices in Python that a board has: those that are registered, if anyone has defined some."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclescope.devices.model import Model

_REGISTRY = "cyclescope.devices.registry"


def models(made: dict[str, Model]) -> list[dict[str, Any]]:
    """What the engine gets of them; objects that it makes of them are kept in `made`, by labels."""
    # a run without such devices does not wait for their modules
    registry = sys.modules.get(_REGISTRY)
    return registry.described(made) if registry else []


def files() -> set[str]:
    """The files that they stand in."""
    registry = sys.modules.get(_REGISTRY)
    return registry.files() if registry else set()
