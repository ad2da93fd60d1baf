"""A vendor's devicetree, with those nodes disabled that have no model on the board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cyclescope.board.description.devicetree import Node
from cyclescope.errors import UsageError
from cyclescope.linux.boards import LinuxBoard, enabled, is_enabled, texts
from cyclescope.linux.chosen import Chosen, set_memory
from cyclescope.linux.flattened import set_cells, set_strings
from cyclescope.linux.wired import add_wired

# Firmware in the secure world that no model stands for.
_NO_FIRMWARE = frozenset({"linaro,optee-tz", "linaro,scmi-optee", "arm,scmi-smc", "arm,scmi"})
_INTERRUPT_BYTES = 12
_PLAIN_BUS = "simple-bus"
# Properties that refer to a supplier, each with those that describe the reference.
_WAITED_FOR = {
    "dmas": ("dma-names",),
    "access-controllers": ("access-controller-names",),
}

# Ranges of a bus: address of a child, address of its parent, size.
_Ranges = Sequence[tuple[int, int, int]]


@dataclass(frozen=True)
class Pruned:
    """A devicetree, and the names of the nodes that were disabled, and of those added."""

    tree: Node
    disabled: tuple[str, ...]
    added: tuple[str, ...] = ()


def pruned(tree: Node, board: LinuxBoard, chosen: Chosen) -> Pruned:
    """The tree for a board; changes it. Raises `UsageError` if it is for another board."""
    if not set(tree.compatibles) & set(board.tree.compatibles):
        ours, its = (", ".join(root.compatibles) for root in (board.tree, tree))
        raise UsageError(
            f"{tree.file}: this devicetree is for {its or 'no board'}, and {board.name} is {ours}: "
            "give that board's, or --dtb board"
        )
    chosen.give_to(tree)
    set_memory(tree, board.ram)
    _drop_cores(tree, board)
    disabled = [*_without_model(tree, [], board)]
    disabled += [node for node in enabled(tree) if set(node.compatibles) & _NO_FIRMWARE]
    names = tuple(f"{node.name} itself" if _is_bus(node) else node.name for node in disabled)
    for node in disabled:
        _disable(node)
    _drop_suppliers(tree, {node.phandle for node in disabled})
    return Pruned(tree, names, add_wired(tree, board))


def _is_bus(node: Node) -> bool:
    """Whether a node is a bus whose devices can be reached without its own registers."""
    return _PLAIN_BUS in node.compatibles and "ranges" in node.props


def _disable(node: Node) -> None:
    """Disable a node; a bus stays one, without its registers, for the devices on it."""
    if _is_bus(node):
        set_strings(node, "compatible", _PLAIN_BUS)
        node.props.pop("reg", None)
    else:
        set_strings(node, "status", "disabled")


def _without_model(node: Node, above: list[_Ranges], board: LinuxBoard) -> Iterator[Node]:
    """The enabled nodes below one whose addresses the board has not.

    `above` are the ranges of the buses from the root on.
    """
    address_cells = node.number("#address-cells") or 1
    size_cells = node.number("#size-cells")
    width = address_cells + (1 if size_cells is None else size_cells)
    for child in node.children:
        if not is_enabled(child):
            continue
        reg = child.cells("reg") if size_cells != 0 and child.compatibles else []
        is_missing = len(reg) >= width and not _is_there(reg, address_cells, above, board)
        if is_missing:
            yield child
        inner = _ranges(child, address_cells)
        if inner is not None and (_is_bus(child) or not is_missing):
            yield from _without_model(child, [*above, inner], board)


def _is_there(reg: list[int], cells: int, above: list[_Ranges], board: LinuxBoard) -> bool:
    address = _number(reg[:cells])
    for ranges in reversed(above):
        for first, parent, size in ranges:
            if first <= address < first + size:
                address += parent - first
                break
    return board.is_mapped(address)


def _ranges(node: Node, parent_cells: int) -> _Ranges | None:
    """The ranges of a bus, an empty list for equal addresses; None if it is not a bus."""
    if "ranges" not in node.props:
        return None
    cells = node.cells("ranges")
    own, size = node.number("#address-cells") or 1, node.number("#size-cells") or 1
    width = own + parent_cells + size
    found = []
    for at in range(0, len(cells) - width + 1, width):
        first, parent = cells[at : at + own], cells[at + own : at + own + parent_cells]
        found.append(
            (_number(first), _number(parent), _number(cells[at + own + parent_cells :][:size]))
        )
    return found


def _number(cells: list[int]) -> int:
    value = 0
    for cell in cells:
        value = value << 32 | cell
    return value


def _drop_cores(tree: Node, board: LinuxBoard) -> None:
    """Drop the cores that the board does not run, and their interrupts of the PMU."""
    numbers = {core.number("reg") for core in board.cores}
    dropped: set[int | None] = set()
    for node in tree.walk():
        if node.path == "/cpus":
            others = [
                one
                for one in node.children
                if texts(one, "device_type") == ["cpu"] and one.number("reg") not in numbers
            ]
            dropped = {one.phandle for one in others}
            node.children = [one for one in node.children if one not in others]
    for node in tree.walk():
        affinity = node.cells("interrupt-affinity")
        kept = [number for number, core in enumerate(affinity) if core not in dropped]
        if affinity and len(kept) < len(affinity):
            value = node.props["interrupts"].value if "interrupts" in node.props else b""
            set_cells(node, "interrupt-affinity", *(affinity[number] for number in kept))
            words = [
                int.from_bytes(value[at : at + 4], "big")
                for number in kept
                for at in range(number * _INTERRUPT_BYTES, (number + 1) * _INTERRUPT_BYTES, 4)
            ]
            set_cells(node, "interrupts", *words)


def _drop_suppliers(tree: Node, disabled: set[int | None]) -> None:
    """Drop references to what is disabled, for which drivers or the core would wait for ever."""
    for node in tree.walk():
        for name, others in _WAITED_FOR.items():
            if disabled & set(node.cells(name)):
                del node.props[name]
                for other in others:
                    node.props.pop(other, None)
