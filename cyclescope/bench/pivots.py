"""Pivots with their rows: rows that share a place in a table, summarised in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.board.description.parameters import CALIBRATED
from cyclescope.board.results import Value

ABSENT = "\N{EN DASH}"
# The fields of a table's line under the names of its pivot.
_Line = tuple[Value | None, ...]
# The errors up to which measured numbers count as close, and as still the same thing.
CLOSE_PCT, FAR_PCT = 10, 25


@dataclass(frozen=True)
class Group:
    """Rows that share a place in a table; the pivot says how to show them."""

    rows: tuple[Row, ...]
    pivot: Pivot

    @property
    def values(self) -> bool:
        """Whether rows are shown one by one, by their values."""
        return self.pivot.values

    @property
    def published(self) -> tuple[Row, ...]:
        """The rows with a published number."""
        return tuple(row for row in self.rows if row.published is not None)

    @property
    def off(self) -> tuple[Row, ...]:
        """The rows whose published number is not met exactly."""
        return tuple(row for row in self.published if not row.is_exact)

    @property
    def is_far_off(self) -> bool:
        """Whether it deserves a look: any number not met, or of values one that is not close."""
        return self.within(CLOSE_PCT) < len(self.published) if self.values else bool(self.off)

    @property
    def text(self) -> str:
        """A few words: how many are exact or how far the worst is off; a single number itself.

        Rows without a published number count only if no row has one.
        """
        if not self.rows:
            return ""
        if self.values:
            return "; ".join(shown(row, self.pivot) for row in self.rows)
        if self.off:
            return f"{len(self.off)} of {len(self.published)} off, {percent(self.worst)}"
        if self.published:
            return f"{len(self.published)} exact"
        return str(self.rows[0].simulated) if len(self.rows) == 1 else f"({len(self.rows)})"

    @property
    def total(self) -> str:
        """The words for a column as a whole."""
        if not self.values:
            return self.text
        return f"{self.within(CLOSE_PCT)} of {len(self.published)}" if self.published else ""

    def within(self, most_pct: float) -> int:
        """How many published numbers are met within an error; a published 0 only exactly."""
        errors = [0 if row.is_exact else row.error_pct for row in self.published]
        return sum(error is not None and abs(error) <= most_pct for error in errors)

    @property
    def worst(self) -> float | None:
        """The largest error in percent; None if no number is off or has an error in percent."""
        errors = [row.error_pct for row in self.off if row.error_pct is not None]
        return max(errors, key=abs, default=None)


@dataclass(frozen=True)
class Table:
    """A pivot with its rows: its columns' headings, and lines with a heading and a group a column.

    `line_headings` and `column_headings` are the headings before the lines and above the columns.
    """

    title: str
    line_headings: tuple[str, ...]
    column_headings: tuple[str, ...]
    headings: tuple[str, ...]
    lines: tuple[tuple[tuple[str, ...], tuple[Group, ...]], ...]
    total: tuple[Group, ...]
    whole: Group

    @property
    def full_title(self) -> str:
        """The title, with the columns' meaning; titles of values state it themselves."""
        if not self.whole.values:
            return f"{self.title}, by {', '.join(self.column_headings)}"
        suffix = ": simulated (published, error)" if self.whole.published else ""
        return f"{self.title}{suffix}"

    @property
    def total_name(self) -> str:
        """The heading of the last line."""
        return f"within {CLOSE_PCT} %" if self.whole.values else "total"

    @property
    def furthest_off(self) -> list[Row]:
        """The rows that deserve a line, the largest error first.

        These are the rows whose published number is not met; of values, those that are not close.
        """
        least = CLOSE_PCT if self.whole.values else 0
        off = [row for row in self.whole.off if abs(row.error_pct or 0) >= least]
        return sorted(off, key=lambda row: -abs(row.error_pct or 0))

    @property
    def summary(self) -> str:
        """One sentence on all of its rows."""
        published, off = len(self.whole.published), len(self.whole.off)
        beyond = len(self.whole.rows) - published
        if not published:
            return f"{beyond:,} rows, none with a published number."
        if self.whole.values:
            return self._closeness(published)
        text = f"{published - off:,} of {published:,} published numbers are met exactly"
        if off:
            text += f"; the furthest off is {percent(self.whole.worst)}"
        return f"{text}." + (f" {beyond:,} more rows have none." if beyond else "")

    def _closeness(self, published: int) -> str:
        if not self.whole.off:
            return f"{published:,} of {published:,} published numbers are met exactly."
        close, near = (self.whole.within(limit) for limit in (CLOSE_PCT, FAR_PCT))
        text = f"{close:,} of {published:,} published numbers are met within {CLOSE_PCT} %"
        if near > close:
            text += f", {near:,} within {FAR_PCT} %"
        worst = self.whole.worst
        return f"{text}." if worst is None else f"{text}; the furthest off is {worst:+.1f} %."


