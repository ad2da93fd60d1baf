"""A profile as tables and text on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.board.results import RunResult
from cyclescope.profile import calls, tables
from cyclescope.profile.calls import Latency, Spread
from cyclescope.profile.model import CoreProfile
from cyclescope.profile.profile import Profile
from cyclescope.profile.tables import Row
from cyclescope.units import format_ps

_HEADINGS = {"task": "task or stack"}
# Causes of a row are named down to this share of it, and so many at most.
_LEAST_SHARE = 0.1
_MOST_CAUSES = 2
_LARGE_CPI = 100
_BAR_CELLS = 40
_EIGHTHS = " ▏▎▍▌▋▊▉"


def profile(
    result: RunResult, found: Profile, by: str, top: int, by_cause: bool, functions: Sequence[str]
) -> Group:
    """A run in figures, each core's cycles added up, calls of functions, late interrupts."""
    facts = Table.grid(padding=(0, 2))
    facts.add_row("instructions", f"{result.instructions:,}")
    facts.add_row("cycles", f"{result.cycles:,}")
    facts.add_row("simulated time", format_ps(result.elapsed_ps))
    parts: list[RenderableType] = [facts]
    for core in found.cores:
        if core.cycles or len(found.cores) == 1:
            parts.append(_table(core, by, top, by_cause))
    for function in functions:
        parts += _calls_of(found, function)
    parts += [_latencies(core) for core in found.cores if core.interrupts]
    return Group(*parts)


def _table(core: CoreProfile, by: str, top: int, by_cause: bool) -> Table:
    rows = tables.rows(core, by)
    has_totals = any(row.total_cycles is not None for row in rows) and by != "task"
    has_calls = by == "function"
    table = Table(
        title=f"{core.name}: {core.cycles:,} cycles by {by}",
        title_justify="left",
        show_footer=True,
    )
    table.add_column(_HEADINGS.get(by, by), footer="total", overflow="fold")
    table.add_column("cycles", footer=f"{core.cycles:,}", justify="right")
    table.add_column("share", footer="100.0 %" if core.cycles else "", justify="right")
    if has_totals:
        table.add_column("total", justify="right")
    if has_calls:
        table.add_column("calls", justify="right")
        table.add_column("longest", justify="right")
    table.add_column("instructions", footer=f"{core.instructions:,}", justify="right")
    table.add_column("CPI", footer=_cpi(core.cycles, core.instructions), justify="right")
    if not by_cause:
        table.add_column("main causes", overflow="fold")
    for row in rows[:top]:
        totals = [_number(row.total_cycles)] if has_totals else []
        longest = f"{row.longest_cycles:,}" if row.longest_path is not None else ""
        called = [_number(row.calls), longest] if has_calls else []
        table.add_row(
            Text(row.name),
            f"{row.self_cycles:,}",
            _share(row.self_cycles, core.cycles),
            *totals,
            *called,
            f"{row.instructions:,}",
            _cpi(row.self_cycles, row.instructions),
            *([] if by_cause else [Text(_main_causes(row))]),
        )
        for cause, cycles in row.causes.items() if by_cause else ():
            table.add_row(Text(f"  {cause}"), f"{cycles:,}", _share(cycles, core.cycles))
    rest = rows[top:]
    if rest:
        cycles = sum(row.self_cycles for row in rest)
        instructions = sum(row.instructions for row in rest)
        blank = [""] * (has_totals + 2 * has_calls)
        left = f"{len(rest):,} more; --top shows them"
        share = _share(cycles, core.cycles)
        cpi = _cpi(cycles, instructions)
        table.add_row(left, f"{cycles:,}", share, *blank, f"{instructions:,}", cpi)
    return table


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}".replace("%", " %") if whole else ""


def _cpi(cycles: int, instructions: int) -> str:
    if not instructions:
        return ""
    cpi = cycles / instructions
    return f"{cpi:.2f}" if cpi < _LARGE_CPI else f"{cpi:,.0f}"


def _main_causes(row: Row) -> str:
    large = [
        f"{cause} {100 * cycles / row.self_cycles:.0f} %"
        for cause, cycles in row.causes.items()
        if cycles >= _LEAST_SHARE * row.self_cycles
    ]
    return ", ".join(large[:_MOST_CAUSES])


def _calls_of(found: Profile, function: str) -> Iterator[RenderableType]:
    """The calls of a function on each core that has kept some."""
    has_some = False
    for core in found.cores:
        spread = calls.spread(calls.calls_of(core, function))
        if spread is not None:
            has_some = True
            yield _spread(core, function.rpartition(":")[2], spread)
    if not has_some:
        yield Text(f"{function}: no call of it has ended")


def _spread(core: CoreProfile, function: str, spread: Spread) -> Group:
    title = f"{core.name}: {function}, {spread.calls:,} {'call' if spread.calls == 1 else 'calls'}"
    facts = Table.grid(padding=(0, 2))
    for _ in range(3):
        facts.add_column(justify="right")
    shown = {
        "shortest": spread.shortest,
        "median": spread.median,
        "mean": round(spread.mean),
        "99 of 100 within": spread.p99,
        "longest": spread.longest,
        "all": spread.total,
    }
    for name, cycles in shown.items():
        facts.add_row(Text(name, justify="left"), f"{cycles:,}", _time(core, cycles))
    path = " > ".join(core.names(spread.worst.path))
    worst = f"the longest began at {format_ps(spread.worst.begin_ps)}: {path}"
    return Group(Text(f"\n{title}", style="italic"), facts, Text(worst), _histogram(spread))


def _time(core: CoreProfile, cycles: int) -> str:
    """The time of some cycles, if the core's clock never changed."""
    if len(set(core.rates_hz)) != 1 or not core.rates_hz[0]:
        return ""
    return format_ps(cycles * 10**12 // core.rates_hz[0])


def _histogram(spread: Spread) -> Table:
    table = Table(title="cycles of a call", title_justify="left")
    table.add_column("from", justify="right")
    table.add_column("to", justify="right")
    table.add_column("calls", justify="right")
    table.add_column("")
    most = max(one.calls for one in spread.bins)
    for one in spread.bins:
        bar = _bar(one.calls / most)
        table.add_row(f"{one.least:,}", f"{one.below - 1:,}", f"{one.calls:,}", bar)
    return table


def _bar(share: float) -> str:
    """A bar of eighths of a cell; the least that is not nothing is seen."""
    eighths = round(share * _BAR_CELLS * 8) or (1 if share else 0)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def _latencies(core: CoreProfile) -> Table:
    table = Table(title=f"{core.name}: interrupts", title_justify="left")
    table.add_column("line")
    for heading in ("raised", "handled", "least", "mean", "most", "most, at", "longest to end"):
        table.add_column(heading, justify="right")
    for one in calls.latencies(core):
        table.add_row(Text(one.line), f"{one.raised:,}", f"{one.handled:,}", *_times(one))
    table.caption = "from the line's edge to the handler's first instruction, and to its end"
    table.caption_justify = "left"
    return table


def _times(one: Latency) -> list[str]:
    if not one.handled:
        return [""] * 5
    times = (one.least_ps, one.mean_ps, one.most_ps, one.most_at_ps, one.longest_response_ps)
    return [format_ps(time_ps) for time_ps in times]
