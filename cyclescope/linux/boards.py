"""What Linux finds on a board: its RAM, its cores, its console, and the devices with a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cyclescope.board.description.devicetree import Node
from cyclescope.errors import UsageError
from cyclescope.linux.stub import Write

_CORE, _REMOTE_CORE = "arm,cortex-a", "arm,cortex-m"
_HELD = "cyclescope,held-in-reset"
_STM32_UART = "st,stm32h7-uart"
_STM32MP1_RCC = "st,stm32mp1-rcc"
_STM32_SDMMC = "st,stm32-sdmmc2"
_STM32_QUADSPI = "st,stm32f469-qspi"
SD_CARD = "cyclescope,sd-card"
"""The compatible of a card in a slot."""
# Registers of an STM32's USART, and its bits: enabled, receiver, transmitter.
_CR1, _BRR = 0x00, 0x0C
_UE_RE_TE = 0xD
_BAUD = 115200


@dataclass(frozen=True)
class Ram:
    """The largest memory of a board."""

    base: int
    size: int

    @property
    def end(self) -> int:
        """The address after its last byte."""
        return self.base + self.size


@dataclass(frozen=True)
class LinuxBoard:
    """A board as Linux sees it: the tree of its description, and the ranges that are mapped."""

    name: str
    tree: Node
    places: Sequence[Mapping[str, Any]]

    @property
    def ram(self) -> Ram:
        """The board's largest memory. Raises `UsageError` if it has none."""
        found = [
            Ram(*cells)
            for node in self.tree.walk()
            if texts(node, "device_type") == ["memory"] and is_enabled(node)
            if len(cells := node.cells("reg")) == 2
        ]
        if not found:
            raise UsageError(f'{self.name} has no memory (device_type = "memory") for Linux')
        return max(found, key=lambda ram: ram.size)

    @property
    def cores(self) -> list[Node]:
        """The enabled cores that can run Linux. Raises `UsageError` if there is no such core."""
        found = [
            node
            for node in self.tree.walk()
            if texts(node, "device_type") == ["cpu"] and is_enabled(node)
            if any(name.startswith(_CORE) for name in node.compatibles)
        ]
        if not found:
            raise UsageError(f"{self.name} has no core that runs Linux: it needs a Cortex-A")
        return found

    @property
    def remote_core(self) -> str | None:
        """The label of the core for which Linux loads firmware; None if there is not just one."""
        found = [
            node.handle
            for node in enabled(self.tree)
            if texts(node, "device_type") == ["cpu"] and _HELD in node.props
            if any(name.startswith(_REMOTE_CORE) for name in node.compatibles)
        ]
        return found[0] if len(found) == 1 else None

    @property
    def console(self) -> tuple[Node, str] | None:
        """The node of the console and its settings (`115200n8`), by /chosen/stdout-path."""
        chosen = next((one for one in self.tree.children if one.name == "chosen"), None)
        value = texts(chosen, "stdout-path") if chosen else []
        name, _, settings = (value[0] if value else "").partition(":")
        aliases = next((one for one in self.tree.children if one.name == "aliases"), None)
        paths = texts(aliases, name) if aliases and not name.startswith("/") else [name]
        node = next((one for one in self.tree.walk() if [one.path] == paths), None)
        return None if node is None else (node, settings)

    @property
    def slots(self) -> list[Node]:
        """The card controllers that have a card."""
        return [
            node
            for node in enabled(self.tree)
            if _STM32_SDMMC in node.compatibles
            if any(SD_CARD in one.compatibles and is_enabled(one) for one in node.children)
        ]

    @property
    def flash_controllers(self) -> list[Node]:
        """The controllers of flash memories."""
        return [node for node in enabled(self.tree) if _STM32_QUADSPI in node.compatibles]

    def is_mapped(self, address: int) -> bool:
        """Whether the board has something at an address."""
        return any(one["base"] <= address < one["base"] + one["size"] for one in self.places)

    def by_phandle(self, phandle: int) -> Node | None:
        """The node that a phandle refers to."""
        return next((node for node in self.tree.walk() if node.phandle == phandle), None)

    def clock_hz(self, node: Node) -> int | None:
        """The frequency of a node's first clock."""
        clocks = node.cells("clocks")
        clock = self.by_phandle(clocks[0]) if clocks else None
        return clock.number("clock-frequency") if clock else None

    def loader_writes(self) -> list[Write]:
        """The writes to registers that a boot loader makes and Linux relies on.

        TF-A opens the clock of the console and sets its rate (plat/st, stm32_console); earlycon
        of Linux does not set it up. The clock of a card or a flash that it boots from stays open.
        """
        storage = (*self.slots, *self.flash_controllers)
        writes = [write for node in storage for write in self._clock_opened(node)]
        found = self.console
        if found is None or _STM32_UART not in found[0].compatibles:
            return writes
        node, settings = found
        writes += self._clock_opened(node)
        at, rate = node.cells("reg")[0], _rate(settings)
        if hz := self.clock_hz(node):
            writes.append((at + _BRR, (hz + rate // 2) // rate))
        return [*writes, (at + _CR1, _UE_RE_TE)]

    def _clock_opened(self, node: Node) -> list[Write]:
        """The write that opens a device's clock in the RCC; none without such a gate."""
        rcc = next((one for one in self.tree.walk() if _STM32MP1_RCC in one.compatibles), None)
        gate = node.cells("cyclescope,clock-enable")
        if rcc is None or len(gate) != 2:
            return []
        return [(rcc.cells("reg")[0] + gate[0], 1 << gate[1])]


def core_settings(name: str, tree: Node, cores: int) -> dict[str, str]:
    """The settings with which a board runs this many cores that can run Linux.

    Raises `UsageError` if it has fewer.
    """
    found = [
        node
        for node in tree.walk()
        if texts(node, "device_type") == ["cpu"]
        if any(compatible.startswith(_CORE) for compatible in node.compatibles)
    ]
    if cores > max(1, len(found)):
        raise UsageError(f"--cores {cores}: {name} has {len(found)} for Linux")
    off = [core for core in found[:cores] if not is_enabled(core)]
    return {f"{core.handle}.status": "okay" for core in off}


def _rate(settings: str) -> int:
    digits = settings[: len(settings) - len(settings.lstrip("0123456789"))]
    return int(digits or 0) or _BAUD


def texts(node: Node, name: str) -> list[str]:
    """The strings of a property; none if the node has no such property."""
    prop = node.props.get(name)
    return prop.value.rstrip(b"\0").decode(errors="replace").split("\0") if prop else []


def is_enabled(node: Node) -> bool:
    """Whether a node's status allows its use."""
    return texts(node, "status") in ([], ["okay"], ["ok"])


def enabled(node: Node) -> Iterator[Node]:
    """The enabled nodes of a tree: none below a disabled one."""
    if is_enabled(node):
        yield node
        for child in node.children:
            yield from enabled(child)
