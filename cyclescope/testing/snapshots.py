"""Snapshots of runs: small JSON files beside a test file, readable in a diff."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope.board.results import Metric
from cyclescope.comparing import words
from cyclescope.comparing.differences import Change, Comparison, CoreChange
from cyclescope.comparing.limits import exceeds
from cyclescope.comparing.runs import Core, Run, Watched, within
from cyclescope.errors import UsageError
from cyclescope.host import inputs

if TYPE_CHECKING:
    import pytest

FOLDER = "__cyclescope__"
_ODD = re.compile(r"[^\w.\[\]=+,-]")
_LONGEST = 120
_MOST_BYTES = 16 * 2**20


def place(node: pytest.Item, name: str | None) -> Path:
    """The file of a test's snapshot: `__cyclescope__/test_file/test_name.json`.

    Characters that a file name should not have are replaced; a hash then distinguishes such names.
    """
    path = node.path
    within = node.nodeid.partition("::")[2].replace("::", ".") or node.name
    own = within if name is None else f"{within}.{name}"
    plain = _ODD.sub("_", own)[:_LONGEST]
    if plain != own:
        plain += f"-{hashlib.sha256(own.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return path.parent / FOLDER / path.stem / f"{plain}.json"


def text(run: Run) -> str:
    """The text of a run's snapshot."""
    data = {
        "board": run.board,
        "outcome": run.outcome,
        "exit_code": run.exit_code,
        "cores": {core.name: _core(core) for core in run.cores},
        "metrics": [_metric(metric) for metric in run.metrics],
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _core(core: Core) -> dict[str, Any]:
    return {
        "cycles": core.cycles,
        "instructions": core.instructions,
        "causes": dict(core.causes),
        "sections": {
            one.name: {"calls": one.calls, "cycles": one.cycles, "causes": dict(one.causes)}
            for one in core.sections
        },
    }


def _metric(metric: Metric) -> dict[str, Any]:
    settings = {"settings": dict(metric.settings)} if metric.settings else {}
    return {"name": metric.name, "unit": metric.unit, "value": metric.value, **settings}


def read(path: Path) -> Run:
    """The run in a snapshot. Raises `UsageError` if invalid, `FileNotFoundError` if missing."""
    try:
        return _run(json.loads(inputs.read(path, _MOST_BYTES)))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise UsageError(f"{path} is not a snapshot") from None


def _run(data: Mapping[str, Any]) -> Run:
    return Run(
        label="the snapshot",
        board=str(data["board"]),
        firmware="",
        outcome=data["outcome"],
        exit_code=data["exit_code"],
        elapsed_ps=None,
        cores=tuple(_stored_core(name, core) for name, core in data["cores"].items()),
        metrics=tuple(
            within(Metric(one["name"], one["unit"], one["value"], one.get("settings", {})))
            for one in data["metrics"]
        ),
    )


def _stored_core(name: str, data: Mapping[str, Any]) -> Core:
    sections = tuple(
        Watched(section, int(one["calls"]), int(one["cycles"]), _causes(one))
        for section, one in data["sections"].items()
    )
    instructions = int(data["instructions"])
    return Core(name, int(data["cycles"]), instructions, _causes(data), None, sections)


def _causes(data: Mapping[str, Any]) -> dict[str, int]:
    return {cause: int(cycles) for cause, cycles in data["causes"].items()}


def moved(comparison: Comparison, percent: Fraction) -> list[str]:
    """The differences above `percent`, one line each; any difference of the outcome."""
    before, after = comparison.before, comparison.after
    lines = [] if before.board == after.board else [f"board: {before.board} -> {after.board}"]
    if (before.outcome, before.exit_code) != (after.outcome, after.exit_code):
        lines.append(f"outcome: {_end(before)} -> {_end(after)}")
    for core in comparison.cores:
        lines += _of_core(core, percent)
    for metric in comparison.metrics:
        name = words.metric_name(metric)
        if metric.values is None:
            lines.append(f"{name}: {metric.verdict}")
        elif exceeds(metric.values, percent):
            lines.append(f"{name}: {_change(metric.values)}")
    return lines


def _end(run: Run) -> str:
    return f"status {run.exit_code}" if run.outcome == "exit" else str(run.outcome)


def _of_core(core: CoreChange, percent: Fraction) -> Iterator[str]:
    if exceeds(core.cycles, percent):
        yield f"{core.name}: {_change(core.cycles, 'cycles')}{_why(words.core_why(core))}"
    for section in core.sections:
        name = f"{core.name}, section {section.name}"
        if section.before is None or section.after is None:
            yield f"{name}: {words.section_why(section)}"
        elif exceeds(section.cycles, percent) or exceeds(section.calls, percent):
            yield f"{name}: {_change(section.cycles, 'cycles')}{_why(words.section_why(section))}"


def _change(change: Change, unit: str = "") -> str:
    before, after = words.number(change.before), words.number(change.after)
    percents = words.percent(change)
    shown = f"{before} -> {after}{unit and f' {unit}'}"
    return f"{shown} ({words.signed(change.difference)}, {percents})" if percents else shown


def _why(why: str) -> str:
    return f": {why}" if why else ""
