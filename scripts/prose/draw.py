"""Sentences and messages drawn at random, for a reader who has not seen the project.

`python scripts/prose/draw.py [COUNT [SEED]]` prints COUNT of them (20), a line each, with its file:
a third each from the pages of docs/, from the help of commands, and from the messages and notes of
engine and package. The same SEED (0) draws the same ones from the same sources. If the reader can
say what fewer than nine in ten mean, something is to be rewritten.
"""

from __future__ import annotations

import ast
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import extracting

ROOT = Path(__file__).resolve().parents[2]
HELP = "docs/reference/command-line.md"
LEAST_WORDS = 6
_BLOCK = re.compile(r"^\s*([#|>`$<]|```)")
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z`])")
_MARKUP = re.compile(r"<!--.*?-->|\[([^\]]*)\]\([^)]*\)", re.DOTALL)


def page_sentences() -> Iterator[tuple[str, str]]:
    """The sentences of pages: no headings, tables or code."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if "reference" not in path.parts:
            name = path.relative_to(ROOT).as_posix()
            yield from ((name, sentence) for sentence in _sentences(path.read_text("utf-8")))


def help_sentences() -> Iterator[tuple[str, str]]:
    """What the help says of commands and options."""
    text = (ROOT / HELP).read_text(encoding="utf-8")
    yield from ((HELP, sentence) for sentence in _sentences(text))


def messages() -> Iterator[tuple[str, str]]:
    """Strings of several words in the engine and in the package: messages and notes."""
    for path in sorted((ROOT / "engine").glob("*/src/**/*.rs")):
        if "tests" in path.as_posix():
            continue
        text = path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
        for piece in extracting.prose(path, text):
            if piece.text.startswith('"'):
                yield path.relative_to(ROOT).as_posix(), _plain(piece.text.strip('"'))
    for path in sorted((ROOT / "cyclescope").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                text = " ".join(map(ast.unparse, node.exc.args))
                yield path.relative_to(ROOT).as_posix(), _plain(text)


def _sentences(text: str) -> Iterator[str]:
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", _MARKUP.sub(r"\1", text)):
        if not _BLOCK.match(paragraph):
            yield from _SENTENCE.split(_plain(paragraph))


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\\\n\s*", "", text).split()).removeprefix("- ")


def main(count: int = 20, seed: int = 0) -> None:
    """Print what was drawn."""
    dice = random.Random(seed)
    sources = [page_sentences, help_sentences, messages]
    for number in range(count):
        long = [(name, one) for name, one in sources[number % 3]() if one.count(" ") >= LEAST_WORDS]
        name, sentence = dice.choice(sorted(set(long)))
        print(f"{number + 1:2}. {sentence}  [{name}]")


main(*map(int, sys.argv[1:]))
