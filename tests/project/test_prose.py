"""`scripts/prose` finds what it is for, and the glossary has the words that are left."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from cyclescope.board.description import parameters
from cyclescope.board.outcome.kept_calls import KINDS

sys.path.append(str(ROOT / "scripts" / "prose"))

import extracting
import patterns

MOST_WORDS = 40
GLOSSARY = ROOT / "docs" / "glossary.md"
# Kinds of waits that are a device's work are the field's words.
PLAIN_KINDS = {"busy", "wire", "transfer", "serial", "conversion", "timer", "other"}


def found(name: str, text: str) -> list[tuple[int, str]]:
    """Lines and words of all findings in a file of this name."""
    path = Path(name)
    lines = [
        (piece.line_of(match.start()), " ".join(match[0].split()))
        for piece in extracting.prose(path, text)
        for match, _ in patterns.in_prose(piece.text)
    ]
    lines += [
        (piece.line_of(match.start()), match[0])
        for piece in extracting.names(path, text)
        for match, _ in patterns.in_names(piece.text, path)
    ]
    return sorted(lines)


@pytest.mark.parametrize(
    "phrase",
    [
        "It tells the device.",
        "They are told apart.",
        "The byte behind the header.",
        "After so many bytes.",
        "There is none.",
        "Both come to the same.",
        "All pins are alike.",
        "One of these is high.",
        "Two pins, of which one is high.",
        "The device who raised it.",
        "An interrupt storm.",
        "At a seam of two ranges.",
        "In the beginning.",
    ],
)
def test_each_pattern_is_found_wherever_prose_stands(phrase: str) -> None:
    assert found("a.md", f"# Title\n\n{phrase}\n")[0][0] == 3
    assert found("a.md", f"```\n{phrase}\n```\n`{phrase}`\n") == []
    assert found("a.rs", f"fn a() {{}}\n/// {phrase}\nfn b() {{}}\n")[0][0] == 2
    assert found("a.rs", f'fn a() {{\n    note("{phrase}");\n}}\n')[0][0] == 2
    assert found("a.py", f'"""{phrase}"""\n\nA = 1  # {phrase}\n')[0][0] == 1
    assert found("a.py", f'A = 1\nB = "{phrase}"\n')[0][0] == 2
    assert found("a.dts", f"/ {{\n\t/* {phrase} */\n}};\n")[0][0] == 2
    assert found("a.toml", f'a = 1\nb = "{phrase}"  # {phrase}\n')[0][0] == 2


def test_a_phrase_is_found_over_the_end_of_a_line() -> None:
    assert found("a.rs", "/// The byte behind\n/// the header.\n") == [(1, "behind")]
    assert found("a.py", "# after so\n# many bytes\n") == [(1, "so many")]


def test_words_in_their_common_sense_are_no_findings() -> None:
    text = """
    A chip behind a bridge. Behind the second-level cache controller. Tell us. Can it tell me?
    People who type. As long as it lasts; for so long as it lasts. The clock is stretched.
    """
    assert found("a.md", text) == []


def test_private_words_in_names_are_found() -> None:
    text = "def is_told(): pass\n\nclass Storm: pass\n\nretold = 1\nbehind_cycles = 2\n"
    assert found("a.py", text) == [(1, "is_told"), (3, "Storm"), (6, "behind_cycles")]
    assert found("a.py", 'row["told"]\n') == []


def entries() -> dict[str, tuple[str, str]]:
    """The glossary's words, each with its meaning and where it is used."""
    rows = re.findall(r"^\| (?!word|-)([^|]+) \| ([^|]+) \| (.+) \|$", GLOSSARY.read_text(), re.M)
    return {
        word.strip("* "): (meaning, where)
        for heads, meaning, where in rows
        for word in heads.split(",")
    }


def test_the_glossary_is_short_and_leads_to_where_its_words_are_used() -> None:
    assert 20 <= len(entries()) <= MOST_WORDS
    for word, (_, where) in entries().items():
        links = re.findall(r"\]\(([^)#]+)", where)
        assert links, word
        texts = [(ROOT / "docs" / link).read_text(encoding="utf-8").lower() for link in links]
        assert any(re.search(rf"\b{word.lower()}", text) for text in texts), word


def test_words_that_results_print_are_in_the_glossary() -> None:
    printed = {
        parameters.ASSUMED,
        parameters.CALIBRATED,
        "documented",
        "derived",
        "predicted",
        "independent",
        "plausible",
        *(kind for kind in KINDS if kind not in PLAIN_KINDS),
    }
    assert printed <= entries().keys()


def test_no_word_of_the_glossary_is_one_to_avoid() -> None:
    assert found("a.md", "\n".join(entries())) == []


def test_the_command_says_what_it_finds_and_where() -> None:
    script = ROOT / "scripts" / "prose"
    done = subprocess.run(
        [sys.executable, str(script), str(ROOT / "README.md"), str(GLOSSARY)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "prose: nothing found\n", "")
