"""A comparison as Markdown, for the description of a pull request or a comment in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cyclescope.comparing import lines, words
from cyclescope.comparing.differences import Change, Comparison, MetricChange
from cyclescope.comparing.limits import Exceeded
from cyclescope.comparing.lines import Line
from cyclescope.comparing.plain import Instructions

_MOST_FUNCTIONS = 10


def markdown(
    comparison: Comparison,
    instructions: Instructions,
    exceeded: Sequence[Exceeded] = (),
    fail_over: str | None = None,
) -> str:
    """Headline, what exceeds `fail_over`, metrics, and for each core the functions that differ."""
    before, after = comparison.before, comparison.after
    parts = [f"### {_headline(comparison)}"]
    parts.append(f"{_code(before.label)} → {_code(after.label)}{_on(comparison)}")
    ended = words.ends(comparison)
    if ended:
        parts.append(f"**{_text(ended)}**")
    if fail_over is not None:
        parts.append("\n".join(_verdict(exceeded, fail_over)))
    if not comparison.is_equal:
        parts += ["\n".join(table) for table in _tables(comparison, instructions) if table]
    return "\n\n".join(parts) + "\n"


def _headline(comparison: Comparison) -> str:
    if comparison.is_equal:
        return f"Cyclescope: {words.NO_DIFFERENCE}"
    cores = [core for core in comparison.cores if core.cycles.difference]
    shown = [
        f"{_text(core.name)} {words.percent(core.cycles)} "
        f"({words.signed(core.cycles.difference)} cycles)"
        for core in cores
    ]
    if not shown:
        shown = ["the same cycles, but not all is the same"] if comparison.cores else ["changed"]
    return f"Cyclescope: {', '.join(shown)}"


def _on(comparison: Comparison) -> str:
    board = comparison.after.board
    return f" on {_code(board)}" if board and board == comparison.before.board else ""


def _verdict(exceeded: Sequence[Exceeded], fail_over: str) -> Iterator[str]:
    if not exceeded:
        yield f"Nothing got worse by more than {fail_over}."
        return
    yield f"**Worse by more than {fail_over}:**"
    yield ""
    for one in exceeded:
        yield f"- {_text(one.what)}: {_moved(one.change)} {_text(one.unit)}"


def _moved(change: Change) -> str:
    return f"{words.number(change.before)} → {words.number(change.after)} ({words.percent(change)})"


def _tables(comparison: Comparison, instructions: Instructions) -> Iterator[list[str]]:
    yield _changes(("core", "cycles before"), lines.cores(comparison))
    yield _metrics(comparison.metrics)
    for core in comparison.cores:
        name = _text(core.name)
        if core.differing:
            found = lines.functions(core, instructions, _MOST_FUNCTIONS)
            yield _changes((f"function on {name}", "before"), found, core.cycles)
        sections = lines.sections(core, only_differing=True)
        yield _changes((f"section on {name}", "before"), sections)
    yield [f"- {_text(line)}" for line in words.counters(comparison)]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _changes(
    first: tuple[str, str], rows: Iterable[Line], total: Change | None = None
) -> list[str]:
    """A table whose first headings are these; empty without rows."""
    shown = [
        _row(
            _code(row.name) if row.is_code else _text(row.name),
            *row.numbers,
            "<br>".join(map(_text, row.why)),
        )
        for row in rows
    ]
    if total is not None:
        shown.append(_row("**all**", *Line("", total).numbers, ""))
    head = [
        _row(*first, "after", "difference", "%", "why"),
        _row("---", "---:", "---:", "---:", "---:", "---"),
    ]
    return [*head, *shown] if shown else []


def _metrics(metrics: Sequence[MetricChange]) -> list[str]:
    head = [_row("metric", "before", "after", "%", ""), _row("---", "---:", "---:", "---:", "---")]
    shown = [_row(_text(name), *values) for name, *values in map(lines.metric, metrics)]
    return [*head, *shown] if shown else []


def _text(text: str) -> str:
    """A text within a cell, with no Markdown except code between backticks."""
    parts = text.split("`")
    for index in range(0, len(parts), 2):
        for letter in "\\<*_[#":
            parts[index] = parts[index].replace(letter, f"\\{letter}")
    return "`".join(parts).replace("|", "\\|").replace("\n", " ")


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`".replace("|", "\\|").replace("\n", " ")
