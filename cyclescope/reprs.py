"""What results show of themselves in an interpreter: a few lines, not all that they hold."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_LETTERS = 160
_MOST_NAMES = 6


def short(of: object, **told: object) -> str:
    """`RunResult(board='stm32f4-disco', outcome='exit', ...)`, with the longest values cut."""
    values = (f"{name}={_cut(repr(value))}" for name, value in told.items())
    return f"{type(of).__name__}({', '.join(values)})"


def names(found: Iterable[str]) -> list[str]:
    """Some names, and how many more there are."""
    known = list(found)
    left = len(known) - _MOST_NAMES
    return [*known[:_MOST_NAMES], f"and {left} more"] if left > 0 else known


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
