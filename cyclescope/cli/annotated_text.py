"""An annotated function as text: its source, then its instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from cyclescope.profile.annotation import Annotation, Instruction, Source, Spent
from cyclescope.units import count

# From these shares of the function's cycles on, a line is hot, or warm.
_HOT, _WARM = 0.1, 0.02
# Of more instructions in a row that never ran only the number is shown.
_MOST_IDLE = 8
_CAUSE_CELLS = 32
_HEAD = f"{'cycles':>13} {'share':>7} {'ran':>11} {'CPI':>8}  {'main cause':<{_CAUSE_CELLS}}  "


def text(annotation: Annotation) -> Text:
    """The whole of it; lines that took much are coloured."""
    found = Text()
    for line in _all(annotation):
        found.append_text(line).append("\n")
    return found


def _all(annotation: Annotation) -> Iterator[Text]:
    yield _title(annotation)
    for source in annotation.sources:
        yield Text()
        yield from _source(source, annotation.spent.cycles)
    yield Text()
    yield from _instructions(annotation)


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


def _source(source: Source, whole: int) -> Iterator[Text]:
    what = f"{source.file}: {source.function}" + (" (inlined)" if source.is_inlined else "")
    yield Text(_HEAD + what, style="italic")
    before = None
    for line in source.lines:
        if before is not None and line.number != before + 1:
            yield Text(" " * len(_HEAD) + "  ...")
        before = line.number
        words = f"{line.number:>5} | {line.text or ''}".rstrip()
        yield _row(line.spent, whole, words, bool(line.addresses))


def _instructions(annotation: Annotation) -> Iterator[Text]:
    yield Text(_HEAD + "instructions", style="italic")
    whole = annotation.spent.cycles
    place = ""
    for group in _groups(annotation.instructions):
        if not group[0].spent.executions and len(group) > _MOST_IDLE:
            yield Text(" " * len(_HEAD) + f"... {len(group):,} instructions that did not run")
            continue
        for one in group:
            now = _place(one)
            if now != place and now:
                yield Text(" " * len(_HEAD) + now, style="dim")
            place = now
            yield _row(one.spent, whole, _words(one), True)


def _groups(instructions: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    """Instructions that ran, and such that did not, one after the other."""
    group: list[Instruction] = []
    for one in instructions:
        if group and bool(one.spent.executions) != bool(group[0].spent.executions):
            yield group
            group = []
        group.append(one)
    yield group


def _place(one: Instruction) -> str:
    """The line of an instruction, and those that it is inlined at."""
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


def _row(spent: Spent, whole: int, words: str, has_code: bool) -> Text:
    if not has_code:
        return Text(" " * len(_HEAD) + words)
    if not spent.executions and not spent.cycles:
        return Text(" " * len(_HEAD) + words, style="dim")
    share = spent.cycles / whole if whole else 0
    cpi = "" if spent.cpi is None else f"{spent.cpi:.2f}"
    cause = spent.main_cause[:_CAUSE_CELLS]
    numbers = (
        f"{spent.cycles:>13,} {100 * share:>5.1f} % {spent.executions:>11,} {cpi:>8}  "
        f"{cause:<{_CAUSE_CELLS}}  "
    )
    style = "bold red" if share >= _HOT else "yellow" if share >= _WARM else ""
    return Text(numbers, style=style).append(words, style=style)
