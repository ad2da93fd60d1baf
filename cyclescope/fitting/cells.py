"""Cells: the measured numbers that a board is fitted to, from a table or from a document.

A table is a CSV file with one number a line: `value`; `metric`, the name of a run's result; `error`
if it is known (a standard deviation, absolute or as `2%`); `label` for readers; `elf` for another
program; and columns for settings by their paths, as `--set` takes them.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.host.inputs import printable
from cyclescope.similar_names import did_you_mean

VALUE, METRIC, ERROR, LABEL = "value", "metric", "error", "label"
_COLUMNS = (VALUE, METRIC, ERROR, LABEL)
MOST_CELLS = 10_000
_MOST_BYTES = 10_000_000

_NUMBER = re.compile(r"(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?P<unit>s|ms|us|ns|ps|%)?")
_PS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}


@dataclass(frozen=True)
class Cell:
    """A measured number: the value of a metric in a run with these settings.

    `base` is the index of the target's run. `error` is the standard deviation as a fraction of the
    value, None if it is unknown. `rounding` is half a unit of the last digit, also as a fraction.
    Cells with the same `independent` name follow from one another. The run's number is multiplied
    by `factor`.
    """

    label: str
    metric: str
    value: float
    error: float | None = None
    rounding: float = 0.0
    base: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    independent: str = ""
    factor: float = 1.0

    @property
    def number(self) -> str:
        """The number's name: the same for cells that follow from one another or were repeated."""
        return self.independent or repr((self.base, sorted(self.settings.items()), self.metric))


def numbers(cells: Iterable[Cell]) -> list[str]:
    """The distinct numbers among cells, in the order of first occurrence."""
    return list(dict.fromkeys(cell.number for cell in cells))


def read(path: Path, metric: str | None = None) -> list[Cell]:
    """The cells of a CSV file; `metric` is the metric of lines that name no other.

    Raises `UsageError` with the number of an invalid line, `OSError` if the file can't be read.
    """
    try:
        text = inputs.read(path, _MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{printable(str(path))}: no such file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{printable(str(path))}: not UTF-8 text") from None
    lines = csv.DictReader(text.splitlines(), skipinitialspace=True, strict=True)
    try:
        names = [name.strip() for name in lines.fieldnames or ()]
        _check_columns(path, names)
        lines.fieldnames = names
        cells = list(_cells(path, lines, metric))
    except csv.Error as error:
        raise UsageError(f"{printable(str(path))}:{lines.line_num}: {error}") from None
    if not cells:
        raise UsageError(f"{printable(str(path))}: no cells: a line a measured number")
    if len(cells) > MOST_CELLS:
        raise UsageError(f"{printable(str(path))}: {len(cells):,} cells: {MOST_CELLS:,} at most")
    return cells


def _check_columns(path: Path, names: Sequence[str]) -> None:
    shown = printable(str(path))
    if VALUE not in names:
        found = ", ".join(map(printable, names[:8]))
        raise UsageError(f"{shown}: no column {VALUE!r} in its first line; there are {found}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{shown}: two columns are called {printable(twice)!r}")
    for name in names:
        if name not in _COLUMNS and "." not in name and name != "elf":
            hint = did_you_mean(name, [*_COLUMNS, "elf"])
            raise UsageError(
                f"{shown}: column {printable(name)!r} is no setting such as "
                f"spi0.clock-frequency{hint or ', nor one of value, metric, error, label, elf'}"
            )


def _cells(path: Path, lines: csv.DictReader[str], metric: str | None) -> Iterator[Cell]:
    for line in lines:
        where = f"{printable(str(path))}:{lines.line_num}"
        if None in line or None in line.values():
            raise UsageError(f"{where}: not as many fields as the first line has")
        yield _cell(where, {name: text.strip() for name, text in line.items()}, metric, path)


def _cell(where: str, line: Mapping[str, str], metric: str | None, path: Path) -> Cell:
    name = line.get(METRIC) or metric
    if not name:
        raise UsageError(f"{where}: which metric is it? A column {METRIC!r}, or --metric")
    number, exponent = _value(where, line[VALUE], name)
    if number <= 0:
        raise UsageError(f"{where}: value {printable(line[VALUE])}: expected a number above 0")
    settings = {key: text for key, text in line.items() if text and key not in _COLUMNS}
    label = line.get(LABEL) or " ".join(
        [name, *(f"{key.rpartition('.')[2]}={text}" for key, text in settings.items())]
    )
    if "elf" in settings:
        settings["elf"] = str(path.parent / settings["elf"])
    return Cell(
        label=printable(label),
        metric=name,
        value=number,
        error=_error(where, line.get(ERROR, ""), name, number),
        rounding=exponent / 2 / number,
        settings=settings,
    )


def _value(where: str, text: str, metric: str) -> tuple[float, float]:
    """The number in a text, and one unit of its last digit; times in picoseconds."""
    match = _NUMBER.fullmatch(text)
    if match is None or match["unit"] == "%":
        raise UsageError(f"{where}: {printable(text)!r} is no number such as 1200, 3.5 or 2.71ms")
    if match["unit"] and not metric.endswith(("ps", "_ps")):
        raise UsageError(
            f"{where}: {printable(text)}: {printable(metric)} is not in picoseconds: "
            "a number without a unit"
        )
    factor = _PS[match["unit"]] if match["unit"] else 1
    number = Decimal(match["number"])
    last = Decimal(1).scaleb(min(int(number.as_tuple().exponent), 0))
    if not math.isfinite(float(number) * factor):
        raise UsageError(f"{where}: {printable(text)}: too large")
    return float(number) * factor, float(last) * factor


def _error(where: str, text: str, metric: str, value: float) -> float | None:
    """The standard deviation as a fraction of the value."""
    if not text:
        return None
    if text.endswith("%"):
        match = _NUMBER.fullmatch(text)
        part = float(match["number"]) / 100 if match else 0.0
    else:
        part = _value(where, text, metric)[0] / value
    if not 0 < part < math.inf:
        raise UsageError(f"{where}: error {printable(text)}: expected as in 20 or 2%, above 0")
    return part
