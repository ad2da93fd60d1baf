"""What tables and writers share: the cycles of each path, and which paths are within their like."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

from cyclescope.profile.model import INLINED, CoreProfile, Path


@dataclass(frozen=True, slots=True)
class Stack:
    """Cycles of a call path, the index of its innermost frame; of one cause, or of all (None)."""

    path: int
    cause: str | None
    cycles: int


def stacks(core: CoreProfile, by_cause: bool) -> Iterator[Stack]:
    """The cycles of each path that has some of its own, callers before what they called."""
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
    """A frame's name where nothing else says that it is inlined."""
    return f"{path.name} (inlined)" if path.kind == INLINED else path.name


def nested(core: CoreProfile, key: Callable[[int], Hashable]) -> Iterator[tuple[int, bool]]:
    """All paths, callers first, each with whether one of the same key is around it.

    The cycles of those that have none around them are counted once, however deep calls return to
    the same function.
    """
    around: Counter[Hashable] = Counter()
    chain: list[int] = []
    for index in core.walk():
        while chain and chain[-1] != core.paths[index].parent:
            around[key(chain.pop())] -= 1
        yield index, around[key(index)] > 0
        around[key(index)] += 1
        chain.append(index)
