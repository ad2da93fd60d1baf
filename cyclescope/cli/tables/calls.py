"""Calls of a function as tables: what all of them waited for, then the longest ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cyclescope.board.outcome.kept_calls import KINDS, Call
from cyclescope.board.results import Section
from cyclescope.cli.tables.columns import Fitted
from cyclescope.units import format_ps, format_share

# What the longest call waited for is named down to this share of it.
_LEAST_SHARE = 0.01
_MOST_NAMED = 3


def calls(core: str, section: Section) -> Iterator[RenderableType]:
    """All calls of a function, then the longest ones, and what the longest of all waited for."""
    longest = section.longest_calls
    if not longest:
        yield Text(f"\n{core}: {section.name}: no call of it has ended")
        return
    yield Text(f"\n{core}: {section.name}, {_counted(section.calls)}", style="italic")
    yield _spread(section, longest[0])
    yield _all_calls(section)
    yield _longest(section, longest)
    yield Text(_because(section, longest[0]))


def _counted(number: int) -> str:
    return f"{number:,} {'call' if number == 1 else 'calls'}"


def _spread(section: Section, longest: Call) -> Table:
    facts = Table.grid(padding=(0, 2))
    facts.add_column()
    facts.add_column(justify="right")
    facts.add_row("shortest", format_ps(section.shortest_ps or 0))
    facts.add_row("mean", format_ps(section.ps // section.calls))
    facts.add_row("longest", format_ps(longest.ps))
    facts.add_row("all", format_ps(section.ps))
    return facts


def _all_calls(section: Section) -> Table:
    """What all calls waited for: the kinds in their order, each with its longest wait first."""
    table = Fitted(title="what they waited for", title_justify="left", show_footer=True)
    table.add_column("kind", footer="total", no_wrap=True)
    table.add_column("waited for")
    table.add_column("time", footer=format_ps(section.ps), justify="right")
    table.add_column("share", footer="100.0 %", justify="right")
    each = format_ps(section.ps // section.calls)
    table.add_column("a call", footer=each, justify="right", goes=1)
    kind = ""
    for entry in sorted(section.waits or (), key=lambda entry: KINDS.index(entry.kind)):
        shown = "" if entry.kind == kind else entry.kind
        kind = entry.kind
        times = (
            format_ps(entry.ps),
            format_share(entry.ps, section.ps),
            format_ps(entry.ps // section.calls),
        )
        table.add_row(shown, Text(entry.cause if entry.cause != kind else ""), *times)
    return table


def _longest(section: Section, longest: tuple[Call, ...]) -> Table:
    """One row for each call; the details that all calls share are in the caption."""
    common_names = _common(longest)
    few = f"the longest {len(longest):,} of {section.calls:,}"
    title = few if len(longest) < section.calls else "each call"
    common = [text for name, text in _details(longest[0]).items() if name in common_names]
    table = Fitted(title=title, title_justify="left")
    if common:
        table.caption = f"all of them: {', '.join(common)}"
        table.caption_justify = "left"
    kinds = [kind for kind in KINDS if any(kind in call.by_kind for call in longest)]
    for heading in ("call", "began", "took"):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, kind in enumerate(kinds):
        table.add_column(kind, justify="right", no_wrap=True, goes=len(kinds) - number)
    table.add_column("with")
    for call in longest:
        times = f"{call.number:,}", format_ps(call.begin_ps), format_ps(call.ps)
        shares = (format_share(call.by_kind.get(kind, 0), call.ps) for kind in kinds)
        differs = ", ".join(
            text for name, text in _details(call).items() if name not in common_names
        )
        table.add_row(*times, *shares, Text(differs))
    return table


def _details(call: Call) -> dict[str, str]:
    """Details of a call besides its time: its arguments and its caller."""
    details = {argument.name: str(argument) for argument in call.arguments}
    # no parameter has an empty name
    return details | {"": f"from {_caller(call)}"}


def _common(longest: tuple[Call, ...]) -> set[str]:
    """The names of the details that are equal in several calls."""
    if len(longest) == 1:
        return set()
    first, *others = map(_details, longest)
    return {name for name, text in first.items() if all(one.get(name) == text for one in others)}


def _caller(call: Call) -> str:
    function = call.caller or f"{call.return_address:#010x}"
    if call.file is None or call.line is None:
        return function
    return f"{function} ({PurePath(call.file).name}:{call.line})"


def _because(section: Section, call: Call) -> str:
    """The longest call in a sentence of two lines."""
    large = [entry for entry in call.waits if entry.ps >= _LEAST_SHARE * call.ps]
    named = sorted(large, key=lambda entry: -entry.ps)[:_MOST_NAMED]
    waits = ", ".join(f"{format_share(entry.ps, call.ps)} {entry.cause}" for entry in named)
    arguments = ", ".join(map(str, call.arguments))
    took = f"took {format_ps(call.ps)}: {waits}"
    return f"call {call.number:,}: {section.name}({arguments})\n{took}"
