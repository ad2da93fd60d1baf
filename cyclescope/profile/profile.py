"""The profile of a run, as `Board.run(profile=True)` gives it."""

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
    """Where each cycle of a run went: by call path, instruction and cause, exactly.

    `cores` has a profile a core. The cycles of each sum to those of the run. `by_call_site` has the
    same with call paths apart by where functions are called from; None unless the run was asked
    for `call_sites`.
    """

    board: str
    firmware: str
    elapsed_ps: int
    cores: tuple[CoreProfile, ...]
    by_call_site: tuple[CoreProfile, ...] | None = None

    def __repr__(self) -> str:
        """What it is of; `functions()`, `lines()` and `calls()` have all of it."""
        return reprs.short(
            self,
            board=self.board,
            firmware=self.firmware,
            elapsed_ps=self.elapsed_ps,
            cores=list(self.cores),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be followed, of all cores."""
        return tuple(f"{core.name}: {note}" for core in self.cores for note in core.notes)

    def functions(self, polars: bool = False) -> Frame:
        """A line a function of each core: cycles, calls, instructions, worst call, causes.

        It is a DataFrame of pandas, or of polars if that is asked for. `self_cycles` are those of
        the function's own code, `total_cycles` with all that it called, and a column a cause has
        the cycles of `self_cycles` that were charged to it. Raises `ImportError`, saying what to
        install, where the package is absent.
        """
        return frames.functions(self.cores, polars)

    def lines(self, polars: bool = False) -> Frame:
        """A line a source line, as `functions` has them."""
        return frames.lines(self.cores, polars)

    def calls(self, polars: bool = False) -> Frame:
        """A line a call of the functions whose calls the run was asked to keep."""
        return frames.calls(self.cores, polars)

    def interrupts(self, polars: bool = False) -> Frame:
        """A line an interrupt: when it was raised and taken, and its latency, in picoseconds."""
        return frames.interrupts(self.cores, polars)

    def waits(self, polars: bool = False) -> Frame:
        """A line a call path and what was waited for there, in picoseconds.

        It has no lines unless the run was asked for `waits`. What other accesses and the core's own
        work took is not in it.
        """
        return frames.waits(self.cores, polars)
