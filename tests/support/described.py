"""The reference's entry for a board's node."""

from __future__ import annotations

from collections.abc import Sequence

from cyclescope.board.description.devicetree_bindings import Binding, bindings

BINDINGS = {entry.compatible: entry for entry in bindings()}


def binding_of(name: str, compatibles: Sequence[str], device_type: str) -> Binding | None:
    """The binding of a node by its name, found as in the engine; None without a model."""
    known = [compatible for compatible in compatibles if compatible in BINDINGS]
    if name.startswith("cpu@"):
        return BINDINGS[known[0] if known else "riscv"]
    if device_type == "memory":
        return BINDINGS["memory"]
    return BINDINGS[known[0]] if known else None
