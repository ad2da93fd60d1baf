"""Advice on a terminal: the what-ifs with their gains and prerequisites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.cli.tables.columns import Fitted
from cyclescope.sweeps.measures import ELAPSED
from cyclescope.units import format_ps, rounded

if TYPE_CHECKING:
    from cyclescope.advising.results import Advice, Tried

_WHOLE_FROM = 100_000
_MOST_CAUSES = 4


def screen(found: Advice) -> Iterator[RenderableType]:
    """The trials: a table of gains with their prerequisites, then lines on the others."""
    yield Text(f"{found.target} on {found.board}")
    for one in found.measures:
        value = found.before[one.name]
        yield Text(f"  {one.name}: {_value(one.name, one.unit, value)}")
    causes = list(found.where.items())[:_MOST_CAUSES]
    yield Text(
        f"  where time goes: {', '.join(f'{name} {part * 100:.0f} %' for name, part in causes)}"
    )
    if found.gains:
        yield _gains(found)
    else:
        yield Text("No trial made the program faster.")
    yield from _others(found)


def _gains(found: Advice) -> Table:
    table = Fitted(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("saves", justify="right", no_wrap=True)
    table.add_column("what if", overflow="fold", ratio=3)
    table.add_column("what it takes", overflow="fold", ratio=2, goes=1)
    table.add_column("how", overflow="fold", ratio=3)
    for one in found.gains:
        what = one.what_if
        table.add_row(f"[bold]{pct(one)}[/]", Text(what.what), Text(what.takes), Text(what.how))
    if found.at_once is not None and found.at_once.gain_pct is not None:
        parts = found.at_once.what_if.what
        table.add_section()
        table.add_row(f"[bold]{pct(found.at_once)}[/]", Text(f"at once: {parts}"), "", "")
    return table


def _others(found: Advice) -> Iterator[RenderableType]:
    without = [one for one in found.tried if not one.is_gain and one.error is None]
    same = [one.what_if.what for one in without if not one.differs and not _is_loss(one)]
    if same:
        yield _line("No difference", same)
    losses = [f"{one.what_if.what} ({_loss(one)})" for one in without if _is_loss(one)]
    if losses:
        yield _line("Slower", losses)
    for one in without:
        if one.differs:
            names = ", ".join(one.differs)
            yield Text(
                f"Other results: {one.what_if.what}: {names}: check that the work is the same"
            )
    for one in found.tried:
        if one.error is not None:
            yield Text(f"Failed: {one.what_if.what}: {one.error}")
    for reason in found.untried:
        yield Text(f"Not tried: {reason}")


def _is_loss(one: Tried) -> bool:
    from cyclescope.advising.results import LEAST_PCT

    return one.gain_pct is not None and one.gain_pct <= -LEAST_PCT


def _line(title: str, parts: Sequence[str]) -> Text:
    return Text(f"{title}: {'; '.join(parts)}")


def pct(one: Tried) -> str:
    """The percentage of the time that a gain saves."""
    gain = one.gain_pct
    assert gain is not None
    return f"{gain:.1f} %"


def _loss(one: Tried) -> str:
    assert one.gain_pct is not None
    return f"{-one.gain_pct:.1f} % longer"


def _value(name: str, unit: str, value: int | float) -> str:
    if name == ELAPSED or unit == "ps":
        return format_ps(round(value))
    shown = f"{round(value):,}" if abs(value) >= _WHOLE_FROM else rounded(value, 6)
    return f"{shown} {unit}".rstrip()
