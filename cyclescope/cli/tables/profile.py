"""A profile as tables and text on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from typing import Literal

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from cyclescope.board.results import RunResult
from cyclescope.cli.tables.columns import Fitted
from cyclescope.profile import calls, tables
from cyclescope.profile.calls import Latency, Spread, Times
from cyclescope.profile.model import CoreProfile
from cyclescope.profile.profile import Profile
from cyclescope.profile.tables import Row
from cyclescope.units import format_hz, format_ps, format_share

_CAUSES = ("main cause", "main causes")
_WAITS = "waited for"
# Causes with at least this share of a row are named; on a narrow terminal only the largest.
_LEAST_SHARE = 0.1
_MOST_CAUSES = 3
_WIDE_COLUMNS = 150
_LARGE_CPI = 100
_BAR_CELLS, _LEAST_BAR_CELLS = 40, 8
# Columns of functions, lines, ... that are left out on a narrow screen, the first one first.
_GOES = ("instructions", "CPI", "longest", *_CAUSES, "calls", "total", _WAITS)
# Columns of interrupts that are left out on a narrow screen.
_LATENCIES_GO = ("most, at", "least", "mean", "to end")
_Cell = Callable[[CoreProfile, Row], str]
_EIGHTHS = " ▏▎▍▌▋▊▉"


def profile(
    result: RunResult,
    found: Profile,
    by: str,
    top: int,
    by_cause: bool,
    functions: Sequence[str],
    columns: int,
) -> Group:
    """A run in figures, each core's cycles by `by`, calls of functions, interrupt latencies.

    `columns` is the width of the terminal.
    """
    facts = Table.grid(padding=(0, 2))
    facts.add_row("instructions", f"{result.instructions:,}")
    facts.add_row("cycles", f"{result.cycles:,}")
    facts.add_row("simulated time", format_ps(result.elapsed_ps))
    parts: list[RenderableType] = [facts]
    for core in found.cores:
        if core.cycles or len(found.cores) == 1:
            parts.append(_cycles(core, by, top, by_cause, columns >= _WIDE_COLUMNS))
    for function in functions:
        parts += _calls_of(found, function)
    parts += [_latencies(core) for core in found.cores if core.interrupts]
    return Group(*parts)


def _cycles(core: CoreProfile, by: str, top: int, by_cause: bool, is_wide: bool) -> Table:
    rows = tables.rows(core, by)
    waits = core.waits is not None and by in tables.WAITED
    columns = _columns(by, by_cause, is_wide, waits)
    table = Fitted(
        title=f"{core.name}: {core.cycles:,} cycles by {by}",
        title_justify="left",
        show_footer=True,
    )
    whole = _sum(rows, "total")
    for heading, cell in columns.items():
        justify: Literal["left", "right"] = "left" if heading in (by, *_CAUSES, _WAITS) else "right"
        table.add_column(
            heading,
            footer=cell(core, whole),
            justify=justify,
            overflow="fold",
            goes=_GOES.index(heading) if heading in _GOES else None,
            is_name=heading == by,
        )
    for row in rows[:top]:
        table.add_row(*(Text(cell(core, row)) for cell in columns.values()))
        for cause, cycles in row.causes.items() if by_cause else ():
            table.add_row(Text(f"  {cause}"), f"{cycles:,}", format_share(cycles, core.cycles))
    if len(rows) > top:
        rest = _sum(rows[top:], f"{len(rows) - top:,} more; --top shows them")
        table.add_row(*(cell(core, rest) for cell in columns.values()))
    return table


def _columns(by: str, by_cause: bool, is_wide: bool, waits: bool) -> dict[str, _Cell]:
    """The columns of a table in their order, each with its text for a row."""
    columns: dict[str, _Cell] = {
        by: lambda _, row: row.name,
        "cycles": lambda _, row: f"{row.self_cycles:,}",
        "share": lambda core, row: format_share(row.self_cycles, core.cycles),
    }
    if by in ("function", "file"):
        columns["total"] = lambda _, row: _number(row.total_cycles)
    if by == "function":
        columns["calls"] = lambda _, row: _number(row.calls)
        columns["longest"] = lambda _, row: (
            f"{row.longest_cycles:,}" if row.longest_path is not None else ""
        )
    if by != "function" or is_wide:
        columns["instructions"] = lambda _, row: f"{row.instructions:,}"
    if is_wide or not waits:
        columns["CPI"] = lambda _, row: _cpi(row.self_cycles, row.instructions)
    if not by_cause and is_wide:
        columns[_CAUSES[1]] = lambda _, row: _main_causes(row, _MOST_CAUSES)
    elif not by_cause and not waits:
        columns[_CAUSES[0]] = lambda _, row: _main_causes(row, 1)
    if waits:
        columns[_WAITS] = lambda _, row: _main_waits(row, _MOST_CAUSES if is_wide else 1)
    return columns


def _sum(rows: Sequence[Row], name: str) -> Row:
    """The rest of a table, as one row."""
    cycles = sum(row.self_cycles for row in rows)
    waits: Counter[str] = Counter()
    for row in rows:
        waits.update(row.waits or {})
    longest = dict(waits.most_common())
    return Row(name, cycles, None, sum(row.instructions for row in rows), {}, waits=longest)


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _cpi(cycles: int, instructions: int) -> str:
    if not instructions:
        return ""
    cpi = cycles / instructions
    return f"{cpi:.2f}" if cpi < _LARGE_CPI else f"{cpi:,.0f}"


def _main_causes(row: Row, most: int) -> str:
    large = [
        f"{cause} {100 * cycles / row.self_cycles:.0f} %"
        for cause, cycles in row.causes.items()
        if cycles >= _LEAST_SHARE * row.self_cycles
    ]
    return ", ".join(large[:most])


def _main_waits(row: Row, most: int) -> str:
    waits = list((row.waits or {}).items())
    return ", ".join(f"{what} {format_ps(ps)}" for what, ps in waits[:most])


def _calls_of(found: Profile, function: str) -> Iterator[RenderableType]:
    """The calls of a function on each core with kept calls."""
    has_some = False
    for core in found.cores:
        kept = calls.calls_of(core, function)
        spread = calls.spread(kept)
        if spread is not None:
            has_some = True
            yield _spread(core, calls.own_name(core, function), spread, calls.times(kept))
    if not has_some:
        yield Text(f"{function}: no call of it has ended")


def _spread(core: CoreProfile, function: str, spread: Spread, times: Times | None) -> Group:
    title = f"{core.name}: {function}, {spread.calls:,} {'call' if spread.calls == 1 else 'calls'}"
    facts = Table.grid(padding=(0, 2))
    for _ in range(3):
        facts.add_column(justify="right")
    shown = {
        "shortest": spread.shortest,
        "median": spread.median,
        "mean": round(spread.mean),
        "99 % up to": spread.p99,
        "longest": spread.longest,
        "all": spread.total,
    }
    has_one_clock = len(set(core.rates_hz)) == 1 and bool(core.rates_hz[0])
    in_ps: Sequence[int | None]
    if has_one_clock:
        in_ps = [cycles * 10**12 // core.rates_hz[0] for cycles in shown.values()]
    else:
        in_ps = astuple(times) if times is not None else [None] * len(shown)
    for (name, cycles), ps in zip(shown.items(), in_ps, strict=True):
        time = "" if ps is None else format_ps(ps)
        facts.add_row(Text(name, justify="left"), f"{cycles:,}", time)
    path = " > ".join(core.names(spread.worst.path))
    remarks = [f"the longest began at {format_ps(spread.worst.begin_ps)}: {path}"]
    if not has_one_clock:
        rates = ", then ".join(map(format_hz, core.rates_hz))
        remarks.append(f"the clock changed ({rates}): cycles and times are ranked apart")
    lines = Text("\n".join(remarks))
    return Group(Text(f"\n{title}", style="italic"), facts, lines, _histogram(spread))


def _histogram(spread: Spread) -> Table:
    table = Fitted(title="cycles of a call", title_justify="left")
    table.add_column("from", justify="right")
    table.add_column("to", justify="right")
    table.add_column("calls", justify="right")
    table.add_column("")
    most = max(one.calls for one in spread.bins)
    for one in spread.bins:
        numbers = f"{one.least:,}", f"{one.below - 1:,}", f"{one.calls:,}"
        table.add_row(*numbers, _Bar(one.calls / most))
    return table


class _Bar:
    """A bar with the length of a share, in eighths of a cell; any share above 0 is visible."""

    def __init__(self, share: float) -> None:
        self._share = share

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """All bars have one scale: each may need the full width."""
        return Measurement(_LEAST_BAR_CELLS, _BAR_CELLS)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the bar."""
        cells = min(options.max_width, _BAR_CELLS)
        eighths = round(self._share * cells * 8) or (1 if self._share else 0)
        yield Text(("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip())


def _latencies(core: CoreProfile) -> Table:
    """Interrupts by line: cycles and time of handlers, then latencies."""
    table = Fitted(title=f"{core.name}: interrupts", title_justify="left")
    table.add_column("interrupt", is_name=True)
    for heading in ("taken", "cycles", "time", "least", "mean", "most", "most, at", "to end"):
        goes = _LATENCIES_GO.index(heading) if heading in _LATENCIES_GO else None
        table.add_column(heading, justify="right", goes=goes)
    for one in calls.latencies(core):
        handler = (f"{one.taken:,}", f"{one.handler_cycles:,}", format_ps(one.handler_ps))
        table.add_row(Text(one.line), *handler, *_times(one))
    table.caption = (
        "cycles and time of all handlers; from the line's edge to the first instruction of one, "
        "and to the end of the longest"
    )
    table.caption_justify = "left"
    return table


def _times(one: Latency) -> list[str]:
    times = (one.least_ps, one.mean_ps, one.most_ps, one.most_at_ps, one.longest_response_ps)
    return ["" if time_ps is None else format_ps(time_ps) for time_ps in times]
