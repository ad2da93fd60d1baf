"""The state of a Python device in a snapshot: the attributes of the object, as bytes.

A snapshot may come from someone else, so loading one makes only plain data and objects of classes
in the device's own module.
"""

from __future__ import annotations

import io
import pickle
import sys
from typing import Any

_PLAIN = {
    "builtins": {"bytearray", "complex", "frozenset", "range", "set", "slice"},
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "random": {"Random"},
}
# defaults of a defaultdict
_DEFAULTS = {"bool", "bytes", "dict", "float", "int", "list", "str", "tuple"}


def saved(model: Any) -> bytes:
    """The attributes of a device, except its node's. Raises `PicklingError` and the like."""
    data = pickle.dumps(_attributes(model), protocol=5)
    # a state that can't be loaded is not saved either
    _Reader(model, data).load()
    return data


def load(model: Any, data: bytes) -> None:
    """Set a device's attributes from a saved state."""
    attributes, slots = _Reader(model, data).load()
    given = {name: value for name, value in model.__dict__.items() if name in _given(model)}
    model.__dict__.clear()
    model.__dict__.update(given | attributes)
    for name, value in slots.items():
        setattr(model, name, value)


def _attributes(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    state = model.__getstate__()
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    given = _given(model)
    return {name: value for name, value in (attributes or {}).items() if name not in given}, slots


def _given(model: Any) -> set[str]:
    """Attributes from the node: they are not saved."""
    return {"label", "clocks"} | {one.attribute for one in model.properties}


class _Reader(pickle.Unpickler):
    """Loads only plain data and objects of classes in the device's own module."""

    def __init__(self, model: Any, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.module = type(model).__module__

    def find_class(self, module: str, name: str) -> Any:
        if name in _PLAIN.get(module, ()) or (module == "builtins" and name in _DEFAULTS):
            return super().find_class(module, name)
        found = getattr(sys.modules.get(module), name, None) if module == self.module else None
        if isinstance(found, type) and found.__module__ == module:
            return found
        raise pickle.UnpicklingError(
            f"{module}.{name} can't be part of a snapshot: define its save_state and load_state"
        )
