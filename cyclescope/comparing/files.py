"""Files of runs that can be compared: what `run`, `profile` and `bench` write as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cyclescope.board.results import Metric
from cyclescope.comparing.runs import Core, Function, Run, Watched, within
from cyclescope.errors import UsageError
from cyclescope.host import inputs

# Far more than a bench writes.
_MOST_BYTES = 256 * 2**20
_KINDS = "the JSON of `cyclescope run`, `profile --by function` or `bench`"
_SPACE = b" \t\r\n"


def is_json(path: Path) -> bool:
    """Whether a file is JSON rather than a program, by its first bytes.

    Raises `UsageError` or `OSError` if it can't be read.
    """
    return inputs.read(path, inputs.MOST_ELF_BYTES).lstrip(_SPACE)[:1] in (b"{", b"[")


def read(path: Path) -> Run:
    """The run in a file. Raises `UsageError` if it has no run, `OSError` if it can't be read."""
    name = inputs.printable(path)
    try:
        data = json.loads(inputs.read(path, _MOST_BYTES))
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{name}: not JSON: {reason}; expected {_KINDS}") from None
    try:
        return _run(name, data)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(f"{name}: expected {_KINDS}") from None


def _run(name: str, data: Any) -> Run:
    if isinstance(data, list):
        return _of_rows(name, data)
    is_profile = "by" in data
    if is_profile and data["by"] != "function":
        raise UsageError(f"{name}: a profile by {data['by']}: only --by function can be compared")
    return Run(
        label=name,
        board=_text(data["board"]),
        firmware=_text(data["firmware"]),
        outcome=_text(data["outcome"]),
        exit_code=_or_none(data.get("exit_code"), int),
        elapsed_ps=_number(data["elapsed_ps"]),
        cores=tuple((_profiled if is_profile else _core)(core) for core in data["cores"]),
        metrics=tuple(map(_metric, data.get("metrics", ()))),
        counters={_text(key): _number(total) for key, total in data.get("counters", {}).items()},
        message=_or_none(data.get("message"), str),
    )


def _core(data: Mapping[str, Any]) -> Core:
    return Core(
        name=_text(data["name"]),
        cycles=_number(data["cycles"]),
        instructions=_number(data["instructions"]),
        causes=_causes(data["stack"]),
        sections=tuple(map(_section, data["sections"])),
    )


def _section(data: Mapping[str, Any]) -> Watched:
    causes = _causes(data["stack"])
    return Watched(_text(data["name"]), _number(data["calls"]), sum(causes.values()), causes)


def _causes(stack: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    found = {_text(entry["cause"]): _number(entry["cycles"]) for entry in stack}
    return {cause: cycles for cause, cycles in found.items() if cycles}


def _profiled(data: Mapping[str, Any]) -> Core:
    functions = tuple(map(_function, data["rows"]))
    causes: dict[str, int] = {}
    for function in functions:
        for cause, cycles in function.causes.items():
            causes[cause] = causes.get(cause, 0) + cycles
    return Core(
        name=_text(data["name"]),
        cycles=_number(data["cycles"]),
        instructions=_number(data["instructions"]),
        causes=causes,
        functions=functions,
    )


def _function(row: Mapping[str, Any]) -> Function:
    file = row["file"]
    return Function(
        name=_text(row["name"]).removesuffix(f" ({_text(file or '').rpartition('/')[2]})"),
        file=file,
        line=_or_none(row["line"], int),
        cycles=_number(row["self_cycles"]),
        total_cycles=_number(row["total_cycles"]),
        instructions=_number(row["instructions"]),
        calls=None if row["calls"] is None else _number(row["calls"]),
        causes={_text(cause): _number(cycles) for cause, cycles in row["causes"].items()},
    )


def _metric(data: Mapping[str, Any]) -> Metric:
    settings = {_text(name): _plain(value) for name, value in data.get("settings", {}).items()}
    return within(Metric(_text(data["name"]), _text(data["unit"]), _value(data["value"]), settings))


def _of_rows(name: str, rows: Sequence[Any]) -> Run:
    """The rows of a bench, each as a metric by its experiment, its cell and its settings."""
    metrics = []
    for row in rows:
        settings = {_text(key): _plain(value) for key, value in row["settings"].items()}
        shown = f"{_text(row['experiment'])}: {_text(row['label'])}"
        settings = {"board": _text(row["board"]), "metric": _text(row["metric"]), **settings}
        value = _value(row["simulated"])
        metrics.append(within(Metric(shown, _text(row["unit"]), value, settings)))
    return Run(name, "", "", None, None, None, (), tuple(metrics))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**64:
        raise TypeError
    return value


def _or_none(value: Any, kind: type) -> Any:
    if value is not None and not isinstance(value, kind):
        raise TypeError
    return value


def _value(value: Any) -> int | float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError
    return value


def _plain(value: Any) -> int | float | str | bool:
    if not isinstance(value, int | float | str):
        raise TypeError
    return value
