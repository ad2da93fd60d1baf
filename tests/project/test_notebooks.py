"""Notebooks of the docs: what their cells give is what is stored in them, and on their pages."""

from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import cells
import page
import pytest
from conftest import ROOT
from tiers import ALL, sized

EXAMPLES = ROOT / "docs" / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
LINES = ["1\n", "2"]


def text(output: dict[str, Any]) -> dict[str, Any]:
    """An output without its picture, which other versions of Matplotlib draw otherwise."""
    data = {kind: found for kind, found in output.get("data", {}).items() if kind != "image/png"}
    return {**output, "data": data}


def test_there_is_a_notebook() -> None:
    assert [path.name for path in NOTEBOOKS] == ["profile.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_give_what_is_stored(path: Path, tmp_path: Path) -> None:
    stored = cells.load(path)
    folder = Path(shutil.copytree(path.parent, tmp_path / "notebook"))
    kinds = set()
    # the later ones draw, or run the program again
    ran = islice(cells.run(stored, folder), sized(3, len(stored["cells"])))
    for number, (cell, outputs) in enumerate(ran, 1):
        where = f"{path.name}, cell {number}; make it anew: python scripts/notebooks"
        assert cell["execution_count"] == number, where
        assert list(map(text, cell["outputs"])) == list(map(text, outputs)), where
        kinds |= {kind for output in outputs for kind in output.get("data", {})}
    assert kinds == {"text/plain", "text/html"} | ({"image/png"} if ALL else set())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_has_all_of_its_notebook(path: Path) -> None:
    made = page.page(path, "../examples/profile.ipynb")
    for cell in cells.load(path)["cells"]:
        assert cells.source(cell) in made
    assert made.count("<img ") == 2
    assert made.count("<table>") == made.count("</table>") == 6
    assert "<style" not in made


def notebook(*sources: str) -> dict[str, Any]:
    return {"cells": [{"cell_type": "code", "source": [source]} for source in sources]}


def outputs(folder: Path, *sources: str) -> list[list[dict[str, Any]]]:
    return [found for _, found in cells.run(notebook(*sources), folder)]


def test_cells_share_their_names_and_have_their_outputs(tmp_path: Path) -> None:
    before = Path.cwd()
    first, second, third, none = outputs(
        tmp_path, "a = 1\nprint(a)\nprint(2, end='')", "a + 1", "open('x', 'w').close(); a", "a;"
    )
    assert first == [{"output_type": "stream", "name": "stdout", "text": LINES}]
    (value,) = second
    assert (value["data"], value["execution_count"]) == ({"text/plain": ["2"]}, 2)
    assert [value["data"] for value in third] == [{"text/plain": ["1"]}]
    assert none == []
    assert (tmp_path / "x").exists()
    assert Path.cwd() == before


def test_a_fault_of_a_cell_says_where(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        outputs(tmp_path, "a = 1", "b = 2\na / 0")
    assert raised.traceback[-1].path == Path("cell 2") or "cell 2" in str(raised.traceback[-1])
