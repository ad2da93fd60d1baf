"""A comparison as Markdown, for the description of a pull request or a comment there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclescope.comparing import words
from cyclescope.comparing.differences import Change, Comparison, CoreChange, MetricChange
from cyclescope.comparing.limits import Exceeded
from cyclescope.comparing.plain import Instructions

_MOST_FUNCTIONS = 10
_VERDICTS = {"worse": "worse", "better": "better", "new": "new", "gone": "gone"}


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
    yield _cores(comparison)
    yield _metrics(comparison.metrics)
    for core in comparison.cores:
        yield _functions(core, instructions)
        yield _sections(core)
    yield [f"- {_text(line)}" for line in words.counters(comparison)]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cores(comparison: Comparison) -> list[str]:
    lines = [_row("core", "cycles before", "after", "difference", "%", "why")]
    lines.append(_row("---", "---:", "---:", "---:", "---:", "---"))
    for core in comparison.cores:
        if core.cycles.before or core.cycles.after:
            lines.append(
                _row(_text(core.name), *_numbers(core.cycles), _text(words.causes(core.causes)))
            )
    return lines if len(lines) > 2 else []


def _numbers(change: Change) -> tuple[str, str, str, str]:
    return (
        words.number(change.before),
        words.number(change.after),
        words.signed(change.difference) if change.difference else "0",
        words.percent(change),
    )


def _metrics(metrics: Sequence[MetricChange]) -> list[str]:
    lines = [_row("metric", "before", "after", "%", "")]
    lines.append(_row("---", "---:", "---:", "---:", "---"))
    for metric in metrics:
        lines.append(
            _row(
                _text(words.metric_name(metric)),
                *words.metric_values(metric),
                _VERDICTS.get(metric.verdict, ""),
            )
        )
    return lines if len(lines) > 2 else []


def _functions(core: CoreChange, instructions: Instructions) -> list[str]:
    differing = core.differing
    if not differing:
        return []
    lines = [_row(f"function on {_text(core.name)}", "before", "after", "difference", "%", "why")]
    lines.append(_row("---", "---:", "---:", "---:", "---:", "---"))
    for one in differing[:_MOST_FUNCTIONS]:
        found = [
            words.instruction(change) for change in instructions.get((core.name, one.name), ())
        ]
        reason = "<br>".join([_text(words.why(one)), *map(_text, found)])
        lines.append(_row(_code(one.name), *_numbers(one.cycles), reason))
    rest = words.rest(core, differing[:_MOST_FUNCTIONS])
    if rest is not None:
        lines.append(_row(rest[0], *_numbers(rest[1]), ""))
    lines.append(_row("**all**", *_numbers(core.cycles), ""))
    return lines


def _sections(core: CoreChange) -> list[str]:
    lines = [_row(f"section on {_text(core.name)}", "before", "after", "difference", "%", "why")]
    lines.append(_row("---", "---:", "---:", "---:", "---:", "---"))
    for section in core.sections:
        if not section.is_equal:
            numbers = _numbers(section.cycles)
            lines.append(_row(_code(section.name), *numbers, _text(words.section_why(section))))
    return lines if len(lines) > 2 else []


def _text(text: str) -> str:
    """A text within a cell, with nothing of it as Markdown but code between backticks."""
    parts = text.split("`")
    for index in range(0, len(parts), 2):
        for letter in "\\<*_[#":
            parts[index] = parts[index].replace(letter, f"\\{letter}")
    return "`".join(parts).replace("|", "\\|").replace("\n", " ")


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`".replace("|", "\\|").replace("\n", " ")
