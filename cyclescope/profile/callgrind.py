"""A profile in Callgrind's format, version 1, for KCachegrind and callgrind_annotate.

https://valgrind.org/docs/manual/cl-format.html. Costs are at instructions and lines. If the profile
distinguishes call sites, calls are at the calling instruction, or at the instruction in its delay
slot; otherwise they are at the start of the calling function. Inlined functions are part of the
function that they were inlined in, in their own files. A core is an object.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from cyclescope.profile.model import INLINED, CoreProfile, Cost, Path
from cyclescope.profile.profile import Profile
from cyclescope.profile.stacks import nested

# Causes with less than this share of all cycles are summed.
_LEAST_SHARE = 0.005
_REST = "other causes"
_Key = tuple[str, str]
_Position = tuple[str, int, int]
# The most bytes of a calling instruction and the one in its delay slot.
_MOST_CALL_BYTES = 8


def callgrind(profile: Profile, creator: str) -> Iterator[str]:
    """The lines of a file; `creator` names the program and its version."""
    events = _Events(profile)
    yield "# callgrind format\n"
    yield "version: 1\n"
    yield f"creator: {creator}\n"
    yield f"cmd: {_line(profile.firmware)} on {_line(profile.board)}\n"
    yield "part: 1\n"
    yield "positions: instr line\n"
    for name, meaning in events.named():
        yield f"event: {name} : {meaning}\n"
    yield f"events: {' '.join(name for name, _ in events.named())}\n"
    total = [0] * len(events.names)
    cores = profile.by_call_site or profile.cores
    for core in cores:
        for cost in core.costs:
            _add(total, events.of(core, cost))
    yield f"summary: {' '.join(map(str, total))}\n"
    names = _Names()
    for core in cores:
        yield from _core(core, events, names)
    yield f"\ntotals: {' '.join(map(str, total))}\n"


class _Events:
    """The columns of costs: cycles, instructions, and cycles by cause."""

    def __init__(self, profile: Profile) -> None:
        cycles: dict[str, int] = defaultdict(int)
        for core in profile.cores:
            for cause, number in core.by_cause(core.costs).items():
                cycles[cause] += number
        least = _LEAST_SHARE * sum(cycles.values())
        large = sorted((c for c in cycles if cycles[c] >= least), key=lambda c: (-cycles[c], c))
        rest = [_REST] if len(large) < len(cycles) else []
        self.names = ["cycles", "instructions", *large, *rest]
        self._place = {cause: place for place, cause in enumerate(self.names)}

    def named(self) -> Iterator[tuple[str, str]]:
        """Event names without spaces, and their meanings."""
        for place, name in enumerate(self.names):
            word = "".join(part.capitalize() for part in re.findall(r"[A-Za-z0-9]+", name))
            yield (f"C{place - 1}{word}" if place > 1 else word), _line(name)

    def of(self, core: CoreProfile, cost: Cost) -> list[int]:
        """The numbers of a cost."""
        numbers = [0] * len(self.names)
        numbers[0], numbers[1] = cost.cycles, cost.executions
        for charge in cost.charges:
            place = self._place.get(core.causes[charge.cause], len(self.names) - 1)
            numbers[place] += charge.cycles
        return numbers


class _Names:
    """Names of objects, files and functions, each in full only once."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def spec(self, kind: str, name: str) -> str:
        """A name for `fn=` and the like; `kind` is "ob", "fl" or "fn"."""
        key = kind, name
        if key in self._numbers:
            return f"({self._numbers[key]})"
        number = 1 + sum(known == kind for known, _ in self._numbers)
        self._numbers[key] = number
        return f"({number}) {_line(name)}"


@dataclass
class _Function:
    """A function's costs by file, address and line, and its calls by these and the callee."""

    path: Path
    costs: dict[_Position, list[int]] = field(default_factory=dict)
    calls: dict[_Position, dict[_Key, tuple[int, list[int]]]] = field(default_factory=dict)

    def call_site(self, return_address: int | None) -> _Position:
        """The position of the instruction before an address; else the function's start."""
        if return_address is not None:
            place = bisect_left(self._by_address, (return_address,)) - 1
            address, position = self._by_address[place] if place >= 0 else (0, None)
            if position is not None and return_address - address <= _MOST_CALL_BYTES:
                return position
        return _file(self.path), self.path.address or 0, _begin(self.path)

    @cached_property
    def _by_address(self) -> list[tuple[int, _Position]]:
        """The positions sorted by address; call it when all costs are added."""
        return sorted((address, (file, address, line)) for file, address, line in self.costs)


