"""The critical path of a run as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from cyclescope.board.observing.critical_path import CriticalPath
from cyclescope.cli.tables.columns import Fitted
from cyclescope.units import format_ps

MOST_STAYS = 10


def path_tables(path: CriticalPath) -> Iterator[Table]:
    """The path's causes, the waits of cores for each other, and the longest times on one core."""
    yield _rows(path)
    if path.hand_overs:
        yield _hand_overs(path)
        yield _stays(path)


def _rows(path: CriticalPath) -> Table:
    total_ps = sum(row.ps for row in path.rows)
    table = Fitted(title="critical path by cause", title_justify="left")
    table.show_footer = True
    table.add_column("core", footer="total")
    table.add_column("what")
    table.add_column("time", footer=format_ps(total_ps), justify="right")
    table.add_column("share", footer="100.0 %", justify="right")
    for row in path.rows:
        share = f"{100 * row.ps / total_ps:.1f} %"
        table.add_row(Text(row.core), Text(row.what), format_ps(row.ps), share)
    return table


def _hand_overs(path: CriticalPath) -> Table:
    table = Fitted(title="waits of cores for other cores", title_justify="left")
    for heading in ("held up by", "core"):
        table.add_column(heading)
    table.add_column("woken by", goes=2)
    for heading, goes in {"times": 3, "time": None, "longest": 4, "from": 1}.items():
        table.add_column(heading, justify="right", goes=goes)
    for one in path.hand_overs:
        names = map(Text, (one.waited_for, one.held_up, one.device))
        times = map(format_ps, (one.ps, one.longest_ps, one.longest_from_ps))
        table.add_row(*names, f"{one.times:,}", *times)
    return table


def _stays(path: CriticalPath) -> Table:
    """The longest times on one core, in their order."""
    longest = sorted(path.stays, key=lambda stay: (stay.begin_ps - stay.end_ps, stay.begin_ps))
    table = Fitted(title="longest times on one core", title_justify="left")
    table.add_column("from", justify="right")
    table.add_column("core")
    table.add_column("time", justify="right")
    table.add_column("mostly")
    for stay in sorted(longest[:MOST_STAYS], key=lambda stay: stay.begin_ps):
        mostly = Text(f"{stay.mostly} {format_ps(stay.mostly_ps)}")
        length = format_ps(stay.end_ps - stay.begin_ps)
        table.add_row(format_ps(stay.begin_ps), Text(stay.core), length, mostly)
    return table
