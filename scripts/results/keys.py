"""Single numbers in a sentence: the values of keys in inline markers.

    EXPERIMENT | LABEL | FIELD [FORMAT]     a row; `LABEL; name=value` where several share a label
    EXPERIMENT | COUNT                      a count of its published numbers; `all` for those of
                                            all experiments that were measured on hardware
    EXPERIMENT | METRIC | COUNT             the same of a metric's published numbers only; `errors`
                                            is the range of their errors, "-2.8 to -1.6 %"
    speed | NAME [FORMAT]                   a number of docs/speed.json

EXPERIMENT may also be one of docs/compilers.csv (`thread-metric-gcc`, `cmsis-dsp`) or of
docs/linux.csv (`rpmsg-tty-linux`), and for a row of docs/suites.csv (`coremark`).
FIELD is simulated, published, interval (each with `/N` or `*N` after it), error or basis; FORMAT
is a Python format. COUNT is cells, independent, predicted, calibrated, `within N` (percent),
inside, `with interval`, fitted, assumed, met, `worst [of predicted] [FORMAT]`; with ` in words`
small ones are words. In a table `|` is written `\\|`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import figures
import store

from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.bench.trust import Trust, overall

_SEPARATOR = re.compile(r"\s*\\?\|\s*")
_FIELD = re.compile(r"(\w+)(?:([*/])(\d+(?:\.\d+)?))?(?: (\S+))?")
_WORST = re.compile(r"worst(?P<predicted> of predicted)?(?: (?P<spec>\S+))?")
_WITHIN = re.compile(r"within (\d+(?:\.\d+)?)")
_IN_WORDS = " in words"

COUNTS: Mapping[str, Callable[[Trust], int]] = {
    "cells": lambda found: found.published,
    "independent": lambda found: found.effective,
    "predicted": lambda found: found.predicted,
    "calibrated": lambda found: found.calibrated,
    "inside": lambda found: found.inside,
    "with interval": lambda found: found.with_interval,
    "fitted": lambda found: len(found.fitted),
    "assumed": lambda found: len(found.assumed),
    "met": lambda found: found.met,
}
# Counts that need a measurement of the numbers' bases.
_MEASURED = ("predicted", "calibrated", "inside", "with interval")
FIELDS = ("simulated", "published", "interval", "error", "basis")


class UnknownKeyError(Exception):
    """A key that matches no value, or more than one."""


@dataclass(frozen=True)
class Source:
    """The sources of keys and blocks: results, speeds by name, rows of suites.

    `compilers` are the experiments of docs/compilers.csv and docs/linux.csv, which a key names as
    others. `fits` has
    docs/fits.json, by experiment.
    """

    results: store.Results
    speeds: Mapping[str, Any]
    suites: Mapping[str, list[Row]] = field(default_factory=dict)
    compilers: Mapping[str, ExperimentResult] = field(default_factory=dict)
    fits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def experiments(self) -> Mapping[str, ExperimentResult]:
        """All names that a key may have."""
        return {**self.results.experiments, **self.compilers}

    def named(self, name: str) -> list[ExperimentResult]:
        """The experiment of a name, or with "all" those that were measured on hardware."""
        return self.results.named(name) if name == "all" else [self.experiments[name]]


def text(source: Source, key: str) -> str:
    """The value of a key. Raises `UnknownKeyError`, which names similar keys."""
    parts = _SEPARATOR.split(" ".join(key.split()))
    if parts[0] == "speed" and len(parts) == 2:
        return _speed(source.speeds, parts[1])
    if parts[0] in source.suites and len(parts) == 3:
        return _field(_row(source.suites[parts[0]], parts[1]), parts[2])
    names = ["all", *source.experiments]
    if parts[0] not in names:
        raise UnknownKeyError(f"no experiment {parts[0]!r}{similar(parts[0], [*names, 'speed'])}")
    if len(parts) == 2:
        return count(overall(source.named(parts[0])), parts[1])
    if len(parts) == 3:
        rows = [row for result in source.named(parts[0]) for row in result.rows]
        measured = [row for row in rows if row.metric == parts[1] and row.published is not None]
        if measured and all(row.label != parts[1] for row in rows):
            return _of_metric(measured, parts[2])
        return _field(_row(rows, parts[1]), parts[2])
    raise UnknownKeyError(f"{key!r} is neither EXPERIMENT | COUNT nor EXPERIMENT | LABEL | FIELD")


def similar(name: str, known: Iterable[str]) -> str:
    """The known names that resemble `name`, as the end of a message; empty without any."""
    found = difflib.get_close_matches(name, list(dict.fromkeys(known)), cutoff=0.5)
    return f"; similar: {', '.join(found)}" if found else ""


# ---- rows


def _row(rows: Sequence[Row], words: str) -> Row:
    label, *filters = (part.strip() for part in words.split(";"))
    found = [row for row in rows if row.label == label]
    if not found:
        raise UnknownKeyError(f"no row {label!r}{similar(label, (row.label for row in rows))}")
    for one in filters:
        name, _, value = one.partition("=")
        if all(setting(row, name) is None for row in found):
            raise UnknownKeyError(f"no row {label!r} has {name!r}{similar(name, settings(found))}")
        found = [row for row in found if str(setting(row, name)) == value]
    one_only = only(found)
    if one_only is None:
        differing = [name for name in settings(found) if len(_values(found, name)) > 1]
        choices = "; ".join(f"{name}={'|'.join(_values(found, name))}" for name in differing)
        raise UnknownKeyError(
            f"{len(found)} rows are {words!r}; they differ in {choices or 'nothing'}"
        )
    return one_only


def only(rows: Sequence[Row]) -> Row | None:
    """The row, or of several the published one; None if that leaves none or more than one."""
    published = [row for row in rows if row.published is not None]
    found = rows if len(rows) == 1 else published
    return found[0] if len(found) == 1 else None


def setting(row: Row, name: str) -> Any:
    """A row's value by name: one of its settings, or one of its own fields."""
    own = {"board": row.board, "metric": row.metric, "unit": row.unit, "label": row.label}
    return row.settings.get(name, own.get(name))


