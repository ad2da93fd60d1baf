"""Argument lists are written out: no starred tuple or list only pleases the formatter."""

from __future__ import annotations

import ast
from pathlib import Path

from conftest import ROOT

FOLDERS = ("cyclescope", "tests", "scripts", "bench")


def starred(text: str) -> list[int]:
    """Lines with a starred tuple or list literal in a call, tuple, list or set."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Starred)]
    return [node.lineno for node in nodes if isinstance(node.value, ast.Tuple | ast.List)]


def test_a_starred_literal_is_found() -> None:
    text = "f(a, *(1, 2))\ng(*others, *(x for x in b))\nc = (*[3], 4)\n*d, e = c\n"
    assert starred(text) == [1, 3]


def test_argument_lists_are_written_out() -> None:
    paths: list[Path] = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert len(paths) > 500
    found = {path: lines for path in paths if (lines := starred(path.read_text(encoding="utf-8")))}
    assert found == {}
