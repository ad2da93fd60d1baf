"""An annotated function as text: its source, then its instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from cyclescope.profile.annotation import Annotation, Instruction, Source, Spent
from cyclescope.units import count

# The shares of the function's cycles from which a line is hot, or warm.
_HOT, _WARM = 0.1, 0.02
# More consecutive instructions that never ran are shown as their number only.
_MOST_IDLE = 8
_CAUSE_CELLS = 32
# On narrower screens, numbers get only the cells that they need, and causes and CPI are left out.
_WIDE_COLUMNS = 120
_LEAST_SOURCE = 50


@dataclass(frozen=True)
class _Layout:
    """The widths of the numbers before the source in cells; 0 for omitted ones."""

    cycles: int = 13
    share: int = 7
    ran: int = 11
    cpi: int = 8
    cause: int = _CAUSE_CELLS

    @property
    def head(self) -> str:
        """The headings."""
        return self.line("cycles", "share", "ran", "CPI", "main cause")

    @property
    def blank(self) -> str:
        """The blank space before a line without numbers."""
        return " " * len(self.head)

    def line(self, cycles: str, share: str, ran: str, cpi: str, cause: str) -> str:
        """The numbers of a line, each in its column."""
        cells = (cycles, self.cycles), (share, self.share), (ran, self.ran), (cpi, self.cpi)
        line = " ".join(text.rjust(width) for text, width in cells if width)
        return f"{line}  {cause[: self.cause].ljust(self.cause)}  " if self.cause else f"{line}  "


def text(annotation: Annotation, columns: int = _WIDE_COLUMNS) -> Text:
    """The annotation for a screen of `columns` columns; costly lines are coloured."""
    found = Text()
    for line in _all(annotation, _layout(annotation, columns)):
        found.append_text(line).append("\n")
    return found


def _layout(annotation: Annotation, columns: int) -> _Layout:
    """The layout: all numbers on a wide screen; on a narrow one fewer, for the source's sake."""
    if columns >= _WIDE_COLUMNS:
        return _Layout()
    spent = [annotation.spent, *(one.spent for one in annotation.instructions)]
    cycles = max(len("cycles"), *(len(f"{one.cycles:,}") for one in spent))
    ran = max(len("ran"), *(len(f"{one.executions:,}") for one in spent[1:]))
    cpi = max(len("CPI"), *(len(_cpi(one)) for one in spent))
    layout = _Layout(cycles, 7, ran, cpi, 0)
    for narrower in (_Layout(cycles, 7, ran, 0, 0), _Layout(cycles, 7, 0, 0, 0)):
        if columns - len(layout.head) < _LEAST_SOURCE:
            layout = narrower
    return layout


def _all(annotation: Annotation, layout: _Layout) -> Iterator[Text]:
    yield _title(annotation)
    for source in annotation.sources:
        yield Text()
        yield from _source(source, annotation.spent.cycles, layout)
    yield Text()
    yield from _instructions(annotation, layout)


def _title(annotation: Annotation) -> Text:
    spent, place = annotation.spent, annotation.place
    share = 100 * spent.cycles / annotation.core_cycles if annotation.core_cycles else 0
    where = f" at {place.file}:{place.line}" if place else ""
    cpi = f", CPI {spent.cpi:.2f}" if spent.cpi is not None else ""
    calls = f" in {count(annotation.calls, 'call')}" if annotation.calls else ""
    return Text(
        f"{annotation.core}: {annotation.function}{where}: "
        f"{spent.cycles:,} cycles{calls}, {share:.1f} % of all; "
        f"{spent.executions:,} instructions{cpi}",
        style="bold",
    )


def _source(source: Source, whole: int, layout: _Layout) -> Iterator[Text]:
    what = f"{source.file}: {source.function}" + (" (inlined)" if source.is_inlined else "")
    yield Text(layout.head + what, style="italic")
    before = None
    for line in source.lines:
        if before is not None and line.number != before + 1:
            yield Text(layout.blank + "  ...")
        before = line.number
        words = f"{line.number:>5} | {line.text or ''}".rstrip()
        yield _row(line.spent, whole, words, layout, has_code=bool(line.addresses))


def _instructions(annotation: Annotation, layout: _Layout) -> Iterator[Text]:
    yield Text(layout.head + "instructions", style="italic")
    whole = annotation.spent.cycles
    place = ""
    for group in _groups(annotation.instructions):
        if not group[0].spent.executions and len(group) > _MOST_IDLE:
            yield Text(layout.blank + f"... {len(group):,} instructions that did not run")
            continue
        for one in group:
            now = _place(one)
            if now != place and now:
                yield Text(layout.blank + now, style="dim")
            place = now
            yield _row(one.spent, whole, _words(one), layout, has_code=True)


def _groups(instructions: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    """Groups of consecutive instructions that ran, or that did not."""
    group: list[Instruction] = []
    for one in instructions:
        if group and bool(one.spent.executions) != bool(group[0].spent.executions):
            yield group
            group = []
        group.append(one)
    yield group


def _place(one: Instruction) -> str:
    """The line of an instruction, and the lines that it is inlined at."""
    names = [
        f"{(place.file or '').rpartition('/')[2]}:{place.line}"
        + (f" {place.function}" if depth < len(one.places) - 1 else "")
        for depth, place in enumerate(one.places)
    ]
    return " < ".join(names)


def _words(one: Instruction) -> str:
    code = one.code
    leads = f"  <{code.target}>" if code.target else ""
    encoding = f"{code.encoding:0{2 * code.length}x}".ljust(8)
    return f"  {code.address:08x}:  {encoding}  {code.text}{leads}"


def _cpi(spent: Spent) -> str:
    return "" if spent.cpi is None else f"{spent.cpi:.2f}"


def _row(spent: Spent, whole: int, words: str, layout: _Layout, *, has_code: bool) -> Text:
    if not has_code:
        return Text(layout.blank + words)
    if not spent.executions and not spent.cycles:
        return Text(layout.blank + words, style="dim")
    share = spent.cycles / whole if whole else 0
    numbers = layout.line(
        f"{spent.cycles:,}",
        f"{100 * share:.1f} %",
        f"{spent.executions:,}",
        _cpi(spent),
        spent.main_cause,
    )
    style = "bold red" if share >= _HOT else "yellow" if share >= _WARM else ""
    return Text(numbers, style=style).append(words, style=style)
