"""Tables of rows for blocks, from docs/results.csv.

    experiments                             the errors of each experiment's published numbers
    rows EXPERIMENT [METRIC ...]            a line for each published number
    grid EXPERIMENT METRIC[,METRIC ...] rows=NAME[,NAME] columns=NAME[,NAME]
                                            a cell for each: "simulated (error)"

A NAME is a setting, or metric, board or label. `unit=ms` turns times into that unit, and
`unit=MB/s` rates; `digits=4` rounds. A grid also takes

    show=all                    published, simulated and error in columns of their own
    where=NAME=VALUE,...        only rows with these settings
    order=VALUE,...             first the lines and columns with these values, in this order
    call:VALUE=WORDS            another name for a value or a heading; `_` is a space
    published                   only columns with a published number; else also those whose cells
                                have one row each
    unpublished                 also lines without a published number
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import figures
import keys
from figures import ABSENT
from keys import Source, UnknownKeyError

from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import DERIVED, Row
from cyclescope.bench.trust import Trust, overall

# The README's text about an experiment, after its link.
ABOUT = {
    "picosoc-xip": ("picosoc", "programs from SPI flash, against the SoC's RTL"),
    "quad-spi-throughput": ("quad-spi-throughput", "SPI flash on a KC705"),
    "fat-write": ("fat-write", "FatFs on an SD card"),
    "rhealstone": ("rhealstone", "FreeRTOS from QSPI, SRAM, DDR3L on a SAMA5D2"),
    "bitbang-spi": ("bitbang-spi", "SPI drivers on GPIO pins, Ben NanoNote"),
    "rpmsg-tty": ("rpmsg-tty", "messages between the cores of an STM32MP157"),
    "thread-metric": ("thread-metric", "FreeRTOS on an STM32L4 at 80 MHz from flash"),
    "a-rules": ("cortex-a", "instructions of a Cortex-A5 and A7, against sums by hand"),
    "m4-rules": ("cortex-m4", "instructions of a Cortex-M4, against sums by hand"),
}
_ESCAPED = "\\|"
_SHOWN = ("published", "simulated", "error")


def table(headings: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; all but the first `left` columns, and the basis, are on the right."""
    rules = [
        "---" if number < left or heading == "basis" else "---:"
        for number, heading in enumerate(headings)
    ]
    texts = [" | ".join(cell.replace("|", "\\|") for cell in line) for line in (headings, *lines)]
    return "\n".join(
        [f"| {texts[0]} |", f"|{'|'.join(rules)}|", *(f"| {one} |" for one in texts[1:])]
    )


