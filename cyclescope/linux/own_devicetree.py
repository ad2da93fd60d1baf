"""The devicetree for Linux that is made from a board's own description.

Linux gets the devices that need no other: cores, interrupt controller, timer, firmware, console,
cards in slots and flash memories, with fixed clocks. Drivers of the others need clocks, resets and
pins as the vendor's devicetree has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from cyclescope.board.description.devicetree import Node, Property
from cyclescope.errors import UsageError
from cyclescope.linux.boards import LinuxBoard, enabled, is_enabled, texts
from cyclescope.linux.chosen import Chosen, set_memory
from cyclescope.linux.flattened import child, set_bytes, set_cells, set_strings

_OURS = "cyclescope,"
_TIMER = "arm,armv7-timer"
_GICS = ("arm,cortex-a7-gic", "arm,cortex-a5-gic", "arm,cortex-a9-gic", "arm,gic-400")
_FIRMWARE = ("arm,psci-1.0", "arm,psci-0.2", "arm,psci")
_ROOT_PROPS = ("#address-cells", "#size-cells", "model", "compatible", "interrupt-parent")
_CORE_PROPS = ("compatible", "device_type", "reg", "phandle")
# Only the board's own description has them: connections to all cores, and the cores' own inputs.
_INTERRUPTS = "interrupts-extended"
# A GIC's interrupt: kind, number, trigger.
_GIC_CELLS = 3
# Of a slot's supply, where no driver changes it.
_CARD_MICROVOLT = 3_300_000


@dataclass(frozen=True)
class Made:
    """A devicetree, and the labels of the board's devices that it has not."""

    tree: Node
    left_out: tuple[str, ...]


def from_board(board: LinuxBoard, chosen: Chosen) -> Made:
    """The devicetree of a board. Raises `UsageError` if Linux could not run on it."""
    root = Node("/", "/", [], board.tree.file, board.tree.line, None)
    _keep(board.tree, root, _ROOT_PROPS)
    chosen.give_to(root)
    set_memory(root, board.ram)
    _add_cores(board, root)
    gic = _first(board, _GICS, "interrupt controller (GIC)")
    _copied(gic, root, without=(_INTERRUPTS, "clocks"))
    timer = _copied(_first(board, (_TIMER,), f"timer ({_TIMER})"), root, without=("clocks",))
    # it counts whatever the core does, so no other timer has to wake the core
    set_bytes(timer, "always-on", b"")
    kept = [gic, *_psci(board)]
    for node in kept[1:]:
        _copied(node, root)
    phandles = count(1 + max(node.phandle or 0 for node in board.tree.walk()))
    bus = _add_bus(root)
    kept += _add_console(board, root, bus, gic, phandles)
    kept += _add_slots(board, root, bus, gic, phandles)
    kept += _add_flashes(board, root, bus, gic, phandles)
    return Made(root, _left_out(board, kept))


def _first(board: LinuxBoard, compatibles: tuple[str, ...], what: str) -> Node:
    for node in enabled(board.tree):
        if any(name in compatibles for name in node.compatibles):
            return node
    raise UsageError(f"{board.name} has no {what} for Linux: give --dtb FILE")


def _psci(board: LinuxBoard) -> list[Node]:
    nodes = [one for one in enabled(board.tree) if set(one.compatibles) & set(_FIRMWARE)]
    return nodes[:1]


def _keep(source: Node, target: Node, names: tuple[str, ...]) -> None:
    target.props.update({name: source.props[name] for name in names if name in source.props})
    target.phandle = source.phandle


def _copied(node: Node, parent: Node, without: tuple[str, ...] = ()) -> Node:
    """A copy of a node below a parent, without our own properties and those named."""
    made = child(parent, node.name)
    names = (name for name in node.props if not name.startswith(_OURS) and name not in without)
    _keep(node, made, tuple(names))
    return made


def _add_cores(board: LinuxBoard, root: Node) -> None:
    cpus = child(root, "cpus")
    set_cells(cpus, "#address-cells", 1)
    set_cells(cpus, "#size-cells", 0)
    for core in board.cores:
        made = child(cpus, core.name)
        _keep(core, made, _CORE_PROPS)
        if hz := board.clock_hz(core):
            set_cells(made, "clock-frequency", hz)
        if _psci(board):
            set_strings(made, "enable-method", "psci")


def _add_bus(root: Node) -> Node:
    bus = child(root, "soc")
    set_strings(bus, "compatible", "simple-bus")
    set_cells(bus, "#address-cells", 1)
    set_cells(bus, "#size-cells", 1)
    set_bytes(bus, "ranges", b"")
    return bus


