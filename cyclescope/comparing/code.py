"""Which instructions of a function differ between two runs, and by how much.

Only executed instructions are compared: others took no time. Instructions of two builds are paired
by what they do, in the order of their addresses, so that code that has only moved counts as the
same code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial

from cyclescope.comparing.differences import Change, FunctionChange
from cyclescope.comparing.runs import Run, base
from cyclescope.profile import tables
from cyclescope.profile.model import CoreProfile, Cost

# The most instructions of two functions between their equal begins and ends: pairing them takes the
# square of this number.
_MOST_INSTRUCTIONS = 1000
# The most instructions that are named.
_FEW = 3
_ADDRESS = re.compile(r"0x[0-9a-f]{4,}|\b\d{5,}\b")


@dataclass(frozen=True)
class Ran:
    """An instruction that was executed in a function; `place` is its line, as "main.c:12"."""

    address: int
    text: str
    likeness: Hashable
    place: str | None
    executions: int
    cycles: int
    causes: dict[str, int]


@dataclass(frozen=True)
class InstructionChange:
    """An instruction in both runs, or in one of them."""

    before: Ran | None
    after: Ran | None

    @property
    def cycles(self) -> Change:
        """Its cycles."""
        return Change(*((one.cycles if one else 0) for one in (self.before, self.after)))

    @property
    def executions(self) -> Change:
        """Its executions."""
        return Change(*((one.executions if one else 0) for one in (self.before, self.after)))

    @property
    def is_other_code(self) -> bool:
        """Whether it is another instruction, or exists in one run only."""
        if self.before is None or self.after is None:
            return True
        return self.before.likeness != self.after.likeness


def instruction_changes(
    before: Run, after: Run, core: str, function: FunctionChange
) -> list[InstructionChange]:
    """The instructions of a function that differ in cycles or code, the largest difference first.

    Empty if a run has no profile or the function is in one run only, or if too much of the function
    differs.
    """
    if function.before is None or function.after is None:
        return []
    old = _ran(before, core, function.before.key)
    new = _ran(after, core, function.after.key)
    begin = _equal_begin(old, new)
    end = _equal_begin(old[begin:][::-1], new[begin:][::-1])
    if max(len(old), len(new)) - begin - end > _MOST_INSTRUCTIONS:
        return []
    middle = _paired(old[begin : len(old) - end], new[begin : len(new) - end])
    ends = [*zip(old[:begin], new[:begin], strict=True)]
    ends += zip(old[len(old) - end :], new[len(new) - end :], strict=True) if end else ()
    pairs = [InstructionChange(*both) for both in (*ends, *middle)]
    found = [one for one in pairs if one.cycles.difference or one.executions.difference]
    return sorted(found, key=lambda one: (-abs(one.cycles.difference), _address(one)))


def _address(change: InstructionChange) -> int:
    one = change.after or change.before
    return one.address if one else 0


def _equal_begin(old: Sequence[Ran], new: Sequence[Ran]) -> int:
    """The number of equal instructions at the start."""
    for index, (one, other) in enumerate(zip(old, new, strict=False)):
        if one.likeness != other.likeness:
            return index
    return min(len(old), len(new))


def _paired(old: Sequence[Ran], new: Sequence[Ran]) -> list[tuple[Ran | None, Ran | None]]:
    likes = [one.likeness for one in old], [one.likeness for one in new]
    pairs: list[tuple[Ran | None, Ran | None]] = []
    for _, i, i_end, j, j_end in SequenceMatcher(None, *likes, autojunk=False).get_opcodes():
        both = min(i_end - i, j_end - j)
        pairs += zip(old[i : i + both], new[j : j + both], strict=True)
        pairs += [(one, None) for one in old[i + both : i_end]]
        pairs += [(None, one) for one in new[j + both : j_end]]
    return pairs


def _ran(run: Run, core: str, key: tuple[str, str]) -> list[Ran]:
    """The instructions that were executed in a function, by address."""
    profiles = [one for one in run.profile.cores if one.name == core] if run.profile else []
    if not profiles:
        return []
    (profile,) = profiles
    costs: dict[int, list[Cost]] = {}
    is_of = partial(_is_of, profile, key)
    for cost in profile.costs:
        if cost.address is not None and is_of(cost):
            costs.setdefault(cost.address, []).append(cost)
    return [_sum(run, profile, address, costs[address]) for address in sorted(costs)]


def _is_of(profile: CoreProfile, key: tuple[str, str], cost: Cost) -> bool:
    name, file = tables.function_key(profile.paths[cost.path])
    return (name, base(file)) == key


def _sum(run: Run, profile: CoreProfile, address: int, costs: Sequence[Cost]) -> Ran:
    code = run.code.get(address)
    places = _first(costs, lambda cost: cost.places)
    place = places[0] if places and places[0].file else None
    shown = f"{base(place.file)}:{place.line}" if place and place.line else None
    text = code.text if code else ""
    # the target of a branch has another address in another build
    branch = text.split()[0] if code and code.target else ""
    # a program inside another one is not disassembled
    likeness = branch or _ADDRESS.sub("#", text) or shown or address
    return Ran(
        address=address,
        text=f"{text} <{code.target}>" if code and code.target else text,
        likeness=likeness,
        place=shown,
        executions=sum(cost.executions for cost in costs),
        cycles=sum(cost.cycles for cost in costs),
        causes=profile.by_cause(costs),
    )


def _first(costs: Sequence[Cost], of: Callable[[Cost], tuple]) -> tuple:
    return next((found for cost in costs if (found := of(cost))), ())


def decisive(changes: Sequence[InstructionChange]) -> list[InstructionChange]:
    """The changes that explain a function's difference: few new instructions, or the largest."""
    other = [one for one in changes if one.is_other_code]
    if 0 < len(other) <= _FEW:
        return other
    moved = sum(abs(one.cycles.difference) for one in changes)
    first = changes[:1]
    return [one for one in first if abs(one.cycles.difference) * _FEW >= moved > 0]
