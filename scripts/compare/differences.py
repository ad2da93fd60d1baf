"""The differences of two records, and the counts of their equal parts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from records import ORDER, Record

# The counted units: items of the parts named here, and the values of keys named here at any depth.
_UNITS = {"rows": "rows", "runs": "runs"}
_VALUES = {"stack": "stacks", "parts": "parts", "console": "console texts", "frame": "frames"}
_LISTS = {
    "sections": "sections",
    "counters": "counters",
    "windows": "windows",
    "notes": "notes",
    "streams": "streams",
    "results": "result ports",
}
# The bases of rows that are published cells.
_CELLS = ("predicted", "calibrated")
_SHOWN = 100  # characters of a value
_ABSENT = object()


@dataclass(frozen=True)
class Difference:
    """A place that differs: its experiment, its row or run, the place in the record, and both."""

    place: tuple[str, ...]
    before: str
    after: str

    def __str__(self) -> str:
        return f"{' / '.join(self.place)}: {self.before} -> {self.after}"


@dataclass
class Comparison:
    """All differences, and by kind how many things there are and how many of them differ."""

    differences: list[Difference] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    cells: Counter[str] = field(default_factory=Counter)
    changed_cells: Counter[str] = field(default_factory=Counter)


def compare(before: Record, after: Record) -> Comparison:
    """Compares two records.

    The output of runs is compared if both records have it. Files are compared if they are about the
    named experiments only; a file that one record lacks is a difference.
    """
    found = Comparison()
    parts = None if before.has_runs and after.has_runs else ("rows", "notes", "failures")
    for name in _both(before.experiments, after.experiments):
        one, other = before.experiments.get(name, {}), after.experiments.get(name, {})
        if parts:
            one, other = ({key: own[key] for key in parts if key in own} for own in (one, other))
        found.differences += _differences((name,), one, other)
        _count(found, one, other)
        _count_cells(found, name, one.get("rows", {}), other.get("rows", {}))
    if before.files is None or after.files is None:
        return found
    for name in _both(before.files, after.files):
        one, other = before.files.get(name), after.files.get(name)
        found.counted["files"] += 1
        if one != other:
            found.changed["files"] += 1
            found.differences.append(_text_difference(name, one, other))
    return found


def _both(one: Mapping[str, Any], other: Mapping[str, Any]) -> Sequence[str]:
    return list(dict.fromkeys((*one, *other)))


def _differences(place: tuple[str, ...], one: Any, other: Any) -> Iterator[Difference]:
    """The innermost places that differ."""
    # 1 and 1.0 and true are equal, and written in different ways
    if one == other and _text(one) == _text(other):
        return
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in _both(one, other):
            if key == ORDER and set(one.get(key, ())) != set(other.get(key, ())):
                continue  # missing items are listed by their names
            pair = one.get(key, _ABSENT), other.get(key, _ABSENT)
            yield from _differences((*place, key), *pair)
        if list(one) != list(other) and set(one) == set(other):
            yield Difference((*place, ORDER), _shown(list(one)), _shown(list(other)))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences((*place, str(number)), *pair)
    elif isinstance(one, str) and isinstance(other, str):
        yield _text_difference(" / ".join(place), one, other)
    else:
        yield Difference(place, _shown(one), _shown(other))


def _text(value: Any) -> str:
    return "" if value is _ABSENT else json.dumps(value)


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "(missing)"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _text_difference(name: str, one: str | None, other: str | None) -> Difference:
    """The first line in which two texts differ."""
    if one is None or other is None or max(one.count("\n"), other.count("\n")) == 0:
        pair = (_ABSENT if text is None else text for text in (one, other))
        return Difference((name,), *(_shown(text) for text in pair))
    lines, others = one.split("\n"), other.split("\n")
    pairs = enumerate(zip(lines, others, strict=False), 1)
    at = next((at for at, (line, its) in pairs if line != its), min(len(lines), len(others)) + 1)
    ends = (_line(texts, at) for texts in (lines, others))
    return Difference((name, f"line {at}"), *ends)


def _line(lines: Sequence[str], number: int) -> str:
    return _shown(lines[number - 1] if number <= len(lines) else _ABSENT)


# ---- counting


def _count(found: Comparison, one: Any, other: Any) -> None:
    """Count the things of both, at any depth."""
    if isinstance(one, list) or isinstance(other, list):
        one, other = (_numbered(own) for own in (one, other))
    if not isinstance(one, Mapping):
        one = {}
    if not isinstance(other, Mapping):
        other = {}
    for key in _both(one, other):
        if key in (ORDER, "settings"):
            continue
        pair = one.get(key, _ABSENT), other.get(key, _ABSENT)
        if key in _VALUES:
            _add(found, _VALUES[key], *pair)
        elif key in _LISTS or key in _UNITS:
            kind = _LISTS.get(key) or _UNITS[key]
            _add_each(found, kind, *(_numbered(own) for own in pair))
        _count(found, *pair)


def _numbered(value: Any) -> Mapping[str, Any]:
    if isinstance(value, list):
        return {str(number): one for number, one in enumerate(value)}
    return value if isinstance(value, Mapping) else {}


def _add_each(
    found: Comparison, kind: str, one: Mapping[str, Any], other: Mapping[str, Any]
) -> None:
    for key in _both(one, other):
        if key != ORDER:
            _add(found, kind, one.get(key, _ABSENT), other.get(key, _ABSENT))


def _add(found: Comparison, kind: str, one: Any, other: Any) -> None:
    if any(value not in (_ABSENT, None, "", [], {}) for value in (one, other)):
        found.counted[kind] += 1
        found.changed[kind] += _text(one) != _text(other)


def _count_cells(
    found: Comparison, name: str, rows: Mapping[str, Any], others: Mapping[str, Any]
) -> None:
    """Count the cells: rows with a published number that do not follow from others."""
    for key in _both(rows, others):
        one, other = rows.get(key), others.get(key)
        if key != ORDER and any(row and row["basis"] in _CELLS for row in (one, other)):
            found.cells[name] += 1
            found.changed_cells[name] += one != other
