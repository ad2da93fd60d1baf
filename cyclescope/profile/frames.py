"""A profile as data frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from cyclescope.dataframes import chosen
from cyclescope.profile import tables
from cyclescope.profile.calls import own_name
from cyclescope.profile.model import CoreProfile

if TYPE_CHECKING:
    import pandas
    import polars

    Frame: TypeAlias = pandas.DataFrame | polars.DataFrame

Cores = Iterable[CoreProfile]
_FUNCTIONS = ["core", "function", "file", "line", "self_cycles", "total_cycles", "calls"]
_FUNCTIONS += ["instructions", "cpi", "longest_cycles", "longest_at_ps"]
_LINES = ["core", "file", "line", "cycles", "instructions", "cpi"]
_CALLS = ["core", "function", "begin_ps", "cycles", "path"]
_WAITS = ["core", "function", "waited_for", "ps", "path"]
_INTERRUPTS = ["core", "line", "input", "raised_ps", "taken_ps", "first_instruction_ps", "end_ps"]
_INTERRUPTS += ["cycles", "latency_ps", "response_ps"]


def functions(cores: Cores, use_polars: bool) -> Frame:
    """One row for each function, with one column for each cause."""
    causes = _causes(cores)
    found = [
        {
            "core": core.name,
            "function": row.name,
            "file": row.file,
            "line": row.line,
            "self_cycles": row.self_cycles,
            "total_cycles": row.total_cycles,
            "calls": row.calls,
            "instructions": row.instructions,
            "cpi": row.cpi,
            "longest_cycles": row.longest_cycles,
            "longest_at_ps": row.longest_at_ps,
            **{cause: row.causes.get(cause, 0) for cause in causes},
        }
        for core in cores
        for row in tables.rows(core, "function")
    ]
    return chosen(found, [*_FUNCTIONS, *causes], use_polars)


def lines(cores: Cores, use_polars: bool) -> Frame:
    """One row for each source line, with one column for each cause."""
    causes = _causes(cores)
    found = [
        {
            "core": core.name,
            "file": row.file,
            "line": row.line,
            "cycles": row.self_cycles,
            "instructions": row.instructions,
            "cpi": row.cpi,
            **{cause: row.causes.get(cause, 0) for cause in causes},
        }
        for core in cores
        for row in tables.rows(core, "line")
    ]
    return chosen(found, [*_LINES, *causes], use_polars)


def calls(cores: Cores, use_polars: bool) -> Frame:
    """One row for each call of a watched function, with its call path."""
    found = [
        {
            "core": core.name,
            "function": own_name(core, name),
            "begin_ps": call.begin_ps,
            "cycles": call.cycles,
            "path": ";".join(core.names(call.path)),
        }
        for core in cores
        for name, calls in core.calls.items()
        for call in calls
    ]
    return chosen(found, _CALLS, use_polars)


def interrupts(cores: Cores, use_polars: bool) -> Frame:
    """One row for each interrupt."""
    found: list[dict[str, Any]] = [
        {"core": core.name, **{name: getattr(one, name) for name in _INTERRUPTS[1:]}}
        for core in cores
        for one in core.interrupts
    ]
    return chosen(found, _INTERRUPTS, use_polars)


def waits(cores: Cores, use_polars: bool) -> Frame:
    """One row for each call path and wait, the longest of a core first."""
    found = [
        {
            "core": core.name,
            "function": core.paths[wait.path].name,
            "waited_for": wait.what,
            "ps": wait.ps,
            "path": ";".join(core.names(wait.path)),
        }
        for core in cores
        for wait in sorted(core.waits or (), key=lambda wait: (-wait.ps, wait.path, wait.what))
    ]
    return chosen(found, _WAITS, use_polars)


def _causes(cores: Cores) -> list[str]:
    return list(dict.fromkeys(cause for core in cores for cause in core.by_cause(core.costs)))
