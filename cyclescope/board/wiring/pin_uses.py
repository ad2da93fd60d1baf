"""Uses of the pins of a board's ports, from its devicetree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_Tree = dict[str, Any]
_ACTIVE_LOW = 1
# The endings of properties that name pins, in nodes other than LEDs and buttons.
_PINS = ("-gpios", "-gpio", "gpios", "gpio")
_BOARD_PINS = "cyclescope,board-pins"
_SIGNAL_PINS = re.compile(r"cyclescope,(\w+)-pins")
_PULLED = "a resistor of the board pulls it"
_PULLS = {"cyclescope,board-pull-ups": "up", "cyclescope,board-pull-downs": "down"}
_PARTS = {
    "gpio-leds": ("LED", "on while low"),
    "gpio-keys": ("button", "low while pressed"),
    "gpio-keys-polled": ("button", "low while pressed"),
}
# A pin and its flags, and an interrupt and its type.
_USUAL_CELLS = 2


@dataclass(frozen=True)
class PinUse:
    """A part or a signal that is connected to a pin."""

    port: str
    number: int
    what: str

    @property
    def pin(self) -> str:
        """The pin's name in scripts and waveforms: "gpioa.5"."""
        return f"{self.port}.{self.number}"


def pin_uses(tree: _Tree, ports: Mapping[str, int]) -> tuple[PinUse, ...]:
    """All uses of the ports' pins, by port and number."""
    handles = {node["phandle"]: _label(node) for node in _walk(tree) if node["phandle"] is not None}
    cells = {
        label: (_number(node, "#gpio-cells"), _number(node, "#interrupt-cells"))
        for node in _walk(tree)
        if (label := _label(node)) in ports
    }
    uses = [
        PinUse(port, number, what)
        for node, parent, controller in _with_parents(tree, None, None)
        for port, number, what in _of_node(node, parent, handles.get(controller), handles, cells)
        if number < ports.get(port, 0)
    ]
    # parts come before the pull resistors of their pins
    return tuple(sorted(uses, key=lambda use: (use.port, use.number, use.what.startswith(_PULLED))))


def _of_node(
    node: _Tree,
    parent: _Tree | None,
    controller: str | None,
    handles: Mapping[int, str],
    cells: Mapping[str, tuple[int, int]],
) -> Iterator[tuple[str, int, str]]:
    label = _label(node)
    part = _part(node, parent)
    for prop in node["props"]:
        name = prop["name"]
        words = _words(prop)
        if part is not None and name == "gpios":
            yield from _of_part(part, _pins(words, handles, cells))
        elif name.endswith(_PINS):
            yield from _of_signal(label, name, list(_pins(words, handles, cells)))
        elif name == _BOARD_PINS:
            yield from _of_board_pins(node, words, handles)
        elif name in _PULLS:
            pairs = zip(words[::2], words[1::2], strict=False)
            use = f"{_PULLED} {_PULLS[name]}"
            yield from ((label, number, f"{use} ({ohms:,} ohms)") for number, ohms in pairs)
        elif name == "interrupts" and controller is not None and controller in cells:
            step = max(cells[controller][1], 1)
            yield from ((controller, number, f"{label}: interrupt") for number in words[::step])


def _of_part(
    part: tuple[str, str], pins: Iterable[tuple[str, int, int]]
) -> Iterator[tuple[str, int, str]]:
    what, low = part
    for port, number, flags in pins:
        yield port, number, f"{what}, {low}" if flags & _ACTIVE_LOW else what


def _of_signal(
    label: str, name: str, pins: Sequence[tuple[str, int, int]]
) -> Iterator[tuple[str, int, str]]:
    signal = name.removesuffix("s").removesuffix("gpio").removesuffix("-")
    for index, (port, number, _) in enumerate(pins):
        words = [signal] if signal else []
        which = " ".join([*words, str(index)] if len(pins) > 1 else words)
        yield port, number, f"{label}: {which}" if which else label


