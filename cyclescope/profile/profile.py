"""The profile of a run, from `Board.run(profile=True)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cyclescope import reprs
from cyclescope.profile import frames
from cyclescope.profile.model import CoreProfile

if TYPE_CHECKING:
    import pandas
    import polars as polars_package

    Frame: TypeAlias = pandas.DataFrame | polars_package.DataFrame


@dataclass(frozen=True)
class Profile:
    """All cycles of a run by call path, instruction and cause, exact.

    `cores` has one profile for each core. The cycles of each sum to the core's cycles in the run.
    `by_call_site` has the same with call paths distinguished by call sites; None unless the run
    recorded `call_sites`.
    """

    board: str
    firmware: str
    elapsed_ps: int
    cores: tuple[CoreProfile, ...]
    by_call_site: tuple[CoreProfile, ...] | None = None

    def __repr__(self) -> str:
        """A summary; `functions()`, `lines()` and `calls()` have the data."""
        return reprs.short(
            self,
            board=self.board,
            firmware=self.firmware,
            elapsed_ps=self.elapsed_ps,
            cores=list(self.cores),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of all cores on code that could not be followed."""
        return tuple(f"{core.name}: {note}" for core in self.cores for note in core.notes)

    def functions(self, polars: bool = False) -> Frame:
        """One row for each function of each core: cycles, calls, instructions, worst call, causes.

        The result is a DataFrame of pandas, or of polars if `polars` is true. `self_cycles` are the
        cycles of the function's own code, `total_cycles` include its callees, and the column of a
        cause has the part of `self_cycles` that was charged to it. Raises `ImportError`, with the
        command to install it, if the library is not installed.
        """
        return frames.functions(self.cores, polars)

    def lines(self, polars: bool = False) -> Frame:
        """One row for each source line, with the columns of `functions`."""
        return frames.lines(self.cores, polars)

    def calls(self, polars: bool = False) -> Frame:
        """One row for each kept call of a function."""
        return frames.calls(self.cores, polars)

    def interrupts(self, polars: bool = False) -> Frame:
        """One row for each interrupt: the times of its edge and entry, and its latency, in ps."""
        return frames.interrupts(self.cores, polars)

    def waits(self, polars: bool = False) -> Frame:
        """One row for each call path and wait, in picoseconds.

        It is empty unless the run recorded `waits`. The time of other accesses and of the core's
        own work is not included.
        """
        return frames.waits(self.cores, polars)