def settings(rows: Iterable[Row]) -> list[str]:
    """The names of the fields in which rows may differ."""
    return list(dict.fromkeys(name for row in rows for name in (*row.settings, "board", "metric")))


def _values(rows: Iterable[Row], name: str) -> list[str]:
    return list(dict.fromkeys(str(setting(row, name)) for row in rows))


def _field(row: Row, words: str) -> str:
    match = _FIELD.fullmatch(words)
    if not match or match[1] not in FIELDS:
        raise UnknownKeyError(f"no field {words!r}; there are {', '.join(FIELDS)}")
    name, sign, factor, spec = match.groups()
    if name == "basis":
        return row.basis
    if name == "error":
        return figures.error(row, spec or ".1f")
    if name == "interval":
        ends = row.interval
        return (
            figures.ABSENT
            if ends is None
            else " to ".join(_scaled(end, sign, factor, spec) for end in ends)
        )
    value = row.simulated if name == "simulated" else row.published
    if value is None:
        raise UnknownKeyError(f"nothing was published of {row.label!r}")
    if name == "published" and sign is None and spec is None:
        return figures.plain(value) if row.digits is None else row.printed
    return _scaled(value, sign, factor, spec)


def _scaled(value: float, sign: str | None, factor: str | None, spec: str | None) -> str:
    if sign == "*":
        value *= float(factor or 1)
    elif sign == "/":
        value /= float(factor or 1)
    return _formatted(value, spec)


def _formatted(value: Any, spec: str | None) -> str:
    if spec is None:
        return figures.plain(value) if isinstance(value, int | float) else str(value)
    try:
        return format(value, spec)
    except ValueError as error:
        raise UnknownKeyError(f"format {spec!r}: {error}") from error


# ---- counts


def count(found: Trust, words: str) -> str:
    """A count by its name. Raises `UnknownKeyError` for another one."""
    worst = _WORST.fullmatch(words)
    if worst:
        return _worst(found, bool(worst["predicted"]), worst["spec"] or ".1f")
    name = words.removesuffix(_IN_WORDS)
    within = _WITHIN.fullmatch(name)
    if not within and name not in COUNTS:
        known = [*COUNTS, "within 10", "worst", "worst of predicted"]
        raise UnknownKeyError(f"no count {words!r}; there are {', '.join(known)}")
    if name in _MEASURED and not is_measured(found):
        return figures.ABSENT
    number = found.within(float(within[1])) if within else COUNTS[name](found)
    return figures.in_words(number) if words.endswith(_IN_WORDS) else str(number)


def _of_metric(rows: Sequence[Row], words: str) -> str:
    """A count of some rows, or the range of their errors."""
    name, _, spec = words.partition(" ")
    if name != "errors":
        return count(Trust(tuple(rows), ()), words)
    errors = [row.error_pct for row in rows if row.error_pct is not None]
    if not errors:
        return figures.ABSENT
    ends = [figures.percent(end(errors), spec or ".1f") for end in (min, max)]
    return f"{ends[0].removesuffix(' %')} to {ends[1]}"


def is_measured(found: Trust) -> bool:
    """Whether the bases of published numbers were measured: then they have intervals."""
    return bool(found.exact) or found.with_interval > 0


def _worst(found: Trust, of_predicted: bool, spec: str) -> str:
    rows = [row for row in found.rows if row.error_pct is not None]
    if of_predicted:
        rows = [row for row in (found.worst_predicted,) if row is not None]
    if not rows:
        return figures.ABSENT
    return figures.percent(max((row.error_pct or 0 for row in rows), key=abs), spec)


# ---- speeds


def _speed(speeds: Mapping[str, Any], words: str) -> str:
    name, _, spec = words.partition(" ")
    if name not in speeds:
        raise UnknownKeyError(f"no speed {name!r}{similar(name, speeds)}")
    return _formatted(speeds[name], spec or None)
