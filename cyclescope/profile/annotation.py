"""A function's instructions and source lines, each with its cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cyclescope.profile.model import CoreProfile, Place

# Number of source lines shown around a line with code.
_AROUND = 2
ReadSource = Callable[[str], list[str] | None]
"""A source file's lines by its path; None if it can't be read."""


class Code(NamedTuple):
    """An instruction of a listing; `encoding` has `length` bytes, `target` is a branch's target."""

    address: int
    encoding: int
    length: int
    text: str
    target: str | None


@dataclass(frozen=True)
class Spent:
    """Cycles and execution counts of instructions on all call paths."""

    cycles: int
    executions: int
    causes: dict[str, int]

    @property
    def cpi(self) -> float | None:
        """Cycles per instruction; None if no instruction ran."""
        return self.cycles / self.executions if self.executions else None

    @property
    def main_cause(self) -> str:
        """The largest cause with its share."""
        for cause, cycles in self.causes.items():
            return f"{cause} {100 * cycles / self.cycles:.0f} %"
        return ""


@dataclass(frozen=True)
class Instruction:
    """An instruction with its places in the sources (innermost first) and its cost."""

    code: Code
    places: tuple[Place, ...]
    spent: Spent


@dataclass(frozen=True)
class Line:
    """A line of a source with the cost of its instructions; an unreadable one has no `text`."""

    number: int
    text: str | None
    addresses: tuple[int, ...]
    spent: Spent


@dataclass(frozen=True)
class Source:
    """The source lines of a function with code there: the function itself, or an inlined one.

    Inlined code counts at the line that calls it, and in a separate source.
    """

    function: str
    file: str
    is_inlined: bool
    is_read: bool
    lines: tuple[Line, ...]
    spent: Spent


@dataclass(frozen=True)
class Annotation:
    """The cost of a function's code on a core; `cycles` are all cycles of the core."""

    core: str
    core_cycles: int
    function: str
    place: Place | None
    calls: int
    spent: Spent
    instructions: tuple[Instruction, ...]
    sources: tuple[Source, ...]

    @property
    def notes(self) -> list[str]:
        """Missing information, one sentence each."""
        missing = [source.file for source in self.sources if not source.is_read]
        notes = [f"{file} can't be read: its lines have no text" for file in dict.fromkeys(missing)]
        if not self.sources:
            notes.append(f"the ELF has no source lines for {self.function}: build it with -g")
        return notes


def annotate(
    core: CoreProfile,
    function: str,
    code: Sequence[Code],
    places: Sequence[Sequence[tuple[str, str | None, int | None, int | None]]],
    read: ReadSource,
) -> Annotation:
    """The annotation of a function's `code`; `places` has the code's places in the sources."""
    spent = _spent_by_address(core, code)
    instructions = tuple(
        Instruction(one, _known(frames), spent[one.address])
        for one, frames in zip(code, places, strict=True)
    )
    first = instructions[0]
    entries = [path for path in core.paths if path.address == first.code.address]
    return Annotation(
        core=core.name,
        core_cycles=core.cycles,
        function=function,
        place=first.places[-1] if first.places else None,
        calls=sum(path.calls for path in entries),
        spent=_sum(one.spent for one in instructions),
        instructions=instructions,
        sources=tuple(_sources(instructions, read)),
    )


def _known(frames: Sequence[tuple[str, str | None, int | None, int | None]]) -> tuple[Place, ...]:
    """The frames that have lines."""
    places = (Place(*frame) for frame in frames)
    return tuple(place for place in places if place.file and place.line)


def _spent_by_address(core: CoreProfile, code: Sequence[Code]) -> dict[int, Spent]:
    found = defaultdict(list)
    for cost in core.costs:
        if cost.address is not None:
            found[cost.address].append(cost)
    return {
        one.address: Spent(
            cycles=sum(cost.cycles for cost in found[one.address]),
            executions=sum(cost.executions for cost in found[one.address]),
            causes=core.by_cause(found[one.address]),
        )
        for one in code
    }


def _sum(parts: Iterable[Spent]) -> Spent:
    cycles = executions = 0
    causes: dict[str, int] = defaultdict(int)
    for part in parts:
        cycles += part.cycles
        executions += part.executions
        for cause, number in part.causes.items():
            causes[cause] += number
    return Spent(
        cycles, executions, dict(sorted(causes.items(), key=lambda one: (-one[1], one[0])))
    )


def _sources(instructions: Sequence[Instruction], read: ReadSource) -> list[Source]:
    """The function's own sources, then those of inlined functions, the costliest first."""
    lines: dict[tuple[str, str, bool], dict[int, list[Instruction]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in instructions:
        for depth, place in enumerate(one.places):
            is_inlined = depth < len(one.places) - 1
            key = place.function, place.file or "", is_inlined
            found = lines[key][place.line or 0]
            if one not in found[-1:]:
                found.append(one)
    sources = [_source(*key, found, read) for key, found in lines.items()]
    return sorted(sources, key=lambda one: (one.is_inlined, -one.spent.cycles))


def _source(
    function: str,
    file: str,
    is_inlined: bool,
    found: dict[int, list[Instruction]],
    read: ReadSource,
) -> Source:
    text = read(file)
    numbers = set(found)
    if text is not None:
        around = range(-_AROUND, _AROUND + 1)
        shown = {number + more for number in found for more in around}
        numbers |= {number for number in shown if 1 <= number <= len(text)}
    lines = tuple(
        Line(
            number=number,
            text=text[number - 1] if text is not None and number <= len(text) else None,
            addresses=tuple(one.code.address for one in found.get(number, ())),
            spent=_sum(one.spent for one in found.get(number, ())),
        )
        for number in sorted(numbers)
    )
    spent = _sum(line.spent for line in lines)
    return Source(function, file, is_inlined, text is not None, lines, spent)
