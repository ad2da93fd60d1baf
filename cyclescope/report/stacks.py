"""Cycle stacks prepared for plots: small causes merged, rows put into panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cyclescope.board.results import StackEntry
from cyclescope.report.colours import CPU, OTHER
from cyclescope.report.text import RowName

# A cause is shown by itself if its largest share of a row is at least this, and it is among the
# largest causes; a few causes are all shown.
_LEAST_SHARE = 0.02
_MOST_CAUSES = 10
_FEW_CAUSES = 4
# Times that differ by more than this factor are shown as shares: the short bars would be
# unreadable.
_WIDEST_RATIO = 12


@dataclass(frozen=True)
class StackRow:
    """The time of a row by cause, in picoseconds; `shares` is in the order of the panel."""

    name: RowName
    shares: tuple[tuple[str, int], ...]

    @property
    def total_ps(self) -> int:
        """All of the row's time."""
        return sum(ps for _, ps in self.shares)

    def ps_of(self, cause: str) -> int:
        """The time of one cause; 0 if the row does not have it."""
        return dict(self.shares).get(cause, 0)


@dataclass(frozen=True)
class Panel:
    """Rows whose stacks share an axis and an order of causes, the largest first."""

    rows: tuple[StackRow, ...]
    causes: tuple[str, ...]
    as_shares: bool


def panel(named: Sequence[tuple[RowName, Sequence[StackEntry]]]) -> Panel | None:
    """A panel of the rows that have a stack; None without any."""
    return of_times([(name, _times(stack)) for name, stack in named])


def of_times(named: Sequence[tuple[RowName, dict[str, int]]]) -> Panel | None:
    """A panel of the rows that have times above 0 by cause; None without any."""
    times = [(name, causes) for name, causes in named if causes]
    if not times:
        return None
    causes = _main_causes([causes for _, causes in times])
    if any(cause not in causes for _, row in times for cause in row):
        causes = (*causes, OTHER)
    # the core's own work is at the end, after all waits
    causes = tuple(sorted(causes, key=lambda cause: cause == CPU))
    rows = tuple(StackRow(name, _merged(row, causes)) for name, row in times)
    totals = [row.total_ps for row in rows]
    return Panel(rows, causes, max(totals) > _WIDEST_RATIO * min(totals))


def _times(stack: Sequence[StackEntry]) -> dict[str, int]:
    return {entry.cause: entry.ps for entry in stack if entry.ps > 0}


def _main_causes(rows: Sequence[dict[str, int]]) -> tuple[str, ...]:
    totals: dict[str, int] = {}
    largest: dict[str, float] = {}
    for row in rows:
        whole = sum(row.values())
        for cause, ps in row.items():
            totals[cause] = totals.get(cause, 0) + ps
            largest[cause] = max(largest.get(cause, 0), ps / whole)
    least = _LEAST_SHARE if len(largest) > _FEW_CAUSES else 0
    shown = [cause for cause, share in largest.items() if share >= least and cause != OTHER]
    shown = sorted(shown, key=lambda cause: (-largest[cause], cause))[:_MOST_CAUSES]
    return tuple(sorted(shown, key=lambda cause: (-totals[cause], cause)))


def _merged(row: dict[str, int], causes: Sequence[str]) -> tuple[tuple[str, int], ...]:
    rest = sum(ps for cause, ps in row.items() if cause not in causes or cause == OTHER)
    known = row | {OTHER: rest}
    return tuple((cause, known[cause]) for cause in causes if known.get(cause))
