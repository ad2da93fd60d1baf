"""The Python devices of a board: all that are registered."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclescope.devices.model import Model

_REGISTRY = "cyclescope.devices.registry"


def models(made: dict[str, Model]) -> list[dict[str, Any]]:
    """The Python devices in the engine's form; the objects that it makes are kept in `made`."""
    # a run without such devices does not import their modules
    registry = sys.modules.get(_REGISTRY)
    return registry.described(made) if registry else []


def files() -> set[str]:
    """The files that define the Python devices."""
    registry = sys.modules.get(_REGISTRY)
    return registry.files() if registry else set()