def _add_console(
    board: LinuxBoard, root: Node, bus: Node, gic: Node, phandles: Iterator[int]
) -> list[Node]:
    """Add the console's device and its clock; the nodes of the board that they are."""
    if board.console is None:
        return []
    console, settings = board.console
    made = _copied(console, bus, without=(_INTERRUPTS, "clocks"))
    _connect(console, made, gic)
    _give_clock(board, console, made, root, "console-clock", phandles)
    set_strings(child(root, "aliases"), "serial0", made.path)
    rate = f":{settings}" if settings else ""
    set_strings(child(root, "chosen"), "stdout-path", f"serial0{rate}")
    return [console]


def _add_slots(
    board: LinuxBoard, root: Node, bus: Node, gic: Node, phandles: Iterator[int]
) -> list[Node]:
    """Add the controllers of cards, with clock and supply; the nodes of the board that they are."""
    for number, slot in enumerate(board.slots):
        made = _copied(slot, bus, without=(_INTERRUPTS, "clocks", "cd-gpios"))
        _connect(slot, made, gic)
        _give_clock(board, slot, made, root, f"card-clock-{number}", phandles)
        # states without pins: the driver looks them up, and firmware has set the pins
        set_strings(made, "pinctrl-names", "default", "opendrain")
        for state in ("pinctrl-0", "pinctrl-1"):
            set_bytes(made, state, b"")
        # it is there from the start, and nobody looks at the slot's switch
        set_bytes(made, "non-removable", b"")
        supply, phandle = child(root, f"card-supply-{number}"), next(phandles)
        set_strings(supply, "compatible", "regulator-fixed")
        set_strings(supply, "regulator-name", supply.name)
        set_cells(supply, "regulator-min-microvolt", _CARD_MICROVOLT)
        set_cells(supply, "regulator-max-microvolt", _CARD_MICROVOLT)
        set_bytes(supply, "regulator-always-on", b"")
        set_cells(supply, "phandle", phandle)
        set_cells(made, "vmmc-supply", phandle)
    return board.slots


def _add_flashes(
    board: LinuxBoard, root: Node, bus: Node, gic: Node, phandles: Iterator[int]
) -> list[Node]:
    """Add the controllers of flash memories; the nodes of the board that they are."""
    for number, controller in enumerate(board.flash_controllers):
        made = _copied(controller, bus, without=(_INTERRUPTS, "clocks"))
        _connect(controller, made, gic)
        _give_clock(board, controller, made, root, f"flash-clock-{number}", phandles)
        for flash in filter(is_enabled, controller.children):
            _copied(flash, made)
    return board.flash_controllers


def _connect(node: Node, made: Node, gic: Node) -> None:
    interrupt = _of_controller(node.props.get(_INTERRUPTS), gic)
    if interrupt:
        set_bytes(made, "interrupts", interrupt)


def _give_clock(
    board: LinuxBoard, node: Node, made: Node, root: Node, name: str, phandles: Iterator[int]
) -> None:
    """Give a device a clock of its own, as firmware has set it: no driver changes it."""
    if hz := board.clock_hz(node):
        clock, phandle = child(root, name), next(phandles)
        set_strings(clock, "compatible", "fixed-clock")
        set_cells(clock, "#clock-cells", 0)
        set_cells(clock, "clock-frequency", hz)
        set_cells(clock, "phandle", phandle)
        set_cells(made, "clocks", phandle)


def _of_controller(connections: Property | None, gic: Node) -> bytes:
    """The interrupt of a device at the GIC, among its connections to all controllers."""
    value = connections.value if connections else b""
    own = (gic.phandle or 0).to_bytes(4, "big")
    size = 4 * _GIC_CELLS
    for at in range(0, len(value) - size, 4):
        if value[at : at + 4] == own:
            return value[at + 4 : at + 4 + size]
    return b""


def _left_out(board: LinuxBoard, kept: list[Node]) -> tuple[str, ...]:
    """The labels of enabled devices with registers that are not kept."""
    memories = {place["path"] for place in board.places if place["kind"] == "memory"}
    chips = {chip.path for node in kept for chip in node.children}
    known = {node.path for node in kept} | memories | chips
    return tuple(
        node.handle
        for node in enabled(board.tree)
        if node.path not in known and "reg" in node.props and "compatible" in node.props
        if not texts(node, "device_type") and board.is_mapped(node.cells("reg")[0])
        if not any(name.startswith("arm,armv7m") for name in node.compatibles)
    )
