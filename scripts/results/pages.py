"""The text between markers in a page, and the text that should be there.

    Calls of 768 bytes take <!--= fat-write | 768 B total | simulated .0f -->211<!--/--> s.

    <!--= table: rows fat-write total_time digits=4 -->

    | row | published | ...

    <!--/-->

The keys of the first are in `keys`, the names of the second in `blocks`. Neither takes part in
fenced code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import blocks
import keys
import wrapping
from keys import Source, UnknownKeyError

_MARKED = re.compile(r"<!--=(?P<key>(?:(?!-->).)*)-->(?P<text>.*?)<!--/-->", re.DOTALL)
_STRAY = re.compile(r"<!--=|<!--/-->")
_FENCED = re.compile(r"^ *```.*?^ *```[^\S\n]*$", re.MULTILINE | re.DOTALL)
_TABLE = "table:"


class PageError(Exception):
    """A marker without a value, with its place: FILE:LINE."""


@dataclass(frozen=True)
class Change:
    """The text between markers, and the text that should be there."""

    page: Path
    line: int
    key: str
    old: str
    new: str

    def __str__(self) -> str:
        if self.key.startswith(_TABLE):
            lines = zip(self.old.split("\n"), self.new.split("\n"), strict=False)
            pair = next(((a, b) for a, b in lines if a != b), ("another number of lines", ""))
            return f"{self.page}:{self.line}: {self.key}: {pair[0]!r}, now {pair[1]!r}"
        return f"{self.page}:{self.line}: {self.key}: {self.old!r}, now {self.new!r}"


def marked(text: str) -> Iterator[re.Match[str]]:
    """The markers of a page, each with its key and its text; those in fenced code don't count.

    The text between markers may be fenced code itself.
    """
    fences = [match.span() for match in _FENCED.finditer(text)]
    for match in _MARKED.finditer(text):
        if not any(begin <= match.start() < end for begin, end in fences):
            yield match


def outside(text: str) -> str:
    """A page without the text between markers; the number of lines stays."""
    pieces, end = [], 0
    for match in marked(text):
        pieces += [text[end : match.start()], _emptied(match)]
        end = match.end()
    return "".join([*pieces, text[end:]])


def _emptied(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def renewed(page: Path, text: str, source: Source) -> tuple[str, list[Change]]:
    """A page with its current numbers, and the changes.

    Raises `PageError` for a marker without its other half, or a key without a value.
    """
    _check_halves(page, text)
    pieces: list[str] = []
    changes: list[Change] = []
    end = 0
    for match in marked(text):
        line = text.count("\n", 0, match.start()) + 1
        key = " ".join(match["key"].split())
        try:
            new = _between(source, key, *_lines_before(text, match.start()))
        except UnknownKeyError as error:
            raise PageError(f"{page}:{line}: {key}: {error}") from error
        old = match["text"]
        is_same = old == new if key.startswith(_TABLE) else old.split() == new.split()
        if not is_same:
            changes.append(Change(page, line, key, old.strip(), new.strip()))
        pieces += [text[end : match.start("text")], old if is_same else new]
        end = match.end("text")
    whole = "".join([*pieces, text[end:]])
    return wrapping.wrapped(whole), changes


def _lines_before(text: str, at: int) -> tuple[str, str]:
    """The text before a place in its line, and the line before."""
    *_, line_before, here = ["", "", *text[:at].split("\n")]
    return here.strip(), line_before.strip()


def _between(source: Source, key: str, before: str, line_before: str) -> str:
    if not key.startswith(_TABLE):
        if not before and not line_before:
            # a line that begins with a comment is not prose in Markdown
            raise UnknownKeyError("begins its paragraph: put a word before it")
        return keys.text(source, key)
    if before:
        raise UnknownKeyError("a table's marker has its line for itself")
    return f"\n\n{blocks.text(source, key.removeprefix(_TABLE))}\n\n"


def _check_halves(page: Path, text: str) -> None:
    """Whether each marker has its end."""
    rest = _FENCED.sub(_emptied, outside(text))
    stray = _STRAY.search(rest)
    if stray:
        line = rest.count("\n", 0, stray.start()) + 1
        raise PageError(f"{page}:{line}: {stray[0]} is without its other half")
