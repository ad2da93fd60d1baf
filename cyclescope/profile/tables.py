"""Sums of a core's cycles by function, line, file, task or address."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from cyclescope.profile.model import FUNCTION, INLINED, TASK, CoreProfile, Cost, Path
from cyclescope.profile.stacks import nested

_Key = TypeVar("_Key", bound=Hashable)

NOWHERE = "no instruction"
"""The name of the row for cycles that belong to no instruction."""
UNKNOWN = "no line known"
"""The name of the line and file of code without a line in the ELF."""


@dataclass(frozen=True)
class Row:
    """Cycles of a function, line, file, task or address.

    `self_cycles` are the cycles of its own instructions; `total_cycles` include callees and count
    recursive calls once (None for a line or an address). `calls` is the number of ended calls; None
    for rows that can't be called. The longest call was on `longest_path` (None if no call ended).
    `causes` divides `self_cycles` by cause, the largest first. `waits` has picoseconds by the event
    that was waited for, the longest first: for a function in its own and inlined code, for a file
    in its functions; None if waits are not recorded for the row.
    """

    name: str
    self_cycles: int
    total_cycles: int | None
    instructions: int
    causes: dict[str, int]
    file: str | None = None
    line: int | None = None
    address: int | None = None
    calls: int | None = None
    longest_cycles: int = 0
    longest_at_ps: int = 0
    longest_path: int | None = None
    waits: dict[str, int] | None = None

    @property
    def cpi(self) -> float | None:
        """Own cycles per own instruction; None without instructions."""
        return self.self_cycles / self.instructions if self.instructions else None


def rows(core: CoreProfile, by: str) -> list[Row]:
    """A core's cycles by one of `VIEWS`, the row with the most own cycles first."""
    found = VIEWS[by](core)
    return sorted(found, key=lambda row: (-row.self_cycles, -(row.total_cycles or 0), row.name))


def function_key(path: Path) -> tuple[str, str]:
    """The key of a path's function, called or inlined: its name and its file."""
    return path.name, (path.place.file or "") if path.place else ""


def _functions(core: CoreProfile) -> list[Row]:
    totals: Counter[tuple[str, str]] = Counter()
    paths: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, is_within in nested(core, lambda index: function_key(core.paths[index])):
        of_path = function_key(core.paths[index])
        paths[of_path].append(index)
        totals[of_path] += 0 if is_within else core.total_cycles[index]
    names = Counter(core.paths[indices[0]].name for indices in paths.values())
    costs = _grouped(core.costs, lambda cost: function_key(core.paths[cost.path]))
    waits = _waits(core, lambda index: function_key(core.paths[index]))
    found = []
    for key, indices in paths.items():
        first = core.paths[indices[0]]
        place = first.place
        is_shared = names[first.name] > 1 and place is not None and place.file
        row = _row(
            core,
            f"{first.name} ({_base(place.file)})" if place and is_shared else first.name,
            costs.get(key, []),
            totals[key],
            file=place.file if place else None,
            line=place.line if place else None,
            address=_entry(core, indices),
            waits=_of(waits, key),
            **_calls(core, indices),
        )
        if row.self_cycles or row.instructions or row.waits or first.kind != TASK:
            found.append(row)
    return found


def _waits(core: CoreProfile, key: Callable[[int], _Key]) -> dict[_Key, dict[str, int]] | None:
    """The waits on paths of each key, the longest first; None if waits are not recorded."""
    if core.waits is None:
        return None
    sums: dict[_Key, Counter[str]] = defaultdict(Counter)
    for wait in core.waits:
        sums[key(wait.path)][wait.what] += wait.ps
    by_time = {key: sorted(sums[key].items(), key=lambda item: (-item[1], item[0])) for key in sums}
    return {key: dict(items) for key, items in by_time.items()}


def _of(waits: dict[_Key, dict[str, int]] | None, key: _Key) -> dict[str, int] | None:
    return None if waits is None else waits.get(key, {})


def _entry(core: CoreProfile, indices: Iterable[int]) -> int | None:
    addresses = (core.paths[index].address for index in indices)
    return next((address for address in addresses if address is not None), None)


