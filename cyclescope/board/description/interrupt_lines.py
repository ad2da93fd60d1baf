"""The interrupts of a board's devices and their controllers, from the devicetree."""

from __future__ import annotations

from collections.abc import Iterator

from cyclescope.board.description.devicetree import Node

Line = tuple[str, str, str]
"""A device, its interrupt controller, and the cells that name the interrupt there."""
_CELLS = "#interrupt-cells"


def lines(root: Node) -> list[Line]:
    """The interrupts of all devices, by controller and number."""
    handles = {node.phandle: node for node in root.walk() if node.phandle is not None}
    found = [
        (_name(node), _name(controller), cells)
        for node, parent in _with_parents(root, None, handles)
        for controller, cells in _of_node(node, parent, handles)
    ]
    found.sort(key=lambda one: (one[1], one[2], one[0]))
    return [(name, controller, " ".join(map(str, cells))) for name, controller, cells in found]


def _with_parents(
    node: Node, parent: Node | None, handles: dict[int, Node]
) -> Iterator[tuple[Node, Node | None]]:
    """Each node with its interrupt controller, its own or the one of the nearest parent."""
    named = node.number("interrupt-parent")
    parent = parent if named is None else handles.get(named)
    yield node, parent
    for child in node.children:
        yield from _with_parents(child, parent, handles)


def _of_node(
    node: Node, parent: Node | None, handles: dict[int, Node]
) -> Iterator[tuple[Node, list[int]]]:
    extended = node.cells("interrupts-extended") if "interrupts-extended" in node.props else []
    while extended:
        controller = handles.get(extended[0])
        cells = controller.number(_CELLS) if controller else None
        if controller is None or cells is None:
            return
        yield controller, extended[1 : 1 + cells]
        extended = extended[1 + cells :]
    plain = node.cells("interrupts") if "interrupts" in node.props else []
    cells = parent.number(_CELLS) if parent else None
    if parent is None or not cells or "interrupts-extended" in node.props:
        return
    for first in range(0, len(plain), cells):
        yield parent, plain[first : first + cells]


def _name(node: Node) -> str:
    return node.labels[0] if node.labels else node.path
