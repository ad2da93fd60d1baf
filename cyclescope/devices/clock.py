"""Clocks: the times of their edges, in whole picoseconds, with the engine's arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

_PS_PER_SECOND = 10**12


@dataclass(frozen=True)
class Clock:
    """A clock of `hz` hertz, with an edge at time 0.

    Each time is calculated directly from the number of its edge, and rounded down to a picosecond,
    so a clock whose period is not a whole number of picoseconds does not drift.
    """

    hz: int

    def edge_ps(self, edge: int) -> int:
        """The time of edge number `edge`, from 0, in picoseconds: the duration of `edge` cycles."""
        return edge * _PS_PER_SECOND // self.hz

    def next_edge(self, time_ps: int) -> int:
        """The number of the first edge at `time_ps` or later."""
        return -(-time_ps * self.hz // _PS_PER_SECOND)

    def cycle(self, time_ps: int) -> int:
        """The number of the last edge at `time_ps` or before: the count of whole cycles."""
        edge = self.next_edge(time_ps)
        return edge - 1 if self.edge_ps(edge) > time_ps else edge

    def after_ps(self, time_ps: int, cycles: int) -> int:
        """The time of the edge `cycles` cycles after the first edge at `time_ps` or later."""
        return self.edge_ps(self.next_edge(time_ps) + cycles)
