"""An experiment in the report: its plots and tables, and what it depends on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from cyclescope.bench import pivots, trust
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import DERIVED, Row, RunRecord, waits_of
from cyclescope.board.description.parameters import ASSUMED, CALIBRATED, UNSTATED, Parameter
from cyclescope.report import colours, figures, profiles, stacks, sweeps, timeline, wires
from cyclescope.report.colours import Style
from cyclescope.report.figures import NamedRow
from cyclescope.report.stacks import Panel
from cyclescope.report.sweeps import Plot as SweepPlot
from cyclescope.report.text import RowName, row_names

_WHOLE_RUNS = "Whole runs"
_TIMED_CALLS = "Timed calls"
_IN_SHORT = "A shorter run, explained"
# Tables have the values of the first two; the last is not a result.
_STACKS_ALONE = (_WHOLE_RUNS, _TIMED_CALLS, _IN_SHORT)
# The name of a run that measured the rows of a part.
_WHOLE_RUN = "whole run"
# Bases of parameters that no document states directly.
_ASSUMED = (CALIBRATED, "override", ASSUMED, UNSTATED)
# The most rows of a long table in a preview.
_MOST_PREVIEWED = 12


@dataclass(frozen=True)
class StackFigure:
    """A plot of cycle stacks with its legend, and its numbers."""

    svg: Markup
    panel: Panel
    legend: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Part:
    """Rows that are shown together: with a published value, without one, or those of tables.

    `waits` are the waits of their time, `stack` its causes. Rows of tables have no bars, as the
    tables have their values; `is_whole` says that one run measured all its calls together.
    """

    title: str
    published: bool
    bars: tuple[Markup, ...]
    waits: StackFigure | None
    stack: StackFigure | None

    @property
    def is_whole(self) -> bool:
        """Whether its stacks are those of whole runs."""
        return self.title == _WHOLE_RUNS


@dataclass(frozen=True)
class Panels:
    """Rows that are shown together, before they are drawn: their waits, and their stacks.

    `flames` are the addresses of their flame graphs.
    """

    title: str
    rows: list[NamedRow]
    waits: Panel | None
    stack: Panel | None
    flames: Mapping[RowName, str]


@dataclass(frozen=True)
class Section:
    """An experiment as the templates take it.

    `rows` are those that are shown one by one, `grouped` those that tables of groups show.
    `preview` is the plot that represents it in the overview.
    """

    result: ExperimentResult
    rows: tuple[Row, ...]
    grouped: tuple[Row, ...]
    pivots: tuple[pivots.Table, ...]
    sweeps: tuple[SweepPlot, ...]
    moments: tuple[timeline.Plot, ...]
    frames: wires.Plot | None
    parts: tuple[Part, ...]
    transcripts: tuple[RunRecord, ...]
    notes: Mapping[str, tuple[str, ...]]
    trust: trust.Trust
    preview: SweepPlot | None

    @property
    def boards(self) -> tuple[str, ...]:
        """The boards of its runs."""
        return tuple(dict.fromkeys(run.board for run in self.result.runs))

    @property
    def leads_with_rows(self) -> bool:
        """Whether its published numbers are in rows, and not in tables of groups."""
        in_tables = any(pivot.whole.published for pivot in self.pivots)
        return not in_tables and any(row.published is not None for row in self.rows)

    @property
    def assumed(self) -> list[tuple[str, Parameter]]:
        """Values that no document settles: calibrated ones first, then assumed ones."""
        found = [(self.result.name, choice) for choice in self.result.choices]
        found += [pair for pair in self.trust.parameters if pair[1].basis in _ASSUMED]
        return sorted(found, key=lambda pair: _ASSUMED.index(pair[1].basis))


def panels(result: ExperimentResult) -> list[Panels]:
    """Published rows and the others, each group with a title and its panels."""
    rows = pivots.loose(result.rows)
    published = _named([row for row in rows if row.published is not None])
    beyond = _named([row for row in rows if row.published is None])
    parts = {
        "Published and simulated": published,
        "Beyond the document" if published else "Simulated": beyond,
        _TIMED_CALLS: _named(_timed_calls(result.rows)),
        _WHOLE_RUNS: _named(_timed_runs(result.rows)),
        _IN_SHORT: _named(_short_rows(result.in_short)),
    }
    return [_panels(title, rows) for title, rows in parts.items() if rows]


def _panels(title: str, rows: list[NamedRow]) -> Panels:
    wholes = _whole_runs(rows)
    waits = [(one.name, one.row.waits) for one in (*rows, *wholes) if one.row.waits]
    stack = stacks.panel([(row.name, row.row.stack) for row in rows])
    flames = {one.name: found for one in (*rows, *wholes) if (found := profiles.link(one.row))}
    return Panels(title, rows, stacks.panel(waits), stack, flames)


def _whole_runs(rows: Sequence[NamedRow]) -> list[NamedRow]:
    """The runs that divide the times of calls into parts: they have the waits of the whole run."""
    runs: dict[int, Row] = {}
    for row in (named.row for named in rows):
        if row.parts and not row.waits and row.basis != DERIVED:
            whole = replace(
                row,
                label=_WHOLE_RUN,
                settings=row.run.settings,
                metric="",
                waits=waits_of(row.run, ()),
            )
            runs.setdefault(id(row.run), whole)
    return _named(list(runs.values()))


def section(
    result: ExperimentResult, found: Sequence[Panels], styles: Mapping[str, Style]
) -> Section:
    """The section of an experiment, its cycle stacks in these styles.

    Waits have styles of the experiment: most of them are devices of its boards.
    """
    waits = colours.styles(shown(one.waits) for one in found if one.waits)
    published = [run for run in result.runs if _has_published(result, run)]
    return Section(
        result=result,
        rows=tuple(pivots.loose(result.rows)),
        grouped=tuple(row for row in result.rows if row.pivot is not None),
        pivots=tuple(pivots.tables(result.rows)),
        sweeps=tuple(sweeps.plots(result)),
        moments=tuple(timeline.plots(result)),
        frames=wires.plot(result),
        parts=tuple(
            _part(f"{result.name}-{number}", panels, waits, styles)
            for number, panels in enumerate(found)
        ),
        transcripts=tuple(
            run for run in published or result.runs if run.result and run.result.console
        ),
        notes=_notes(result),
        trust=trust.of(result),
        preview=_preview(result, found),
    )


def shown(panel: Panel) -> Iterator[tuple[str, int]]:
    """The causes of a panel's rows that have a colour of their own, with their times."""
    for row in panel.rows:
        for cause in panel.causes:
            if cause != colours.OTHER:
                yield cause, row.ps_of(cause)


