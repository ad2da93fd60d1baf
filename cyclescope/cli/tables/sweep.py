"""A sweep's result on a terminal: its rows, effects of settings, rows worth their price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.cli.tables.columns import Fitted
from cyclescope.sweeps import SweepResult, SweepRow, effects, words
from cyclescope.sweeps.designs import GRID
from cyclescope.units import count, rounded

# At most this many rows are shown, the best ones; the files have all.
_MOST_ROWS = 40
_BEST = 12
_MOST_REASONS = 5


def screen(result: SweepResult) -> Iterator[RenderableType]:
    """A sweep's result in tables, by the first of its metrics."""
    found = [row for row in result.rows if row.error is None]
    if found:
        yield from _rows(result, found)
        yield from _effects(result)
        yield from _pareto(result)
    yield from _failures(result)


def _rows(result: SweepResult, rows: Sequence[SweepRow]) -> Iterator[RenderableType]:
    metric = result.metrics[0]
    title = words.target(result)
    shown = list(rows)
    if len(shown) > _MOST_ROWS:
        best = sorted(shown, key=lambda row: result.badness(row, metric))[:_BEST]
        title += f": the best {len(best)} of {len(shown):,} rows by {metric}"
        shown = best
    yield Text(title)
    yield _table(result, shown)
    if len(rows) > 1 and (guess := words.guess(result, metric)):
        yield Text(f"{guess}\n")


def _table(result: SweepResult, rows: Sequence[SweepRow]) -> Table:
    table = Fitted(box=box.SIMPLE_HEAD, pad_edge=False)
    headings = _varied(result)
    for setting in headings.values():
        table.add_column(Text(setting), justify="right", overflow="fold")
    if result.is_priced:
        table.add_column("price", justify="right", no_wrap=True)
    for number, name in enumerate(result.metrics):
        # the first metric is the one to compare
        goes = len(result.metrics) - number if number else None
        heading = Text(words.with_unit(result, name))
        table.add_column(heading, justify="right", overflow="fold", goes=goes)
    best = result.best()
    for row in rows:
        settings = [Text(words.value(row.settings.get(name, ""))) for name in headings]
        price = [f"{row.price or 0:g}"] if result.is_priced else []
        values = [words.number(row, name) for name in result.metrics]
        table.add_row(*settings, *price, *values, style="bold" if row is best else "")
    return table


def _effects(result: SweepResult) -> Iterator[RenderableType]:
    found = effects(result)
    if not found.effects:
        return
    yield Text(f"effects on {found.metric}")
    table = Fitted(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("setting", is_name=True)
    for heading in ("alone", "with others") if found.has_totals else ("part of the variance",):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("best at", overflow="fold")
    table.add_column("worst at", overflow="fold", goes=1)
    for effect in found.effects:
        parts = [words.part(effect.first, effect.first_error)]
        if found.has_totals:
            parts.append(words.part(effect.total or 0.0, effect.total_error))
        best = f"{words.value(effect.best)} (mean {rounded(effect.best_mean, 4)})"
        worst = f"{words.value(effect.worst)} (mean {rounded(effect.worst_mean, 4)})"
        table.add_row(Text(words.short(effect.name)), *parts, Text(best), Text(worst))
    yield table
    if found.note:
        yield Text(found.note)
    elif result.design.kind == GRID and len(found.effects) > 1:
        yield Text(f"Interactions of settings: {found.rest:.1%} of the variance.\n")


def _pareto(result: SweepResult) -> Iterator[RenderableType]:
    if result.is_priced and (worth := result.pareto()):
        yield Text(f"worth their price: no cheaper row has as good a {result.metrics[0]}")
        yield _table(result, worth)


def _failures(result: SweepResult) -> Iterator[RenderableType]:
    """Reasons of failed runs, each once with the number of its runs."""
    reasons = Counter(row.error or "" for row in result.failures)
    for reason, times in reasons.most_common(_MOST_REASONS):
        first = next(row for row in result.failures if row.error == reason)
        settings = words.settings(first.settings)
        more = f" and {count(times - 1, 'other')}" if times > 1 else ""
        yield Text(f"failed: {settings}{more}: {reason}")
    if len(reasons) > _MOST_REASONS:
        yield Text(f"failed: {len(reasons) - _MOST_REASONS} more reasons: see the files")


def _varied(result: SweepResult) -> dict[str, str]:
    """The settings that differ between rows, with headings: the last word if it is unambiguous."""
    names = [
        name
        for name in result.columns
        if len({repr(row.settings.get(name)) for row in result.rows}) > 1
    ]
    last = Counter(name.rpartition(".")[2] for name in names)
    return {
        name: words.short(name.rpartition(".")[2] if last[name.rpartition(".")[2]] == 1 else name)
        for name in names or result.columns
    }
