"""Stubs for peripherals without a model, from the chip's CMSIS-SVD file.

Each peripheral becomes a `cyclescope,stub`. A modelled peripheral is left out; for a partly
modelled one, the remaining addresses become a stub. A stub is on the bus of the nearest device by
address.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cyclescope import _engine
from cyclescope._engine import EngineError
from cyclescope.board.description.devicetree import Node, Property, shown_path
from cyclescope.errors import UsageError
from cyclescope.host import inputs

STUB = "cyclescope,stub"
REGISTERS = "cyclescope,registers"
_MOST_BYTES = 64 * 2**20
# Ranges of addresses with gaps between: the largest chips have some hundred.
_MOST_RANGES = 4096
_ADDRESSES = 2**32
# A Cortex-M's own registers, which its core has, begin here.
_PRIVATE = range(0xE000_0000, 0xE010_0000)

Range = tuple[int, int]


@dataclass(frozen=True)
class Peripheral:
    """A peripheral of a chip: its address ranges (begin, and end after the last byte), registers.

    A register is a string in the format of `cyclescope,registers`, with its offset from the base.
    """

    name: str
    base: int
    ranges: tuple[Range, ...]
    registers: tuple[str, ...]


@dataclass(frozen=True)
class Core:
    """A chip's core: its CMSIS-SVD name, and the properties of its interrupt controller."""

    name: str
    priority_bits: int
    interrupts: int


@dataclass(frozen=True)
class Chip:
    """A chip from its CMSIS-SVD file; peripherals by address, without a Cortex-M's own."""

    name: str
    core: Core | None
    peripherals: tuple[Peripheral, ...]


def read_bytes(path: Path) -> bytes:
    """The bytes of a CMSIS-SVD file. Raises as `inputs.read` does."""
    return inputs.read(path, _MOST_BYTES)


def read_svd(path: Path) -> Chip:
    """Read a CMSIS-SVD file.

    Raises `UsageError` if it is not a CMSIS-SVD file, `OSError` if it can't be read.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # only descriptions may be in an old encoding: names are ASCII
        text = data.decode("latin-1")
    try:
        name, core, found = _engine.read_svd(text)
    except EngineError as error:
        shown = inputs.printable(path)
        raise UsageError(f"{shown}: not a CMSIS-SVD file: {error}") from None
    peripherals = [_peripheral(*one) for one in found]
    if sum(len(one.ranges) for one in peripherals) > _MOST_RANGES:
        shown = inputs.printable(path)
        raise UsageError(f"{shown}: it has more than {_MOST_RANGES:,} address ranges")
    outside = [one for one in peripherals if one.ranges and one.base not in _PRIVATE]
    by_address = sorted(outside, key=lambda one: one.base)
    return Chip(name, Core(*core) if core else None, tuple(by_address))


def _peripheral(name: str, base: int, blocks: list[Range], registers: list[str]) -> Peripheral:
    # some files have no address blocks
    spans = blocks or [(offset & ~3, 4) for offset in map(offset_of, registers)]
    ranges = [(base + offset, base + offset + size) for offset, size in spans if size > 0]
    inside = [one for one in ranges if one[1] <= _ADDRESSES]
    return Peripheral(name, base, tuple(_merged(inside)), tuple(registers))


def offset_of(register: str) -> int:
    """The offset of a register from its peripheral's base, in bytes."""
    return int(register.split()[1], 16)


def _merged(ranges: list[Range]) -> Iterator[Range]:
    """The same addresses as sorted ranges, with overlapping and adjacent ranges merged."""
    merged_begin = merged_end = None
    for begin, end in sorted(ranges):
        if merged_begin is None or merged_end is None or begin > merged_end:
            if merged_begin is not None and merged_end is not None:
                yield merged_begin, merged_end
            merged_begin, merged_end = begin, end
        else:
            merged_end = max(merged_end, end)
    if merged_begin is not None and merged_end is not None:
        yield merged_begin, merged_end


def add_stubs(root: Node, path: Path) -> None:
    """Add a stub for each peripheral of the file that the board has no model of.

    Raises as `read_svd` does.
    """
    mapped = list(_mapped(root))
    taken = [one for _, ranges, _ in mapped for one in ranges]
    labels = {label for node in root.walk() for label in node.labels}
    for peripheral in read_svd(path).peripherals:
        free = list(_free(peripheral.ranges, taken))
        if not free:
            continue
        taken += free
        label = peripheral.name if peripheral.name not in labels else f"{peripheral.name}_svd"
        labels.add(label)
        parent = _nearest(mapped, free[0][0]) or root
        parent.children.append(_stub(parent, label, peripheral, free, shown_path(path)))


def _free(ranges: tuple[Range, ...], taken: list[Range]) -> Iterator[Range]:
    """The parts of the ranges that are not taken."""
    in_order = sorted(taken)
    for begin, end in ranges:
        at = begin
        for other_begin, other_end in in_order:
            if other_end <= at or other_begin >= end:
                continue
            if other_begin > at:
                yield at, other_begin
            at = other_end
        if at < end:
            yield at, end


def _mapped(node: Node) -> Iterator[tuple[Node, list[Range], Node]]:
    """Nodes with addresses: the node, its ranges, and its parent."""
    for child in node.children:
        status = child.props.get("status")
        if child.name == "cpus" or (status and not status.value.startswith(b"ok")):
            continue
        compatible = child.props.get("compatible")
        names = compatible.value.split(b"\0") if compatible else []
        is_memory = "device_type" in child.props
        if b"simple-bus" in names or not (names or is_memory):
            yield from _mapped(child)
        elif "reg" in child.props:
            yield child, list(_ranges(child.props["reg"])), node


def _ranges(reg: Property) -> Iterator[Range]:
    cells = [int.from_bytes(reg.value[at : at + 4], "big") for at in range(0, len(reg.value), 4)]
    for base, size in zip(cells[::2], cells[1::2], strict=False):
        yield base, base + size


def _nearest(mapped: list[tuple[Node, list[Range], Node]], addr: int) -> Node | None:
    """The parent of the node that is nearest to an address."""

    def distance(one: tuple[Node, list[Range], Node]) -> int:
        return min((abs(begin - addr) for begin, _ in one[1]), default=_ADDRESSES)

    return min(mapped, key=distance)[2] if mapped else None


def _stub(parent: Node, label: str, peripheral: Peripheral, free: list[Range], file: str) -> Node:
    begin = free[0][0]
    name = f"{peripheral.name}@{begin:x}"
    reg = b"".join(
        number.to_bytes(4, "big") for one in free for number in (one[0], one[1] - one[0])
    )
    props = [Property("compatible", STUB.encode() + b"\0", "strings", file, 1)]
    props.append(Property("reg", reg, "cells", file, 1))
    registers = list(named_in(peripheral, free[0]))
    if registers:
        value = b"".join(register.encode() + b"\0" for register in registers)
        props.append(Property(REGISTERS, value, "strings", file, 1))
    path = f"{parent.path.rstrip('/')}/{name}"
    return Node(path, name, [label], file, 1, None, {prop.name: prop for prop in props})


def named_in(peripheral: Peripheral, place: Range) -> Iterator[str]:
    """The registers in an address range, with their offsets from its start."""
    begin, end = place
    for register in peripheral.registers:
        name, offset, *rest = register.split()
        addr = peripheral.base + int(offset, 16)
        if begin <= addr < end:
            yield " ".join([name, f"{addr - begin:#x}", *rest])