def _timed_calls(rows: Sequence[Row]) -> list[Row]:
    """The rows in tables that timed one call, and have its stack."""
    return [row for row in rows if row.pivot is not None and row.timed and row.parts]


def _timed_runs(rows: Sequence[Row]) -> list[Row]:
    """Of the other rows in tables, one for each run and the functions that it timed.

    A run that measured with many settings has one stack for all of them.
    """
    found: dict[tuple[int, tuple[str, ...]], Row] = {}
    for row in rows:
        if row.pivot is not None and row.timed and not row.parts:
            whole = replace(
                row,
                label=" + ".join(row.timed),
                settings=row.run.settings,
                waits=waits_of(row.run, row.timed),
            )
            found.setdefault((id(row.run), row.timed), whole)
    return list(found.values())


def _short_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows of short forms that timed a function of their own, and each run once."""
    timed = [row for row in rows if row.parts or row.timed]
    whole = {id(row.run): row for row in rows if not (row.parts or row.timed)}
    wholes = (
        replace(row, label=_WHOLE_RUN, settings=row.run.settings, waits=waits_of(row.run, ()))
        for row in whole.values()
    )
    return (
        [row for row in timed if row.pivot is None]
        + _timed_calls(timed)
        + [
            *_timed_runs(timed),
            *wholes,
        ]
    )


def _named(rows: Sequence[Row]) -> list[NamedRow]:
    return list(map(NamedRow, rows, row_names(rows)))


def _has_published(result: ExperimentResult, run: RunRecord) -> bool:
    return any(row.run is run and row.published is not None for row in result.rows)


def _part(
    prefix: str, panels: Panels, waits: Mapping[str, Style], styles: Mapping[str, Style]
) -> Part:
    title = panels.title
    shown = () if title in _STACKS_ALONE else panels.rows
    by_unit = itertools.groupby(sorted(shown, key=_unit), key=_unit)
    bars = tuple(
        figures.comparison(list(group), f"{prefix}-bars-{number}", f"{title}, {unit}")
        for number, (unit, group) in enumerate(by_unit)
    )
    published = any(named.row.published is not None for named in shown)
    return Part(
        title,
        published,
        bars,
        stack_figure(panels.waits, waits, f"{prefix}-waits", f"{title}: waits", panels.flames),
        stack_figure(panels.stack, styles, f"{prefix}-stacks", f"{title}: causes", panels.flames),
    )


def stack_figure(
    panel: Panel | None,
    styles: Mapping[str, Style],
    prefix: str,
    title: str,
    flames: Mapping[RowName, str],
) -> StackFigure | None:
    """The plot of a panel in these styles with its legend; None without one."""
    if panel is None:
        return None
    drawn = figures.stacks(panel, styles, prefix, title, flames)
    legend = tuple((cause, styles[cause].css_class) for cause in panel.causes)
    return StackFigure(drawn, panel, legend)


def _unit(named: NamedRow) -> str:
    return named.row.unit


def _preview(result: ExperimentResult, found: Sequence[Panels]) -> sweeps.Plot | None:
    """Published rows come first: as bars if rows are shown one by one, else as lines."""
    parts = [(one.title, one.rows) for one in found if one.title not in _STACKS_ALONE]
    title, rows = next(iter(parts), ("", []))
    if not any(named.row.published is not None for named in rows):
        drawn = sweeps.preview(result)
        if drawn is not None or not rows:
            return drawn
    same = [named for named in rows if named.row.unit == rows[0].row.unit][:_MOST_PREVIEWED]
    return sweeps.Plot(title, figures.preview(same, f"{result.name}-preview", title))


def _notes(result: ExperimentResult) -> dict[str, tuple[str, ...]]:
    """The notes of runs, each once, with the runs that printed it."""
    notes: dict[str, list[str]] = {}
    for run in result.runs:
        for note in run.result.notes if run.result else ():
            notes.setdefault(note, []).append(run.label)
    return {note: tuple(labels) for note, labels in notes.items()}
