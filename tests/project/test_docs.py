"""The pages: lines that fit a screen, a short README, existing files."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import ROOT

from cyclescope.board import shipped_boards
from cyclescope.cli import cli

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
    """Our files that a page names in backticks and that do not exist.

    Pages about the engine may name them relative to the sources of one of its crates, or of all
    of them; a bare name is in any folder.
    """
    is_of_engine = page.startswith("docs/architecture") or page == "CONTRIBUTING.md"
    code = " ".join(CODE.findall(CODE_BLOCK.sub("", text)))
    missing = []
    for word in code.split():
        path = re.sub("<[^>]*>", "*", word)
        if OUR_FILE.fullmatch(word):
            is_there = any(ROOT.glob(path))
        elif is_of_engine and ENGINE_FILE.fullmatch(word):
            crate, _, rest = path.partition("/")
            is_there = any(
                (ROOT / "engine").glob(f"{crate}/src/{rest}" if rest else f"*/src/**/{path}")
            )
            is_there |= any((ROOT / "engine").glob(f"*/src/{path}"))
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
    there = (
        "`engine/engine/src/bus.rs` `boards/<name>.dts` `make bench/`\n```\n`tests/gone.py\n```\n"
    )
    gone = ["engine/engine/src/gone.rs", "boards/<name>.gone", "bench/gone.py"]
    assert missing_files("README.md", f"{there}`{gone[0]}` `{gone[1]}` `python {gone[2]}`") == gone
    relative = "`bus/path.rs` `path.rs` `isa/<set>/execute.rs` `cpu/path.rs` `gone.rs`"
    assert missing_files("README.md", relative) == []
    assert missing_files("docs/architecture/cores.md", relative) == ["cpu/path.rs", "gone.rs"]


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        *(f"docs/{name}.md" for name in ("tutorials/first-run", "how-to/install", "how-to/ci")),
    ],
)
def test_pages_name_the_required_versions(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    python = toml("pyproject.toml")["project"]["requires-python"].removeprefix(">=")
    cargo = toml("Cargo.toml")["workspace"]["package"]["rust-version"]
    assert set(re.findall(r"Python (3\.\d+)", text)) == {python}
    assert set(re.findall(r"cargo (1\.\d+)", text)) == {cargo}


def test_the_page_on_installing_has_all_extras() -> None:
    text = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    table = text.partition("## Optional packages")[2].partition("\n## ")[0]
    extras = toml("pyproject.toml")["project"]["optional-dependencies"]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(extras)


# ---- the page of questions

QUESTIONS = ROOT / "docs" / "how-to" / "can-it-tell-me.md"
# Words that firmware engineers search for: each is on the page, for the site's search.
ASKED = (
    "cycles of a function",
    "stack depth",
    "coverage",
    "code coverage",
    "energy",
    "jitter",
    "worst case",
    "WCET",
    "interrupt latency",
    "code size",
    "memory use",
    "my chip",
    "RTOS",
    "FreeRTOS",
    "Zephyr",
    "ChibiOS",
    "NuttX",
    "RTX",
    "Arduino",
    "PlatformIO",
    "CubeMX",
    "STM32CubeIDE",
    "Keil",
    "IAR",
    "Rust",
    "Embassy",
    "RTIC",
    "MicroPython",
    "VS Code",
    "GDB",
    "RTT",
    "defmt",
    "SWO",
    "ITM",
    "logic analyser",
    "Windows",
    "WSL",
    "macOS",
    "Docker",
    "CI",
    "RP2040",
    "ESP32",
    "nRF52",
    "STM32F1",
    "STM32F103",
    "Blue Pill",
    "Raspberry Pi Pico",
    "Linux",
    "multi-core",
    "cache misses",
    "DMA",
    "power",
    "floating point",
    "unit tests",
    "QEMU",
    "Renode",
    "Wokwi",
)
ROW = re.compile(r"^\| (?P<what>.+?) \| (?P<answer>.*?) \| (?P<how>.+) \|$", re.MULTILINE)
ANSWERS = {"yes", "partly", "no", "untested", "by WSL"}


@pytest.mark.parametrize("words", ASKED)
def test_words_that_users_search_for_are_on_the_page_of_questions(words: str) -> None:
    text = QUESTIONS.read_text(encoding="utf-8")
    assert re.search(rf"(?<![\w-]){re.escape(words)}(?!\w)", text)


def test_each_question_has_an_answer() -> None:
    rows = ROW.finditer(QUESTIONS.read_text(encoding="utf-8"))
    questions = [row for row in rows if row["answer"]]
    assert len(questions) > len(ASKED) / 2
    assert {row["answer"] for row in questions} == ANSWERS
    # a "yes" names the command or the page
    for row in questions:
        assert row["answer"] != "yes" or "](" in row["how"] or "`" in row["how"], row["what"]


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of Cyclescope in a page's code, each with its words."""
    for code in CODE.findall(CODE_BLOCK.sub("", text)):
        program, *words = code.split()
        if program == "cyclescope" and words:
            yield words[0], words[1:]


def unknown(text: str) -> list[str]:
    """Names in a page's commands that do not exist: commands, options, boards."""
    found = []
    for name, words in commands(text):
        command = cli.get_command(click.Context(cli), name)
        if command is None:
            found.append(name)
            continue
        options = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
        found += [word for word in words if word.startswith("-") and word not in options]
        boards = [after for before, after in pairwise(words) if before == "--board"]
        found += [name for name in boards if name not in shipped_boards()]
    return found


def test_commands_on_the_page_of_questions_exist() -> None:
    text = QUESTIONS.read_text(encoding="utf-8")
    assert len(list(commands(text))) > 20
    assert unknown(text) == []
    assert unknown("`cyclescope gone` `cyclescope run a.elf --gone --board gone`") == [
        "gone",
        "--gone",
        "gone",
    ]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the site makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one).strip().lower().replace(" ", "-") for one in headings}


@pytest.mark.parametrize(
    "page", [QUESTIONS, QUESTIONS.with_name("install.md")], ids=lambda p: p.stem
)
def test_links_lead_to_pages_and_headings(page: Path) -> None:
    links = re.findall(r"\]\(([^):]+\.md)(?:#([\w-]+))?\)", page.read_text(encoding="utf-8"))
    assert links
    for name, anchor in links:
        there = page.parent / name
        assert there.is_file(), name
        assert not anchor or anchor in anchors(there), f"{name}#{anchor}"


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
