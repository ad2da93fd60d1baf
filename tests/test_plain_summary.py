"""The summary of a run as text is what the tables print into a file."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from cyclescope import Board, firmware
from cyclescope.board.results import RunResult
from cyclescope.cli import plain_summary, tables


@pytest.fixture(scope="module")
def result() -> RunResult:
    board = "kc705-axi-quad-spi"
    loaded = Board(board).load(firmware.build_app("hello", board, {}))
    return loaded.run("1s", sections=["console_print"])


def printed(result: RunResult) -> str:
    text = io.StringIO()
    Console(file=text, width=plain_summary.WIDTH).print(tables.run_summary(result))
    return text.getvalue()


@pytest.mark.parametrize(
    "changes",
    [{}, {"results": {"words": tuple(range(200)), "one": (7,)}}, {"elapsed_ps": 0, "wall_ns": 1}],
)
def test_text_is_what_the_tables_print(result: RunResult, changes: dict[str, Any]) -> None:
    changed = replace(result, **changes)
    assert plain_summary.text(changed) == printed(changed)


def with_cause(result: RunResult, cause: str) -> RunResult:
    core = result.cores[0]
    stack = (replace(core.stack[0], cause=cause), *core.stack[1:])
    return replace(result, cores=(replace(core, stack=stack),))


def test_a_long_name_is_no_matter_while_the_table_fits(result: RunResult) -> None:
    named = with_cause(result, "load: " + "n" * 60)
    assert plain_summary.text(named) == printed(named)


@pytest.mark.parametrize("cause", ["n" * 120, "load: [b]", "load: \u4e2d", "a:smile:b", "\t"])
def test_what_is_not_plain_is_left_to_the_tables(result: RunResult, cause: str) -> None:
    assert plain_summary.text(with_cause(result, cause)) is None


def test_a_stack_of_nothing_is_left_to_the_tables(result: RunResult) -> None:
    core = replace(result.cores[0], stack=())
    assert plain_summary.text(replace(result, cores=(core,))) is None
