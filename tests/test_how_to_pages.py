"""How-to pages whose commands are typed in, in a folder that has docs/examples."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from test_tutorials import follow
from tutorial_pages import titled

EXAMPLES = ROOT / "docs" / "examples"
PAGES = [ROOT / "docs" / "how-to" / f"{name}.md" for name in ("device-in-python",)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_print_what_they_show(page: Path, tmp_path: Path) -> None:
    for example in EXAMPLES.iterdir():
        if example.is_file():
            shutil.copy(example, tmp_path)
    follow(page, tmp_path)
    # a file that the page shows in full is the example
    for name, _ in titled(page):
        if (EXAMPLES / name).exists():
            assert (tmp_path / name).read_text() == (EXAMPLES / name).read_text(), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_are_named_in_the_prose_above_them(page: Path) -> None:
    for file, prose in titled(page):
        assert f"`{file}`" in prose, f"{page.name}: a forge does not show the title {file}"
