"""Functions for tables and writers: the cycles of each path, and recursion of paths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

from cyclescope.profile.model import INLINED, CoreProfile, Path


@dataclass(frozen=True, slots=True)
class Stack:
    """Cycles of a call path (the index of its innermost frame), by one cause or by all (None)."""

    path: int
    cause: str | None
    cycles: int


def stacks(core: CoreProfile, by_cause: bool) -> Iterator[Stack]:
    """The cycles of each path with own cycles, callers before callees."""
    found: dict[int, dict[int | None, int]] = defaultdict(lambda: defaultdict(int))
    for cost in core.costs:
        if by_cause:
            for charge in cost.charges:
                found[cost.path][charge.cause] += charge.cycles
        else:
            found[cost.path][None] += cost.cycles
    for path in core.walk():
        shares = found.get(path, {})
        for cause, cycles in sorted(shares.items(), key=lambda share: (-share[1], share[0] or 0)):
            if cycles:
                yield Stack(path, None if cause is None else core.causes[cause], cycles)


def label(path: Path) -> str:
    """A frame's name, marked if the frame is inlined."""
    return f"{path.name} (inlined)" if path.kind == INLINED else path.name


def nested(core: CoreProfile, key: Callable[[int], Hashable]) -> Iterator[tuple[int, bool]]:
    """All paths, callers first, each with whether a caller has the same key.

    The total cycles of paths without such a caller count recursive calls only once.
    """
    around: Counter[Hashable] = Counter()
    chain: list[int] = []
    for index in core.walk():
        while chain and chain[-1] != core.paths[index].parent:
            around[key(chain.pop())] -= 1
        yield index, around[key(index)] > 0
        around[key(index)] += 1
        chain.append(index)