def tables(rows: Iterable[Row]) -> list[Table]:
    """The tables of all rows that have a pivot, in the order of their first rows."""
    by_pivot: dict[Pivot, list[Row]] = {}
    for row in rows:
        if row.pivot is not None:
            by_pivot.setdefault(row.pivot, []).append(row)
    return [_table(pivot, found) for pivot, found in by_pivot.items()]


def loose(rows: Iterable[Row]) -> list[Row]:
    """The rows that are shown one by one."""
    return [row for row in rows if row.pivot is None]


def value_of(row: Row, name: str) -> Value | None:
    """A row's value of a name: a setting, its board, metric or label."""
    own: dict[str, Value] = {"board": row.board, "metric": row.metric, "label": row.label}
    return own[name] if name in own else row.settings.get(name)


def in_words(words: Iterable[Words], name: str, value: Value | None) -> str:
    """The words for a row's value of a name; a dash if it has no value."""
    if value is None:
        return ABSENT
    return next((word.of(value) for word in words if word.name == name), str(value))


def format_interval(row: Row) -> str:
    """The interval of the simulated value over all assumed values, in percent: "-3 to +5 %"."""
    if row.interval_pct is None:
        return ""
    # a value that is rounded to 0 has no sign
    low, high = (round(end, 1) + 0.0 for end in row.interval_pct)
    return f"{low:+.1f} to {high:+.1f} %"


def percent(value: float | None) -> str:
    """An error with three decimal places, which rows that are nearly exact need."""
    return "" if value is None else f"{value:+.3f} %"


def shown(row: Row, pivot: Pivot) -> str:
    """A value with the published one and the error, without its unit, which the title has."""
    simulated = pivot.shown(row.simulated)
    if row.published is None:
        return simulated
    published = pivot.shown(row.published) if row.digits is None else row.printed
    error = (
        "as printed"
        if row.digits and row.is_exact
        else "exact"
        if row.is_exact
        else f"{row.error_pct:+.1f} %"
        if row.error_pct is not None
        else "not met"
    )
    fitted = ", calibrated" if row.basis == CALIBRATED else ""
    return f"{simulated} ({published}, {error}{fitted})"


def _table(pivot: Pivot, rows: Sequence[Row]) -> Table:
    places: dict[tuple[_Line, str], list[Row]] = {}
    for row in rows:
        line = tuple(value_of(row, name) for name in pivot.lines)
        column = " ".join(
            in_words(pivot.words, name, value_of(row, name)) for name in pivot.columns
        )
        places.setdefault((line, column), []).append(row)

    def group(found: Iterable[Row]) -> Group:
        return Group(tuple(found), pivot)

    def texts(line: _Line) -> tuple[str, ...]:
        return tuple(map(partial(in_words, pivot.words), pivot.lines, line))

    lines = list(dict.fromkeys(line for line, _ in places))
    if pivot.values:
        lines = _by_number(lines)
    columns = tuple(dict.fromkeys(column for _, column in places))
    return Table(
        title=pivot.title,
        line_headings=_headings(pivot, pivot.lines),
        column_headings=_headings(pivot, pivot.columns),
        headings=columns,
        lines=tuple(
            (texts(line), tuple(group(places.get((line, column), ())) for column in columns))
            for line in lines
        ),
        total=tuple(
            group(row for line in lines for row in places.get((line, column), ()))
            for column in columns
        ),
        whole=group(rows),
    )


def _by_number(lines: list[_Line]) -> list[_Line]:
    """Lines in the order of the numbers at their ends, otherwise in their previous order."""
    groups = list(dict.fromkeys(line[:-1] for line in lines))
    if not all(isinstance(line[-1], int | float) for line in lines):
        return lines
    return sorted(lines, key=lambda line: (groups.index(line[:-1]), line[-1]))


def _headings(pivot: Pivot, names: Iterable[str]) -> tuple[str, ...]:
    called = {word.name: word.heading for word in pivot.words}
    return tuple(called.get(name, name) for name in names)
