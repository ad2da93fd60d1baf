"""A comparison as plain data, ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cyclescope.comparing import words
from cyclescope.comparing.code import InstructionChange, Ran
from cyclescope.comparing.differences import (
    Change,
    Comparison,
    CoreChange,
    FunctionChange,
    MetricChange,
    SectionChange,
)
from cyclescope.comparing.limits import Exceeded
from cyclescope.comparing.runs import Run

Instructions = Mapping[tuple[str, str], Sequence[InstructionChange]]
"""The instructions that explain a function's difference, by the names of its core and its own."""


def plain(
    comparison: Comparison, instructions: Instructions, exceeded: Sequence[Exceeded] = ()
) -> dict[str, Any]:
    """All of it; `exceeded` are the numbers that got worse by more than was allowed."""
    return {
        "before": _run(comparison.before),
        "after": _run(comparison.after),
        "is_equal": comparison.is_equal,
        "cores": [_core(core, instructions) for core in comparison.cores],
        "metrics": [_metric(metric) for metric in comparison.metrics],
        "counters": {name: _change(change) for name, change in comparison.counters.items()},
        "exceeded": [
            {"what": one.what, "unit": one.unit, **_change(one.change)} for one in exceeded
        ],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "label": run.label,
        "board": run.board,
        "firmware": run.firmware,
        "outcome": run.outcome,
        "exit_code": run.exit_code,
        "elapsed_ps": run.elapsed_ps,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "before": change.before,
        "after": change.after,
        "difference": change.difference,
        "change_pct": None if change.percent is None else round(change.percent, 6),
    }


def _core(core: CoreChange, instructions: Instructions) -> dict[str, Any]:
    functions = None
    if core.functions is not None:
        functions = [
            _function(one, instructions.get((core.name, one.name), ())) for one in core.functions
        ]
    return {
        "name": core.name,
        "cycles": _change(core.cycles),
        "instructions": _change(core.instructions),
        "causes": core.causes,
        "functions": functions,
        "sections": [_section(section) for section in core.sections],
    }


def _function(one: FunctionChange, instructions: Sequence[InstructionChange]) -> dict[str, Any]:
    known = one.after or one.before
    assert known is not None
    return {
        "name": one.name,
        "file": known.file,
        "line": known.line,
        "state": one.state,
        "cycles": _change(one.cycles),
        "total_cycles": _change(one.total_cycles),
        "instructions": _change(one.instructions),
        "calls": _change(one.calls),
        "causes": one.causes,
        "why": "" if one.is_equal else words.why(one),
        "changed_instructions": [
            {
                "before": _ran(change.before),
                "after": _ran(change.after),
                "difference_cycles": change.cycles.difference,
                "difference_executions": change.executions.difference,
            }
            for change in instructions
        ],
    }


def _ran(ran: Ran | None) -> dict[str, Any] | None:
    if ran is None:
        return None
    return {
        "address": ran.address,
        "text": ran.text,
        "place": ran.place,
        "cycles": ran.cycles,
        "executions": ran.executions,
    }


def _section(section: SectionChange) -> dict[str, Any]:
    return {
        "name": section.name,
        "calls": _change(section.calls),
        "cycles": _change(section.cycles),
        "causes": section.causes,
    }


def _metric(metric: MetricChange) -> dict[str, Any]:
    change = metric.values
    percent = None if change is None or change.percent is None else round(change.percent, 6)
    return {
        "name": metric.name,
        "unit": metric.unit,
        "settings": dict(metric.settings),
        "before": metric.before,
        "after": metric.after,
        "change_pct": percent,
        "worse_by": metric.worse,
        "verdict": metric.verdict,
    }
