"""A fit's result on a terminal: values with intervals, and the errors of cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.cli.tables.columns import Fitted
from cyclescope.units import count

if TYPE_CHECKING:
    from cyclescope.fitting.crossing import HeldOut
    from cyclescope.fitting.results import FitResult, FittedCell

# At most this many cells are shown, the worst ones; the JSON has all.
_MOST_CELLS = 16


def screen(result: FitResult) -> Iterator[RenderableType]:
    """A fit's result in tables."""
    yield Text(f"{result.board}, fitted to {count(len(result.fitted), 'cell')} of {result.table}")
    yield _parameters(result)
    yield from _cells(result.cells)
    yield from _errors(result)


def _parameters(result: FitResult) -> Table:
    from cyclescope.fitting.results import possible

    table = Fitted(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("parameter", is_name=True)
    for heading in ("before", "fitted", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("unit", goes=2)
    table.add_column("by these cells", overflow="fold", goes=1)
    for one in result.parameters:
        path = one.free.path.replace("cyclescope,", "")
        table.add_row(
            Text(path),
            str(one.free.board_value),
            f"[bold]{one.value}[/]",
            possible(one),
            one.free.parameter.unit,
            _VERDICTS[one.told],
        )
    return table


_VERDICTS = {
    "told": "determined",
    "no effect": "no effect",
    "weak": "hardly determined",
    "together": "only with others",
}


def _cells(cells: Sequence[FittedCell]) -> Iterator[RenderableType]:
    shown = list(cells)
    if len(shown) > _MOST_CELLS:
        shown = sorted(shown, key=lambda cell: -abs(cell.after_pct))[:_MOST_CELLS]
        yield Text(f"the {len(shown)} cells of {len(cells):,} with the largest errors")
    table = Fitted(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("cell", is_name=True)
    for heading in ("measured", "fitted", "before", "after"):
        table.add_column(heading, justify="right", no_wrap=True)
    has_others = not all(cell.is_fitted for cell in cells)
    if has_others:
        table.add_column("")
    for cell in shown:
        role = ["fitted to" if cell.is_fitted else "not seen"] if has_others else []
        table.add_row(
            Text(cell.label),
            f"{cell.measured:,.10g}",
            f"{cell.after:,.10g}",
            f"{cell.before_pct:+.2f} %",
            f"{cell.after_pct:+.2f} %",
            *role,
        )
    yield table


def _errors(result: FitResult) -> Iterator[RenderableType]:
    table = Fitted(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("error, mean (worst)", overflow="fold")
    table.add_column("board before", justify="right", no_wrap=True)
    table.add_column("fitted", justify="right", no_wrap=True)
    fitted = result.fitted
    before = [abs(cell.before_pct) for cell in fitted]
    after = [abs(cell.after_pct) for cell in fitted]
    table.add_row(
        f"{count(len(fitted), 'cell')} fitted to",
        _pct(sum(before) / len(before), max(before)),
        _pct(sum(after) / len(after), max(after)),
    )
    held = result.cross_validated
    if held is not None:
        table.add_row(f"the same, each held out (folds: {held.folds})", *_pair(held))
    if result.others is not None:
        table.add_row(f"{count(result.others.cells, 'cell')} not seen", *_pair(result.others))
    yield table


def _pair(held: HeldOut) -> tuple[str, str]:
    before = _pct(held.before_mean_pct, held.before_worst_pct)
    return before, _pct(held.mean_pct, held.worst_pct)


def _pct(mean: float, worst: float) -> str:
    return f"{mean:.2f} % ({worst:.2f} %)"
