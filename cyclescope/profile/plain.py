"""A profile as plain data, ready for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cyclescope.profile import calls, tables
from cyclescope.profile.model import CoreProfile
from cyclescope.profile.profile import Profile
from cyclescope.profile.tables import Row


def plain(profile: Profile, by: str, functions: Sequence[str]) -> dict[str, Any]:
    """All rows of each core's cycles by one of `tables.VIEWS`, and the calls of functions."""
    return {
        "board": profile.board,
        "firmware": profile.firmware,
        "elapsed_ps": profile.elapsed_ps,
        "by": by,
        "cores": [_core(core, by, functions) for core in profile.cores],
    }


def _core(core: CoreProfile, by: str, functions: Sequence[str]) -> dict[str, Any]:
    return {
        "name": core.name,
        "cycles": core.cycles,
        "instructions": core.instructions,
        "rows": [_row(core, row) for row in tables.rows(core, by)],
        "functions": [found for name in functions if (found := _calls(core, name))],
        "interrupts": [vars(latency) for latency in calls.latencies(core)],
        "notes": list(core.notes),
    }


def _row(core: CoreProfile, row: Row) -> dict[str, Any]:
    longest = None
    if row.longest_path is not None:
        longest = {
            "cycles": row.longest_cycles,
            "begin_ps": row.longest_at_ps,
            "path": core.names(row.longest_path),
        }
    return {
        "name": row.name,
        "file": row.file,
        "line": row.line,
        "address": row.address,
        "self_cycles": row.self_cycles,
        "total_cycles": row.total_cycles,
        "calls": row.calls,
        "instructions": row.instructions,
        "causes": row.causes,
        **({} if row.waits is None else {"waits": row.waits}),
        "longest_call": longest,
    }


def _calls(core: CoreProfile, function: str) -> dict[str, Any] | None:
    spread = calls.spread(calls.calls_of(core, function))
    if spread is None:
        return None
    return {
        "name": calls.own_name(core, function),
        "calls": spread.calls,
        "shortest_cycles": spread.shortest,
        "median_cycles": spread.median,
        "p99_cycles": spread.p99,
        "longest_cycles": spread.longest,
        "total_cycles": spread.total,
        "longest_call": {
            "cycles": spread.worst.cycles,
            "begin_ps": spread.worst.begin_ps,
            "path": core.names(spread.worst.path),
        },
        "histogram": [vars(one) for one in spread.bins],
    }
