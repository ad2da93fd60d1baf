"""Call paths that are distinguished by call sites, and their merging."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

_Path = tuple[int, str, int, str, int, int, int, int, int]


def joined(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The engine's data for a core, with the paths of different call sites merged."""
    paths, numbers = _paths(raw["paths"])
    costs = Counter[tuple[int, int]]()
    for path, address, executions in raw["costs"]:
        costs[numbers[path], address] += executions
    places = {key: place for place, key in enumerate(costs)}
    charges = Counter[tuple[int, int, int]]()
    for cost, cause, rate, cycles in raw["charges"]:
        path, address, _ = raw["costs"][cost]
        charges[places[numbers[path], address], cause, rate] += cycles
    waits = Counter[tuple[int, str]]()
    for path, what, ps in raw["waits"]:
        waits[numbers[path], what] += ps
    return {
        **raw,
        "paths": paths,
        "sites": [-1] * len(paths),
        "costs": [(*key, executions) for key, executions in costs.items()],
        "charges": [(*key, cycles) for key, cycles in charges.items()],
        "calls": [[(numbers[path], *call) for path, *call in calls] for calls in raw["calls"]],
        "interrupts": [(numbers[path], *more) for path, *more in raw["interrupts"]],
        "waits": [(*key, ps) for key, ps in waits.items()],
    }


def _paths(raw: Sequence[_Path]) -> tuple[list[_Path], list[int]]:
    """The merged paths, and the merged number of each original path."""
    paths: list[_Path] = []
    numbers: list[int] = []
    known: dict[tuple[int, str, int, str], int] = {}
    for index, (parent, kind, address, name, *times) in enumerate(raw):
        above = parent if parent < 0 else numbers[parent]
        key = above, kind, address, name
        # two stacks are two tasks, even if both began in the same function
        number = None if parent < 0 else known.get(key)
        if number is None:
            number = known[key] = len(paths)
            paths.append((*key, *raw[index][4:]))
        else:
            calls, cycles, longest, shortest, longest_at = _both(paths[number][4:], times)
            paths[number] = (*key, calls, cycles, longest, shortest, longest_at)
        numbers.append(number)
    return paths, numbers


def _both(one: Sequence[int], other: Sequence[int]) -> Sequence[int]:
    """The merged calls of two paths: number, cycles, longest, shortest, begin of the longest."""
    if not one[0] or not other[0]:
        return one if one[0] else other
    later = (other[2], -other[4]) > (one[2], -one[4])
    _, _, longest, _, longest_at = other if later else one
    shortest = min(one[3], other[3])
    return (one[0] + other[0], one[1] + other[1], longest, shortest, longest_at)
