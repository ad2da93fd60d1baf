"""Chips on SPI buses of GPIO pins, from the board's description into a vendor's devicetree.

A vendor's devicetree does not have what a user has wired to the pins. The bindings of the bus and
of its chips are Linux's in both trees; GPIO ports are found by their names, which have the address.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cyclescope.board.description.devicetree import Node
from cyclescope.errors import UsageError
from cyclescope.linux.boards import LinuxBoard, enabled
from cyclescope.linux.flattened import child, set_bytes

_BUS = "spi-gpio"
_OURS = "cyclescope,"
_PORT = "gpio-controller"
# A reference to a pin: port, number, flags.
_CELLS = 3
_OF_PINS = ("-gpios", "-gpio")
_PARENT = "interrupt-parent"


def add_wired(tree: Node, board: LinuxBoard) -> tuple[str, ...]:
    """Add the board's buses of this kind, with their chips; the names of the nodes.

    Raises `UsageError` if the tree has not the port of a pin.
    """
    ports = {node.name: node.phandle for node in tree.walk() if _PORT in node.props}
    names = {node.phandle: node.name for node in board.tree.walk() if _PORT in node.props}
    phandles = {ours: ports.get(name) for ours, name in names.items() if ours is not None}
    added = [node for node in enabled(board.tree) if _BUS in node.compatibles]
    for node in added:
        _copy(node, child(tree, node.name), phandles)
    return tuple(one.name for node in added for one in node.walk())


def _copy(source: Node, target: Node, phandles: Mapping[int, int | None]) -> None:
    for name, prop in source.props.items():
        if name.startswith(_OURS) or name in ("phandle", "linux,phandle"):
            continue
        step = _CELLS if name.endswith(_OF_PINS) else 1 if name == _PARENT else 0
        value = prop.value
        if step:
            cells = list(_translated(source, name, step, phandles))
            value = b"".join(cell.to_bytes(4, "big") for cell in cells)
        set_bytes(target, name, value)
    for inner in source.children:
        _copy(inner, child(target, inner.name), phandles)


def _translated(
    node: Node, name: str, step: int, phandles: Mapping[int, int | None]
) -> Iterator[int]:
    """The cells of a property, with the phandles of the other tree."""
    for place, cell in enumerate(node.cells(name)):
        if place % step:
            yield cell
            continue
        other = phandles.get(cell)
        if other is None:
            raise UsageError(
                f"{node.file}:{node.line}: {node.path}: {name}: the devicetree for Linux has no "
                "GPIO port of this address with a phandle: give the vendor's for this board"
            )
        yield other