def _calls(core: CoreProfile, indices: list[int]) -> dict[str, int | None]:
    paths = [(core.paths[index], index) for index in indices]
    called = [(path, index) for path, index in paths if path.kind not in (INLINED, TASK)]
    ended = [(path, index) for path, index in called if path.calls]
    longest = max(ended, key=lambda one: one[0].longest_cycles, default=None)
    return {
        "calls": sum(path.calls for path, _ in called) if called else None,
        "longest_cycles": longest[0].longest_cycles if longest else 0,
        "longest_at_ps": longest[0].longest_at_ps if longest else 0,
        "longest_path": longest[1] if longest else None,
    }


def _lines(core: CoreProfile) -> list[Row]:
    groups = _grouped(core.costs, lambda cost: (_file(cost), cost.place.line))
    return [
        _row(core, f"{_base(file)}:{line or 0}", costs, None, file=file, line=line)
        if costs[0].place.file
        else _row(core, file, costs, None)
        for (file, line), costs in groups.items()
    ]


def _files(core: CoreProfile) -> list[Row]:
    waits = _waits(core, lambda index: _file_of(core.paths[index]))
    groups = _grouped(core.costs, _file)
    # all code of a function may be inlined from another file
    groups |= {file: [] for file in waits or () if file not in groups}
    return [
        _row(
            core,
            file,
            costs,
            _in_file(core, file),
            file=None if file in (NOWHERE, UNKNOWN) else file,
            waits=_of(waits, file),
        )
        for file, costs in groups.items()
    ]


def _file(cost: Cost) -> str:
    """The file of the instruction itself, or the name for an unknown file."""
    return cost.place.file or (NOWHERE if cost.address is None else UNKNOWN)


def _file_of(path: Path) -> str:
    """The file of a path's function, or the name for an unknown file."""
    if path.place is None:
        return UNKNOWN if path.kind == FUNCTION else NOWHERE
    return path.place.file or UNKNOWN


def _in_file(core: CoreProfile, file: str) -> int:
    """The cycles of a file's functions and their callees, and of its code in other functions."""
    inside = [False] * len(core.paths)
    for index in core.walk():
        path = core.paths[index]
        around = path.parent is not None and inside[path.parent]
        inside[index] = around or (path.place is not None and path.place.file == file)
    return sum(cost.cycles for cost in core.costs if inside[cost.path] or _file(cost) == file)


def _tasks(core: CoreProfile) -> list[Row]:
    roots = list(range(len(core.paths)))
    for index in core.walk():
        parent = core.paths[index].parent
        if parent is not None:
            roots[index] = roots[parent]
    waits = _waits(core, lambda index: core.paths[roots[index]].name)
    groups = _grouped(core.costs, lambda cost: core.paths[roots[cost.path]].name)
    return [
        _row(core, name, costs, sum(cost.cycles for cost in costs), waits=_of(waits, name))
        for name, costs in groups.items()
    ]


def _addresses(core: CoreProfile) -> list[Row]:
    groups = _grouped(core.costs, lambda cost: cost.address)
    return [
        _row(
            core,
            NOWHERE if address is None else f"{address:#010x}",
            costs,
            None,
            file=costs[0].place.file,
            line=costs[0].place.line,
            address=address,
        )
        for address, costs in groups.items()
    ]


VIEWS: dict[str, Callable[[CoreProfile], list[Row]]] = {
    "function": _functions,
    "line": _lines,
    "file": _files,
    "task": _tasks,
    "address": _addresses,
}
"""The keys by which cycles can be summed."""
WAITED = ("function", "file", "task")
"""The keys by which waits can be summed: waits are recorded by calls."""


def _grouped(costs: Iterable[Cost], key: Callable[[Cost], _Key]) -> dict[_Key, list[Cost]]:
    found: dict[_Key, list[Cost]] = defaultdict(list)
    for cost in costs:
        found[key(cost)].append(cost)
    return found


def _row(core: CoreProfile, name: str, costs: list[Cost], total: int | None, **more: Any) -> Row:
    return Row(
        name=name,
        self_cycles=sum(cost.cycles for cost in costs),
        total_cycles=total,
        instructions=sum(cost.executions for cost in costs),
        causes=core.by_cause(costs),
        **more,
    )


def _base(file: str | None) -> str:
    return (file or "").rpartition("/")[2]
