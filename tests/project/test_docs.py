"""The pages: lines that fit a screen, a README that is read to its end, files that are there."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

MOST_COLUMNS = 100
MOST_README_LINES = 200
# An address, or a link alone in its line.
LONG_LINK = re.compile(r"https?://\S{60,}|^\s*(- )?\[[^\]]*\]\(\S*\)\S*$")
CODE_BLOCK = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`]+)`")
# A file by its path; `<name>` in it is any name.
OUR_FILE = re.compile(
    r"(bench|bindings|boards|cyclescope|docs|engine|firmware|published|scripts|tests)/"
    r"[\w./*<>-]*\.\w+"
)
ENGINE_FILE = re.compile(r"[\w./*<>-]+\.rs")


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


def missing_files(page: str, text: str) -> list[str]:
    """Our files that a page names in backticks and that are not there.

    On pages about the engine they may be relative to its sources; a bare name is of any of these.
    """
    is_of_engine = page.startswith("docs/architecture") or page == "CONTRIBUTING.md"
    code = " ".join(CODE.findall(CODE_BLOCK.sub("", text)))
    missing = []
    for word in code.split():
        path = re.sub("<[^>]*>", "*", word)
        if OUR_FILE.fullmatch(word):
            is_there = any(ROOT.glob(path))
        elif is_of_engine and ENGINE_FILE.fullmatch(word):
            is_there = any((ROOT / "engine" / "src").glob(path if "/" in path else f"**/{path}"))
        else:
            continue
        if not is_there:
            missing.append(word)
    return missing


@pytest.mark.parametrize(
    "page", [page for page in pages() if re.match(r"docs/|README\.md|CONTRIBUTING\.md", page)]
)
def test_files_that_pages_name_are_there(page: str) -> None:
    assert missing_files(page, (ROOT / page).read_text(encoding="utf-8")) == []


def test_a_missing_file_is_found() -> None:
    there = "`engine/src/bus.rs` `boards/<name>.dts` `make bench/`\n```\n`tests/gone.py\n```\n"
    gone = ["engine/src/gone.rs", "boards/<name>.gone", "bench/gone.py"]
    assert missing_files("README.md", f"{there}`{gone[0]}` `{gone[1]}` `python {gone[2]}`") == gone
    relative = "`bus/path.rs` `path.rs` `isa/<set>/execute.rs` `cpu/path.rs` `gone.rs`"
    assert missing_files("README.md", relative) == []
    assert missing_files("docs/architecture/cores.md", relative) == ["cpu/path.rs", "gone.rs"]


JOBS = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_jobs_for_ci_are_yaml_and_run_what_they_say() -> None:
    yaml = pytest.importorskip("yaml")
    page = (ROOT / "docs" / "tutorials" / "performance-in-ci.md").read_text(encoding="utf-8")
    github, gitlab = map(yaml.safe_load, JOBS.findall(page))
    steps = [step["run"] for step in github["jobs"]["performance"]["steps"] if "run" in step]
    for commands in (steps, gitlab["performance"]["script"]):
        assert all(isinstance(command, str) for command in commands)
        assert any(re.match("cyclescope compare .* --markdown summary.md$", c) for c in commands)
        assert "pytest" in commands
