"""Short representations of results for an interpreter: a few lines instead of all data."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_LETTERS = 160
_MOST_NAMES = 6


def short(of: object, **fields: object) -> str:
    """`RunResult(board='stm32f4-disco', outcome='exit', ...)`, with the longest values cut."""
    values = (f"{name}={_cut(repr(value))}" for name, value in fields.items())
    return f"{type(of).__name__}({', '.join(values)})"


def names(found: Iterable[str]) -> list[str]:
    """The first names, and the number of further ones."""
    known = list(found)
    left = len(known) - _MOST_NAMES
    return [*known[:_MOST_NAMES], f"and {left} more"] if left > 0 else known


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
