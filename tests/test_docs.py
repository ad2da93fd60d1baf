"""The pages: lines that fit a screen, a README that is read to its end."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

MOST_COLUMNS = 100
MOST_README_LINES = 120
# An address, or a link alone in its line.
LONG_LINK = re.compile(r"https?://\S{60,}|^\s*(- )?\[[^\]]*\]\(\S*\)\S*$")


def pages() -> list[str]:
    """All Markdown files that git knows."""
    listed = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run([*listed, "*.md"], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def long_lines(text: str) -> Iterator[str]:
    """Lines of prose that are too long; tables, code and addresses can't be broken."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        can_be_broken = not line.lstrip().startswith("|") and not LONG_LINK.search(line)
        if len(line) > MOST_COLUMNS and not in_code and can_be_broken:
            yield f"{number}: {line}"


@pytest.mark.parametrize("page", pages())
def test_lines_of_prose_have_at_most_100_columns(page: str) -> None:
    assert not list(long_lines((ROOT / page).read_text(encoding="utf-8")))


def test_a_long_line_is_found() -> None:
    long = "word " * 21
    assert list(long_lines(f"short\n{long}\n")) == [f"2: {long}"]
    assert not list(long_lines(f"```\n{long}\n```\n| {long} |\n"))
    assert list(long_lines(f"```\n```\n{long}\n"))
    assert not list(long_lines(f"- [{long}](page.md):\n"))
    assert list(long_lines(f"- [one](page.md): {long}\n"))


def test_the_readme_is_short() -> None:
    lines = Path(ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_README_LINES
