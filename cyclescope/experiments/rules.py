"""What experiments share that count the cycles of short sequences of instructions."""

from collections.abc import Callable, Sequence

from cyclescope.bench.experiment import Cell
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Pivot
from cyclescope.board.results import Settings


def answers(source: str) -> Callable[[Sequence[Row]], str]:
    """An answer that says how many sequences take as many cycles as `source`, a clause, has it."""

    def answer(rows: Sequence[Row]) -> str:
        known = [row for row in rows if row.published is not None]
        if not known:
            return ""
        exact = sum(row.simulated == row.published for row in known)
        return f"{exact} of {len(known)} sequences take as many cycles as {source}"

    return answer


def _none(settings: Settings) -> str | None:
    """They are sums of the core's parameters: no sum says more than those do."""
    return None


def cell(app: str, label: str, measured: Sequence[str]) -> Cell:
    """The cycles of each sequence of `app`; the program prints the settings `measured`."""
    return Cell(
        app,
        metric="cycles",
        label=label,
        key="cycles",
        measured={name: name for name in measured},
        pivots=(Pivot("Cycles of a sequence", ("sequence",), ("board",)),),
        counts_as=_none,
    )