def _of_board_pins(
    node: _Tree, words: list[int], handles: Mapping[int, str]
) -> Iterator[tuple[str, int, str]]:
    """Pins whose peripheral signals are connected to a part of the board."""
    signals = {(port, number): signal for signal, port, number, _ in _carried(node, handles)}
    for handle, number in zip(words[::2], words[1::2], strict=False):
        port = handles.get(handle, "")
        signal = signals.get((port, number))
        yield port, number, f"{_label(node)}: {signal}" if signal else _label(node)


def _carried(node: _Tree, handles: Mapping[int, str]) -> Iterator[tuple[str, str, int, int]]:
    """Signals of a peripheral, each with a pin that can carry it, and the alternate function."""
    for prop in node["props"]:
        match = _SIGNAL_PINS.fullmatch(prop["name"])
        if match and prop["name"] != _BOARD_PINS:
            words = _words(prop)
            for handle, number, function in zip(*(words[at::3] for at in range(3)), strict=False):
                yield match[1], handles.get(handle, ""), number, function


def pin_functions(tree: _Tree) -> dict[str, tuple[str, ...]]:
    """The peripheral signals that each pin can carry, with their alternate functions."""
    handles = {node["phandle"]: _label(node) for node in _walk(tree) if node["phandle"] is not None}
    found: dict[str, list[str]] = {}
    for node in _walk(tree):
        for signal, port, number, function in _carried(node, handles):
            found.setdefault(f"{port}.{number}", []).append(f"{_label(node)} {signal} ({function})")
    return {pin: tuple(signals) for pin, signals in found.items()}


def _part(node: _Tree, parent: _Tree | None) -> tuple[str, str] | None:
    """The name of an LED or a button, and the meaning of its flag."""
    for compatible in _strings(parent, "compatible") if parent else []:
        if compatible in _PARTS:
            kind, low = _PARTS[compatible]
            name = (_strings(node, "label") or [_label(node)])[0]
            return f"{kind} {name}", low
    return None


def _pins(
    words: list[int], handles: Mapping[int, str], cells: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[str, int, int]]:
    """Ports, numbers and flags of the pins that a property lists."""
    at = 0
    while at + 1 < len(words):
        port = handles.get(words[at], "")
        count = cells[port][0] if port in cells else _USUAL_CELLS
        entry = words[at + 1 : at + 1 + count]
        if port in cells and entry:
            yield port, entry[0], entry[1] if len(entry) > 1 else 0
        at += 1 + count


def _walk(node: _Tree) -> Iterator[_Tree]:
    for one, _, _ in _with_parents(node, None, None):
        yield one


def _with_parents(
    node: _Tree, parent: _Tree | None, controller: int | None
) -> Iterator[tuple[_Tree, _Tree | None, int | None]]:
    """The nodes in use, each with its parent and the handle of its interrupt controller."""
    if _strings(node, "status")[:1] in (["disabled"], ["reserved"], ["fail"]):
        return
    own = next((prop for prop in node["props"] if prop["name"] == "interrupt-parent"), None)
    controller = (_words(own) or [0])[0] if own else controller
    yield node, parent, controller
    for child in node["children"]:
        yield from _with_parents(child, node, controller)


def _label(node: _Tree) -> str:
    return str((node["labels"] or [node["name"]])[0])


def _words(prop: _Tree) -> list[int]:
    value: bytes = prop["value"]
    whole = range(0, len(value) // 4 * 4, 4)
    return [int.from_bytes(value[at : at + 4], "big") for at in whole]


def _number(node: _Tree, name: str) -> int:
    words = next((_words(prop) for prop in node["props"] if prop["name"] == name), [])
    return words[0] if words and words[0] <= 16 else _USUAL_CELLS


def _strings(node: _Tree, name: str) -> list[str]:
    prop = next((prop for prop in node["props"] if prop["name"] == name), None)
    if prop is None or prop["kind"] != "strings":
        return []
    return bytes(prop["value"]).decode(errors="replace").rstrip("\0").split("\0")
