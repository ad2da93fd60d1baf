"""What the report says, in its order: how far to trust it, then a section an experiment."""

from __future__ import annotations

import importlib.metadata
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import jinja2
from markupsafe import Markup

from cyclescope import trust, views
from cyclescope.report import colours, figures, stacks, sweeps, wires
from cyclescope.report.colours import Style
from cyclescope.report.figures import NamedRow
from cyclescope.report.stacks import Panel
from cyclescope.report.text import count, plain, row_names, setting_text, signed_percent
from cyclescope.results import ExperimentResult, Row, RunRecord
from cyclescope.units import format_ps

# Of more rows that are off a table says how many there are.
_MOST_OFF = 200
_WHOLE_RUNS = "Where the time of whole runs went"


@dataclass(frozen=True)
class StackFigure:
    """A plot of cycle stacks with its legend, and the same as numbers."""

    svg: Markup
    panel: Panel
    legend: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Part:
    """Rows that are shown together: those with a published value, those beyond, or whole runs.

    Whole runs have a stack each and no bars: tables have their values.
    """

    title: str
    published: bool
    bars: tuple[Markup, ...]
    stack: StackFigure | None


@dataclass(frozen=True)
class Section:
    """An experiment as the template takes it: `rows` are those that are shown one by one."""

    result: ExperimentResult
    rows: tuple[Row, ...]
    pivots: tuple[views.Table, ...]
    sweeps: tuple[sweeps.Plot, ...]
    frames: wires.Plot | None
    parts: tuple[Part, ...]
    transcripts: tuple[RunRecord, ...]
    notes: Mapping[str, tuple[str, ...]]
    trust: trust.Trust

    @property
    def boards(self) -> tuple[str, ...]:
        """The boards of its runs."""
        return tuple(dict.fromkeys(run.board for run in self.result.runs))

    @property
    def leads_with_rows(self) -> bool:
        """Whether its published numbers are in rows, and not in tables of groups."""
        in_tables = any(pivot.whole.published for pivot in self.pivots)
        return not in_tables and any(row.published is not None for row in self.rows)


def render(results: Sequence[ExperimentResult]) -> str:
    """The whole report as HTML."""
    panels = [_panels(result) for result in results]
    styles = colours.styles(_shown(panel) for found in panels for _, _, panel in found if panel)
    sections = [
        _section(result, found, styles) for result, found in zip(results, panels, strict=True)
    ]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("cyclescope.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "plain": plain,
        "percent": signed_percent,
        "fine_percent": views.percent,
        "time": format_ps,
        "quantity": lambda parameter: f"{parameter.value} {parameter.unit}".strip(),
        "count": count,
        "setting": lambda item: setting_text(*item),
    }
    return environment.get_template("page.html.j2").render(
        sections=sections,
        trust=trust.overall(results),
        most_off=_MOST_OFF,
        light=colours.values(dark=False),
        dark=colours.values(dark=True),
        version=importlib.metadata.version("cyclescope"),
    )


def _panels(result: ExperimentResult) -> list[tuple[str, list[NamedRow], Panel | None]]:
    """Published rows and those beyond, each with a title and its panel of stacks."""
    rows = views.loose(result.rows)
    published = _named([row for row in rows if row.published is not None])
    beyond = _named([row for row in rows if row.published is None])
    parts = {
        "Published and simulated": published,
        "Beyond the document" if published else "Simulated": beyond,
        _WHOLE_RUNS: _named(_timed_runs(result.rows)),
    }
    return [
        (title, rows, stacks.panel([(row.name, row.row.stack) for row in rows]))
        for title, rows in parts.items()
        if rows
    ]


def _timed_runs(rows: Sequence[Row]) -> list[Row]:
    """Of the rows in tables, one for each run and the functions that it timed.

    A run that measured in many settings has one stack for all of them.
    """
    found: dict[tuple[int, tuple[str, ...]], Row] = {}
    for row in rows:
        if row.pivot is not None and row.timed:
            whole = replace(row, label=" + ".join(row.timed), settings=row.run.settings)
            found.setdefault((id(row.run), row.timed), whole)
    return list(found.values())


def _named(rows: Sequence[Row]) -> list[NamedRow]:
    return list(map(NamedRow, rows, row_names(rows)))


def _shown(panel: Panel) -> list[tuple[str, int]]:
    return [
        (cause, row.ps_of(cause))
        for row in panel.rows
        for cause in panel.causes
        if cause != colours.OTHER
    ]


def _section(
    result: ExperimentResult,
    panels: Sequence[tuple[str, list[NamedRow], Panel | None]],
    styles: Mapping[str, Style],
) -> Section:
    published = [run for run in result.runs if _has_published(result, run)]
    return Section(
        result=result,
        rows=tuple(views.loose(result.rows)),
        pivots=tuple(views.tables(result.rows)),
        sweeps=tuple(sweeps.plots(result)),
        frames=wires.plot(result),
        parts=tuple(
            _part(f"{result.name}-{number}", title, rows, panel, styles)
            for number, (title, rows, panel) in enumerate(panels)
        ),
        transcripts=tuple(
            run for run in published or result.runs if run.result and run.result.console
        ),
        notes=_notes(result),
        trust=trust.of(result),
    )


def _has_published(result: ExperimentResult, run: RunRecord) -> bool:
    return any(row.run is run and row.published is not None for row in result.rows)


def _part(
    prefix: str,
    title: str,
    rows: Sequence[NamedRow],
    panel: Panel | None,
    styles: Mapping[str, Style],
) -> Part:
    shown = () if title == _WHOLE_RUNS else rows
    by_unit = itertools.groupby(sorted(shown, key=_unit), key=_unit)
    bars = tuple(
        figures.comparison(list(group), f"{prefix}-bars-{number}", f"{title}, {unit}")
        for number, (unit, group) in enumerate(by_unit)
    )
    published = any(named.row.published is not None for named in shown)
    if panel is None:
        return Part(title, published, bars, None)
    drawn = figures.stacks(panel, styles, f"{prefix}-stacks", f"{title}: time by cause")
    legend = tuple((cause, styles[cause].css_class) for cause in panel.causes)
    return Part(title, published, bars, StackFigure(drawn, panel, legend))


def _unit(named: NamedRow) -> str:
    return named.row.unit


def _notes(result: ExperimentResult) -> dict[str, tuple[str, ...]]:
    """What the runs noted, each note once, with the runs that did."""
    notes: dict[str, list[str]] = {}
    for run in result.runs:
        for note in run.result.notes if run.result else ():
            notes.setdefault(note, []).append(run.label)
    return {note: tuple(labels) for note, labels in notes.items()}