def _core(core: CoreProfile, events: _Events, names: _Names) -> Iterator[str]:
    functions = _functions(core, events)
    for number, function in enumerate(functions.values()):
        yield f"\nob={names.spec('ob', core.name)}\n" if number == 0 else "\n"
        own = _file(function.path)
        yield f"fl={names.spec('fl', own)}\n"
        yield f"fn={names.spec('fn', function.path.name)}\n"
        at = own
        for position in sorted(function.costs.keys() | function.calls.keys()):
            file, address, line = position
            if file != at:
                yield f"{'fe' if file == own else 'fi'}={names.spec('fl', file)}\n"
                at = file
            if position in function.costs:
                yield f"{address:#x} {line} {' '.join(map(str, function.costs[position]))}\n"
            for key, (calls, numbers) in function.calls.get(position, {}).items():
                callee = functions[key].path
                yield f"cfi={names.spec('fl', _file(callee))}\n"
                yield f"cfn={names.spec('fn', callee.name)}\n"
                yield f"calls={calls} {callee.address or 0:#x} {_begin(callee)}\n"
                yield f"{address:#x} {line} {' '.join(map(str, numbers))}\n"


def _functions(core: CoreProfile, events: _Events) -> dict[_Key, _Function]:
    """The functions of a core, in the order in which they were first called."""
    real = _real_paths(core)
    inclusive = [[0] * len(events.names) for _ in core.paths]
    functions: dict[_Key, _Function] = {}
    for index in core.walk():
        path = core.paths[index]
        if path.kind != INLINED:
            functions.setdefault(_key(path), _Function(path))
    for cost in core.costs:
        numbers = events.of(core, cost)
        function = functions[_key(core.paths[real[cost.path]])]
        file = cost.place.file or _file(function.path)
        position = file, cost.address or 0, cost.place.line or 0
        _add(function.costs.setdefault(position, [0] * len(numbers)), numbers)
        _add(inclusive[real[cost.path]], numbers)
    _add_calls(core, real, inclusive, functions)
    return functions


def _add_calls(
    core: CoreProfile,
    real: list[int],
    inclusive: list[list[int]],
    functions: dict[_Key, _Function],
) -> None:
    """Calls from function to function; in a recursion, only the outermost call's cycles count."""

    def edge(index: int) -> tuple[_Key, _Key] | None:
        parent = core.paths[index].parent
        if parent is None or core.paths[index].kind == INLINED:
            return None
        return _key(core.paths[real[parent]]), _key(core.paths[index])

    for index in reversed(core.walk()):
        parent = core.paths[index].parent
        if parent is not None and real[index] == index:
            _add(inclusive[real[parent]], inclusive[index])
    for index, is_within in nested(core, edge):
        ends = edge(index)
        if ends is None:
            continue
        caller, callee = functions[ends[0]], ends[1]
        position = caller.call_site(core.paths[index].return_address)
        at_site = caller.calls.setdefault(position, {})
        calls, numbers = at_site.get(callee, (0, [0] * len(inclusive[index])))
        if not is_within:
            _add(numbers, inclusive[index])
        # a call that has not ended counts, too
        at_site[callee] = calls + max(core.paths[index].calls, 1), numbers


def _real_paths(core: CoreProfile) -> list[int]:
    """For each path the path that it was inlined into, or itself."""
    real = list(range(len(core.paths)))
    for index in core.walk():
        path = core.paths[index]
        if path.kind == INLINED and path.parent is not None:
            real[index] = real[path.parent]
    return real


def _key(path: Path) -> _Key:
    return path.name, _file(path)


def _file(path: Path) -> str:
    return (path.place.file if path.place else None) or "???"


def _begin(path: Path) -> int:
    return (path.place.line if path.place else None) or 0


def _add(to: list[int], numbers: list[int]) -> None:
    for place, number in enumerate(numbers):
        to[place] += number


def _line(text: str) -> str:
    """A name without line breaks, for a line of the file."""
    return " ".join(text.split())
