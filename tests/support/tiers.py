"""Two tiers of tests: `make test` runs the short one, `make test-all` everything.

A test that takes long has the mark `long` and a short form beside it: other parameters, fewer
examples, a smaller run. `CYCLESCOPE_TESTS=all` asks for all of them, however pytest is called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

import pytest

ALL = os.environ.get("CYCLESCOPE_TESTS") == "all"
# The limit of processor time for a test of the short tier, with all the processes that it starts.
MOST_CPU_S = 20.0
# Hypothesis tries this number of examples of a property in the short tier, and 100 otherwise.
SHORT_EXAMPLES = 20

Value = TypeVar("Value")


def sized(short: int, whole: int) -> int:
    """A number of repetitions: `short` in `make test`, `whole` in `make test-all`."""
    return whole if ALL else short


def mostly_long(
    values: Iterable[Value],
    short: Collection[Any] | Callable[[Value], bool],
    key: Callable[[Value], Any] = lambda value: value,
) -> list[Any]:
    """Parameters of a test. `make test` runs only those that `short` has or accepts.

    `key` is what `short` has of a value. Raises `ValueError` if `make test` would run none.
    """
    values = list(values)
    is_short = short if callable(short) else lambda value: key(value) in short
    if not any(map(is_short, values)):
        raise ValueError(f"none of the parameters {values} is in {short}: no short form is left")
    return [
        value if is_short(value) else pytest.param(value, marks=pytest.mark.long)
        for value in values
    ]
