"""Code in faster memory: the functions with most cycles, as an overlay of each other RAM.

An overlay answers at the functions' own addresses with the RAM's times, so the ELF runs unchanged:
the measured time is the time of the same code in that RAM. Calls between memories may take a veneer
more, and start-up copies the code once; the measurement includes neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cyclescope.advising.whatifs import Move, WhatIf
from cyclescope.board import Board
from cyclescope.board.description.devicetree import Node, Property
from cyclescope.profile.profile import Profile
from cyclescope.profile.tables import rows
from cyclescope.units import count, format_bytes

OVERLAY = "cyclescope,overlay"
"""The flag of a memory that answers instead of the memory at the same addresses."""
ORIGIN = "advise"

# Functions that together have this part of the cycles are moved together.
_MOST = 0.9
_MOST_FUNCTIONS = 24
# Overlays begin and end at boundaries of cache lines, so that no line is shared with other code.
_ALIGNED = 64
# The most names in a line.
_NAMED = 3
# Properties of a memory's old place, and of its children.
_OWN = {"reg", "ranges", "#address-cells", "#size-cells", "phandle", "cyclescope,shared"}


@dataclass(frozen=True)
class Function:
    """A function of the program and the cycles of its own code."""

    name: str
    address: int
    size: int
    cycles: int


def hot_functions(board: Board, profile: Profile, core: str) -> list[Function]:
    """The functions of a core with most of its cycles, the hottest first."""
    found = next(one for one in profile.cores if one.name == core)
    by_address = {row.address: row.self_cycles for row in rows(found, "address") if row.address}
    known = sorted(board.functions(core))
    cycles: Counter[tuple[int, int, str]] = Counter()
    for function in known:
        begin, size, _ = function
        inside = (cost for at, cost in by_address.items() if begin <= at < begin + size)
        cycles[function] += sum(inside)
    total = sum(by_address.values())
    hot: list[Function] = []
    for (address, size, name), own in cycles.most_common(_MOST_FUNCTIONS):
        if not own or sum(one.cycles for one in hot) >= total * _MOST:
            break
        hot.append(Function(name, address & ~1, size, own))
    return hot


def what_ifs(
    root: Node, description: Mapping[str, Any], hot: Sequence[Function], used: Mapping[str, int]
) -> Iterator[WhatIf]:
    """The hottest function, and all hot ones, in each other memory that has room for them.

    `used` are the bytes of the program in each memory, by the paths of the nodes.
    """
    memories = [
        entry
        for entry in description["map"]
        if entry["kind"] == "memory" and entry["name"] != "" and " alias" not in entry["name"]
    ]
    nodes = {node.path: node for node in root.walk()}
    home = {one: _entry(description, one.address) for one in hot}
    for memory in memories:
        node = nodes[memory["path"]]
        if "cyclescope,data-only" in node.props or len(node.cells("reg")) < 2:
            continue
        movable = [one for one, at in home.items() if at and at["path"] != memory["path"]]
        free = memory["size"] - used.get(memory["path"], 0)
        for functions in _choices(movable):
            move = Move(node.handle, tuple(ranges(functions)))
            if functions and move.size_bytes <= free:
                yield _what_if(functions, move)


def _choices(movable: Sequence[Function]) -> Iterator[Sequence[Function]]:
    yield movable[:1]
    if len(movable) > 1:
        yield movable


def _entry(description: Mapping[str, Any], address: int) -> Mapping[str, Any] | None:
    return next(
        (
            entry
            for entry in description["map"]
            if entry["base"] <= address < entry["base"] + entry["size"]
        ),
        None,
    )


def ranges(functions: Sequence[Function]) -> list[tuple[int, int]]:
    """The address ranges of the functions, in whole lines; adjacent ones are one range."""
    found: list[tuple[int, int]] = []
    for one in sorted(functions, key=lambda one: one.address):
        begin = one.address // _ALIGNED * _ALIGNED
        end = -(-(one.address + one.size) // _ALIGNED) * _ALIGNED
        if found and begin <= found[-1][0] + found[-1][1]:
            before = found.pop()
            begin, end = before[0], max(end, before[0] + before[1])
        found.append((begin, end - begin))
    return found


def _what_if(functions: Sequence[Function], move: Move) -> WhatIf:
    names = ", ".join(one.name for one in functions[:_NAMED])
    more = len(functions) - _NAMED
    shown = f"{names} and {count(more, 'other')}" if more > 0 else names
    sections = " ".join(f".text.{one.name}" for one in functions)
    return WhatIf(
        f"{shown} in {move.ram}",
        f"{format_bytes(sum(one.size for one in functions))} of {move.ram}, copied at start",
        f"built with -ffunction-sections, these into an output section in {move.ram}: {sections}",
        move=move,
    )


def add(tree: Node, move: Move) -> None:
    """Add an overlay of the memory at these ranges of a board."""
    parent, ram = next(
        (node, child) for node in tree.walk() for child in node.children if child.handle == move.ram
    )
    kept = {name: prop for name, prop in ram.props.items() if name not in _OWN}
    for number, (address, size) in enumerate(move.ranges):
        name = f"sram@{address:x}"
        raw = address.to_bytes(4, "big") + size.to_bytes(4, "big")
        added = {
            "reg": Property("reg", raw, "cells", ORIGIN, number + 1),
            OVERLAY: Property(OVERLAY, b"", "empty", ORIGIN, number + 1),
        }
        path = f"{parent.path.rstrip('/')}/{name}"
        parent.children.append(
            replace(
                ram.copied(),
                path=path,
                name=name,
                labels=[f"hot_code_{number}"],
                phandle=None,
                props=kept | added,
                children=[],
            )
        )
