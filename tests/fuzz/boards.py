"""Shipped boards as inputs use them: parsed once, with their memories and registers."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from cyclescope import resources
from cyclescope._engine import Machine
from cyclescope.board import shipped_boards
from cyclescope.board.description import devicetree
from cyclescope.board.description.devicetree import Node

NAMES = tuple(shipped_boards())
# Most of a device's registers are at its start.
_FIRST_BYTES, _FAR = 0x100, 0x104


def source_file(board: str) -> Path:
    """The .dts of a shipped board."""
    return resources.boards().resolve() / f"{board}.dts"


@functools.cache
def _parsed(board: str) -> Node:
    return devicetree.parse(source_file(board))


def tree(board: str) -> Node:
    """A board's tree, to be changed: nodes are copied, but their values are shared."""
    return _copied(_parsed(board))


def _copied(node: Node) -> Node:
    children = [_copied(child) for child in node.children]
    return replace(node, props=dict(node.props), children=children)


@functools.cache
def _tree_dict(board: str) -> dict[str, Any]:
    return _parsed(board).to_dict()


def machine(board: str) -> Machine:
    """A new machine of a shipped board."""
    return Machine(_tree_dict(board))


@functools.cache
def facts(board: str) -> Facts:
    """Facts about a board that programs need."""
    description = machine(board).describe()
    memories, registers, near = [], [], []
    for entry in description["map"]:
        base, size = entry["base"], entry["size"]
        if entry["kind"] == "memory":
            memories.append((base, size))
            continue
        first = [base + offset for offset in range(0, min(size, _FIRST_BYTES), 4)]
        near += first[:24]
        registers += first + [base + offset for offset in range(0, min(size, 0x4000), _FAR)]
        registers += [base + size - 4]
    cores = description["cores"]
    cycle_ps = 10**12 // cores[0]["hz"]
    return Facts(board, len(cores), cycle_ps, tuple(memories), tuple(near), tuple(registers))


@dataclass(frozen=True)
class Facts:
    """A board's first core and address space: memories as base and size, addresses of registers."""

    board: str
    cores: int
    cycle_ps: int
    memories: tuple[tuple[int, int], ...]
    near: tuple[int, ...]
    registers: tuple[int, ...]

    def register(self, random: Random) -> int:
        """Of a device, mostly one of its first."""
        return random.choice(self.near if random.random() < 0.8 else self.registers)

    def memory(self, random: Random) -> int:
        """A word of a memory: at its start, its end, or anywhere."""
        base, size = random.choice(self.memories)
        offset = random.choice((0, 4, 0x40, 0x1000, size // 2, size - 4, random.randrange(size)))
        return base + (offset % size & ~3)

    def address(self, random: Random) -> int:
        """Somewhere."""
        chance = random.random()
        if chance < 0.45:
            return self.register(random)
        if chance < 0.85:
            return self.memory(random)
        if chance < 0.92:
            return edge(random)
        return random.getrandbits(32)


_EDGES = (0, 1, 2, 4, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0, 0xFFFF_FFFC, 0xFFFF_FFFF)


def edge(random: Random) -> int:
    """A number at which something ends."""
    return random.choice(_EDGES)


def value(random: Random, facts: Facts | None = None) -> int:
    """A word as programs write them to registers."""
    chance = random.random()
    if chance < 0.3:
        return 1 << random.randrange(32)
    if chance < 0.5:
        return random.randrange(256)
    if chance < 0.65:
        return edge(random)
    if chance < 0.8 and facts:
        return facts.address(random)
    return random.getrandbits(32)
