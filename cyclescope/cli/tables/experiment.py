"""An experiment's results as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.bench import influence, pivots, trust
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.uncertainty import LEVEL_PCT
from cyclescope.board.description.parameters import Parameter
from cyclescope.cli.tables.columns import Fitted
from cyclescope.units import count

MOST_OFF = 20


def experiment_table(result: ExperimentResult) -> Group:
    """An experiment's rows: published, simulated, error, basis; its source and notes below.

    Rows that a pivot summarizes are in separate tables.
    """
    title = f"{result.name}: {result.title}"
    table = Fitted(title=title, title_justify="left")
    table.add_column("row", is_name=True)
    table.add_column("settings", overflow="fold", goes=1)
    for heading in ("published", "simulated", "error"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("plausible", justify="right", no_wrap=True, goes=3)
    table.add_column("basis", no_wrap=True, goes=2)
    for row in pivots.loose(result.rows):
        table.add_row(
            row.label,
            " ".join(f"{name}={value}" for name, value in row.shown_settings.items()),
            "" if row.published is None else f"{row.published} {row.unit}",
            f"{row.simulated} {row.unit}",
            "" if row.error_pct is None else f"{row.error_pct:+.1f} %",
            pivots.format_interval(row),
            row.basis,
        )
    shown = [part for pivot in pivots.tables(result.rows) for part in _pivot(pivot)]
    is_shown = table.row_count or not shown
    first: RenderableType = table if is_shown else Text(title, style="italic")
    source = Text(f"published: {result.source}")
    notes = (*result.notes, *filter(None, (result.lacks,)))
    return Group(first, *shown, source, *_rests_on(result), *map(Text, notes))


def _rests_on(result: ExperimentResult) -> Iterator[Text]:
    """The basis of an experiment's published numbers, and the omissions of the model."""
    found = trust.of(result)
    if not found.published or result.exact:
        return
    yield Text(
        f"{count(found.published, 'published number')}, {found.effective} of them independent: "
        f"{found.predicted} predicted, {found.calibrated} calibrated; "
        f"{found.inside} lie in the {LEVEL_PCT} % interval of all that is plausible."
    )
    if found.fitted:
        yield Text(f"calibrated: {len(found.fitted)} to {found.effective} independent numbers:")
    for _, parameter in found.fitted:
        value = f"{parameter.value} {parameter.unit}".strip()
        moved = influence.load().moved(result.name, names(parameter))
        cells = sum(abs(pct) > influence.MOST_PCT for pct in moved.values())
        yield Text(
            f"  {parameter.owner}: {parameter.property_name} = {value} "
            f"(moves {count(cells, 'cell')} by more than {influence.MOST_PCT:g} %): "
            f"{parameter.source}"
        )
    if result.left_out:
        yield Text("not modelled, by the estimated effect:")
    for omission in result.left_out:
        yield Text(
            f"  {omission.effect_pct:g} % of {omission.cells}: {omission.what}: {omission.why}"
        )


def names(parameter: Parameter) -> tuple[str, ...]:
    """The names of a parameter, or a choice, in the table of influence."""
    owners = parameter.owner.split(", ")
    return (
        f"{parameter.owner}: {parameter.property_name}",
        *(f"{owner}.{parameter.property_name}" for owner in owners),
    )


def _pivot(pivot: pivots.Table) -> Iterator[Table | Text]:
    """A table of groups, a sentence on all of them, and the rows with the largest errors."""
    table = Fitted(title=pivot.full_title, title_justify="left")
    table.show_footer = bool(pivot.whole.published)
    for number, name in enumerate(pivot.line_headings):
        table.add_column(name, footer="" if number else pivot.total_name, no_wrap=True)
    columns = zip(pivot.headings, pivot.total, strict=True)
    for number, (heading, group) in enumerate(columns):
        # the other groups are compared with the first
        goes = len(pivot.headings) - number if number else None
        table.add_column(heading, footer=group.total, justify="right", goes=goes)
    for names, groups in pivot.lines:
        table.add_row(*names, *(group.text for group in groups))
    yield table
    yield Text(pivot.summary)
    off = pivot.furthest_off
    for row in off[:MOST_OFF]:
        settings = " ".join(f"{name}={value}" for name, value in row.shown_settings.items())
        simulated = f"{row.simulated} {row.unit}".strip()
        yield Text(
            f"  off: {row.label}: published {row.published}, simulated {simulated}, "
            f"{pivots.percent(row.error_pct)} ({row.board} {settings})"
        )
    if len(off) > MOST_OFF:
        yield Text(f"  and {len(off) - MOST_OFF:,} more: see results.csv")