@dataclass(frozen=True)
class Arguments:
    """The words of a marker: plain ones, and those that give a name a value."""

    plain: tuple[str, ...]
    named: dict[str, str]
    calls: dict[str, str]

    def names(self, name: str) -> list[str]:
        """The names that an argument lists. Raises `UnknownKeyError` if it is absent."""
        if name not in self.named:
            raise UnknownKeyError(f"no {name}=")
        return self.named[name].split(",")

    @property
    def digits(self) -> int | None:
        """The number of significant digits of values; None for all."""
        text = self.named.get("digits")
        if text is not None and not text.isdigit():
            raise UnknownKeyError(f"digits={text}: not a number")
        return int(text) if text else None

    def per(self, row: Row) -> float:
        """The divisor that converts a row's values to the wanted unit."""
        try:
            return figures.scale(row.unit, self.named["unit"]) if "unit" in self.named else 1
        except ValueError as error:
            raise UnknownKeyError(f"{row.label}: {error}") from error

    def ordered(self, places: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """Lines or columns, those of the values in `order` first."""
        first = self.named.get("order", "").split(",")
        last = len(first)
        return sorted(
            places,
            key=lambda one: [first.index(value) if value in first else last for value in one],
        )

    def called(self, value: Any) -> str:
        """A value in the words of the table's readers."""
        return self.calls.get(str(value), str(value))


def arguments(words: Sequence[str], known: Sequence[str]) -> Arguments:
    """A marker's words. Raises `UnknownKeyError` for a name that is not among the known ones."""
    plain, named, calls = [], {}, {}
    for word in words:
        name, equals, value = word.partition("=")
        if name.startswith("call:"):
            calls[name.removeprefix("call:")] = value.replace("_", " ")
        elif not equals:
            plain.append(word)
        elif name in known:
            named[name] = value
        else:
            raise UnknownKeyError(f"no argument {name}=; there are {', '.join(known)}")
    return Arguments(tuple(plain), named, calls)


def experiment(source: Source, name: str) -> ExperimentResult:
    """An experiment by its name."""
    known = source.experiments
    if name not in known:
        raise UnknownKeyError(f"no experiment {name!r}{keys.similar(name, known)}")
    return known[name]


# ---- all experiments


def experiments(source: Source, words: Sequence[str]) -> str:
    """The experiments with published numbers, with links relative to the page's folder.

    `columns=N` keeps the first N.
    """
    asked = arguments(words, ("pages", "columns"))
    folder = asked.named.get("pages", "")
    headings = (
        "experiment",
        "published numbers",
        "independent",
        "within 10 %",
        "largest error",
        "predicted",
        "calibrated",
        "fitted values",
        "inside the 90 % interval",
    )
    lines = []
    for result in source.results.published:
        page, about = ABOUT[result.name]
        named = f"[{result.name}]({folder}{page}.md): {about}"
        lines.append((named, *_counts(overall([result]))))
    kept = int(asked.named.get("columns", len(headings)))
    return table(headings[:kept], [line[:kept] for line in lines])


def _counts(found: Trust) -> tuple[str, ...]:
    measured = keys.is_measured(found)
    worst = keys.count(found, "worst")
    return (
        str(found.published),
        str(found.effective),
        str(found.within(10)),
        worst,
        str(found.predicted) if measured else ABSENT,
        str(found.calibrated) if measured else ABSENT,
        str(len(found.fitted)),
        f"{found.inside} of {found.with_interval}" if found.with_interval else ABSENT,
    )


# ---- one experiment


def _published(result: ExperimentResult, metrics: Sequence[str]) -> list[Row]:
    known = dict.fromkeys(row.metric for row in result.rows)
    for metric in metrics:
        if metric not in known:
            similar = keys.similar(metric, known)
            raise UnknownKeyError(f"{result.name}: no metric {metric!r}{similar}")
    rows = [row for row in result.rows if row.published is not None and row.basis != DERIVED]
    return [row for row in rows if not metrics or row.metric in metrics]


def rows(source: Source, words: Sequence[str]) -> str:
    """A line for each published number of an experiment."""
    asked = arguments(words, ("unit", "digits"))
    if not asked.plain:
        raise UnknownKeyError("rows: no experiment")
    found = _published(experiment(source, asked.plain[0]), asked.plain[1:])
    with_interval = any(row.interval for row in found)
    headings = ["row", "published", "simulated", "error", "plausible", "basis"]
    lines = [_line(row, asked) for row in found]
    if not with_interval:
        headings.remove("plausible")
        lines = [[*line[:4], *line[5:]] for line in lines]
    return table(headings, lines)


def _line(row: Row, asked: Arguments) -> list[str]:
    per, unit = asked.per(row), asked.named.get("unit", row.unit)
    unit = "" if unit == row.metric else unit
    published = row.printed if row.digits else figures.shown(row.published or 0, per, asked.digits)
    simulated = figures.shown(row.simulated, per, asked.digits)
    return [
        asked.called(row.label),
        f"{published} {unit}".rstrip(),
        f"{simulated} {unit}".rstrip(),
        figures.error(row),
        figures.interval(row, per),
        row.basis,
    ]


def grid(source: Source, words: Sequence[str]) -> str:
    """An experiment's numbers by some settings down and others across."""
    asked = arguments(words, ("rows", "columns", "where", "order", "show", "unit", "digits"))
    if len(asked.plain) < 2:
        raise UnknownKeyError("grid: EXPERIMENT METRIC rows=NAME columns=NAME")
    result = experiment(source, asked.plain[0])
    metrics = asked.plain[1].split(",")
    _published(result, metrics)
    found = [row for row in result.rows if row.metric in metrics and _is_asked(row, asked)]
    down, across = asked.names("rows"), asked.names("columns")
    _check_names(found, (*down, *across))
    groups: dict[tuple[str, ...], dict[tuple[str, ...], list[Row]]] = {}
    for row in found:
        line = groups.setdefault(_place(row, down), {})
        line.setdefault(_place(row, across), []).append(row)
    lines = {
        name: groups[name] for name in asked.ordered(groups) if _is_wanted(groups[name], asked)
    }
    places = asked.ordered(dict.fromkeys(name for line in lines.values() for name in line))
    columns = [
        one for one in places if _is_column([line.get(one, []) for line in lines.values()], asked)
    ]
    if asked.named.get("show") == "all":
        return _wide(lines, columns, down, asked)
    headings = [*(asked.called(name) for name in down), *(_heading(one, asked) for one in columns)]
    cells = [
        [*map(asked.called, name), *(_cell(line.get(one, []), asked) for one in columns)]
        for name, line in lines.items()
    ]
    return table(headings, cells, left=len(down))


def _is_asked(row: Row, asked: Arguments) -> bool:
    if "where" not in asked.named:
        return True
    wanted = (one.partition("=") for one in asked.named["where"].split(","))
    return all(str(keys.setting(row, name)) == value for name, _, value in wanted)


def _check_names(found: Sequence[Row], names: Iterable[str]) -> None:
    for name in names:
        if all(keys.setting(row, name) is None for row in found):
            known = keys.settings(found)
            raise UnknownKeyError(f"no row has a setting {name!r}{keys.similar(name, known)}")


def _place(row: Row, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(keys.setting(row, name)) for name in names)


def _is_wanted(line: dict[tuple[str, ...], list[Row]], asked: Arguments) -> bool:
    found = (row for some in line.values() for row in some)
    return "unpublished" in asked.plain or any(row.published is not None for row in found)


def _is_column(cells: Sequence[Sequence[Row]], asked: Arguments) -> bool:
    """Whether a column belongs to the table: not if it has only rows of a larger sweep."""
    if any(row.published is not None for found in cells for row in found):
        return True
    return "published" not in asked.plain and all(len(found) <= 1 for found in cells)


def _heading(place: Sequence[str], asked: Arguments) -> str:
    return asked.calls.get(" ".join(place), " ".join(map(asked.called, place)))


def _only(found: Sequence[Row]) -> Row | None:
    if not found:
        return None
    row = keys.only(found)
    if row is None:
        raise UnknownKeyError(
            f"{len(found)} rows are in one cell, as {found[0].label!r}: add where="
        )
    return row


def _cell(found: Sequence[Row], asked: Arguments) -> str:
    row = _only(found)
    if row is None:
        return ""
    value = figures.shown(row.simulated, asked.per(row), asked.digits)
    return value if row.error_pct is None else f"{value} ({figures.error(row)})"


def _wide(
    lines: dict[tuple[str, ...], dict[tuple[str, ...], list[Row]]],
    columns: Sequence[tuple[str, ...]],
    down: Sequence[str],
    asked: Arguments,
) -> str:
    """Published, simulated and error in separate columns; empty columns are left out."""
    headings = [f"{_heading(place, asked)}, {what}" for place in columns for what in _SHOWN]
    cells = [
        [text for place in columns for text in _three(line.get(place, []), asked)]
        for line in lines.values()
    ]
    kept = [number for number in range(len(headings)) if any(line[number] for line in cells)]
    return table(
        [*map(asked.called, down), *(headings[number] for number in kept)],
        [
            [*map(asked.called, name), *(line[number] for number in kept)]
            for name, line in zip(lines, cells, strict=True)
        ],
        left=len(down),
    )


def _three(found: Sequence[Row], asked: Arguments) -> tuple[str, str, str]:
    row = _only(found)
    if row is None:
        return "", "", ""
    simulated = figures.shown(row.simulated, asked.per(row), asked.digits)
    if row.published is None:
        return "", simulated, ""
    published = figures.shown(row.published, asked.per(row), asked.digits)
    error = "" if row.error_pct is None else figures.error(row)
    return row.printed if row.digits else published, simulated, error
