"""The first look on a terminal: a run, its hottest lines, faster variants, next commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope import resources
from cyclescope.board import Board
from cyclescope.board.description.devicetree import shown_path
from cyclescope.board.outcome.stack_entries import StackEntry
from cyclescope.board.results import CoreResult, RunResult
from cyclescope.cli.commands.annotate import source_lines
from cyclescope.cli.tables.advise import pct
from cyclescope.cli.tables.columns import Fitted
from cyclescope.cli.tables.run import stack_table
from cyclescope.profile.model import CoreProfile
from cyclescope.profile.tables import Row, rows
from cyclescope.units import count, format_hz, format_ps, format_share

if TYPE_CHECKING:
    from cyclescope.advising.results import Advice
    from cyclescope.advising.study import Study
    from cyclescope.firmware import App

# The output fits a screen.
_MOST_CAUSES = 4
_MOST_LINES = 3
_MOST_GAINS = 3
_NOTHING = Text()


def run(planned: Study, app: App) -> Iterator[RenderableType]:
    """The program, its board and its time, the first core's cycle stack, and its hottest lines."""
    result = planned.profiled
    assert result is not None
    assert result.profile is not None
    core = result.cores[0]
    yield _facts(result, core, app)
    yield _NOTHING
    yield _plain(stack_table("", shortened(core.stack)))
    yield _NOTHING
    yield _hottest(result.profile.cores[0])
    yield _NOTHING


def _facts(result: RunResult, core: CoreResult, app: App) -> Table:
    facts = Table.grid(padding=(0, 2))
    model = Board(result.board).describe()["model"]
    rates = ", then ".join(f"{format_hz(o.hz)} for {format_ps(o.ps)}" for o in core.clock_rates)
    took = f"{result.cycles:,} cycles in {format_ps(result.elapsed_ps)}"
    facts.add_row("program", Text(f"{app.name}: {app.description}"))
    facts.add_row("board", Text(f"{result.board}: {model}"))
    facts.add_row("clock", rates)
    facts.add_row("run", f"{took}, simulated in {result.wall_ns / 1e9:.2f} s of this host's time")
    return facts


def shortened(stack: Sequence[StackEntry]) -> list[StackEntry]:
    """The largest causes of a stack, and all others as one entry: the sum stays."""
    by_time = sorted(stack, key=lambda entry: -entry.ps)
    shown, others = by_time[:_MOST_CAUSES], by_time[_MOST_CAUSES:]
    if len(others) < 2:
        return by_time
    cycles, ps = (sum(getattr(one, unit) for one in others) for unit in ("cycles", "ps"))
    return [*shown, StackEntry(count(len(others), "other"), cycles, ps)]


def hottest(core: CoreProfile) -> list[Row]:
    """The source lines with the most cycles of a core; code without a line is left out."""
    return [row for row in rows(core, "line") if row.file and row.line][:_MOST_LINES]


def _hottest(core: CoreProfile) -> Table:
    table = _headed("cycles", "share")
    table.add_column("hottest line", is_name=True)
    table.add_column("source", overflow="fold")
    for row in hottest(core):
        share = format_share(row.self_cycles, core.cycles)
        table.add_row(f"{row.self_cycles:,}", share, Text(row.name), Text(_source(row)))
    return table


def _source(row: Row) -> str:
    lines = source_lines(row.file or "", resources.firmware()) or []
    at = (row.line or 0) - 1
    return lines[at].strip() if at < len(lines) else ""


def advice(found: Advice) -> Iterator[RenderableType]:
    """The what-ifs that gain most, and the steps for the best one."""
    table = _headed("saves")
    table.add_column(f"what if ({len(found.tried)} tried, each a run)", overflow="fold")
    table.add_column("what it takes", overflow="fold")
    gains = found.gains[:_MOST_GAINS]
    for one in gains:
        table.add_row(f"[bold]{pct(one)}[/]", Text(one.what_if.what), Text(one.what_if.takes))
    yield table
    if gains:
        yield Text(f"first: {gains[0].what_if.how}")
    yield _NOTHING


def commands(elf: Path, board: str) -> Text:
    """The next commands to type, for a shell."""
    return Text(
        "To repeat this step by step:\n"
        f"  elf={shlex.quote(shown_path(elf))}\n"
        f'  cyclescope run "$elf" --board {board}\n'
        f'  cyclescope profile "$elf" --board {board} --by line\n'
        f'  cyclescope advise "$elf" --board {board}\n'
        "  cyclescope bench   # published measurements, repeated: some minutes"
    )


def _headed(*numbers: str) -> Fitted:
    """A table that begins with these columns of numbers."""
    table = Fitted()
    _plain(table)
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _plain(table: Table) -> Table:
    """The table without borders."""
    table.box, table.title = None, None
    table.pad_edge, table.padding = False, (0, 2, 0, 0)
    return table
