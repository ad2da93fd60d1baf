"""A run's summary as lines of text, as `tables` prints it into a file or a pipe.

What makes tables for terminals takes as long to import as a short run takes. `text` gives `None`
where that is needed: what has more to it than plain columns.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from cyclescope.board.results import RunResult
from cyclescope.cli import summary

WIDTH = 120
# By these, `tables` writes for a terminal where there is none.
_AS_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE", "JUPYTER_COLUMNS")


def is_for(stream: TextIO) -> bool:
    """Whether lines of text are what `tables` would write there."""
    if any(name in os.environ for name in _AS_TERMINAL) or sys.platform == "win32":
        return False
    return not stream.isatty() and stream.encoding.lower().replace("-", "") == "utf8"


def text(result: RunResult) -> str | None:
    """The summary; `None` if its words are not plain, or too long."""
    stacks = list(summary.stacks(result))
    if not all(map(_is_plain_table, stacks)):
        return None
    facts = summary.facts(result)
    label_width, fact_width = (max(map(len, column)) for column in zip(*facts, strict=True))
    lines = [f"{label:<{label_width}}  {fact:<{fact_width}}" for label, fact in facts]
    for name, words in result.results.items():
        lines += summary.words(name, words)
    for stack in stacks:
        lines += _table(stack)
    if not all(len(line) <= WIDTH and line.isprintable() for line in lines):
        return None
    return "".join(f"{line}\n" for line in lines)


def _is_plain_table(stack: summary.Stack) -> bool:
    names = [stack.title, *(row[0] for row in stack.rows)]
    return bool(stack.rows) and len(stack.title) <= _width(stack) and all(map(_is_plain, names))


def _is_plain(word: str) -> bool:
    """Whether a name stands in a table as it is: no markup, and a column a character."""
    return word.isascii() and "[" not in word and "\\" not in word and word.count(":") < 2


def _widths(stack: summary.Stack) -> list[int]:
    """Of a table's columns."""
    rows = [summary.HEADINGS, *stack.rows, stack.total]
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _width(stack: summary.Stack) -> int:
    """Of the table, with its lines."""
    widths = _widths(stack)
    return sum(widths) + 3 * len(widths) + 1


def _table(stack: summary.Stack) -> list[str]:
    widths = _widths(stack)

    def rule(left: str, line: str, between: str, right: str) -> str:
        return left + between.join(line * (width + 2) for width in widths) + right

    def row(bar: str, cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        shown = [f"{first[0]:<{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)]
        return f"{bar} {f' {bar} '.join(shown)} {bar}"

    return [
        f"{stack.title:<{_width(stack)}}",
        rule("┏", "━", "┳", "┓"),
        row("┃", summary.HEADINGS),
        rule("┡", "━", "╇", "┩"),
        *(row("│", cells) for cells in stack.rows),
        rule("├", "─", "┼", "┤"),
        row("│", stack.total),
        rule("└", "─", "┴", "┘"),
    ]
