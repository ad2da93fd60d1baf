"""Takes the prose and the names out of files: by the comments and strings of their languages."""

from __future__ import annotations

import bisect
import io
import json
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Line comments, block comments and strings of Rust, C, devicetrees and JavaScript.
_C_TOKENS = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<char>b?'(?:\\.[^'\n]*|[^'\\\n])')"
    r'|(?P<string>b?r(?P<hashes>#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*")',
    re.DOTALL,
)
_HASH_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.MULTILINE)
_FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2[^\n]*$", re.DOTALL | re.MULTILINE)
_INLINE_CODE = re.compile(r"`[^`\n]+`|\]\([^)]*\)|<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"\{[%#{].*?[%#}]\}|<[^>]*>", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")

_C_LIKE = {".rs", ".c", ".h", ".S", ".inc", ".def", ".dts", ".dtsi", ".js", ".ld"}
_PYTHON = {".py", ".pyi"}
_HASHED = {".toml", ".yml", ".yaml", ".in", ".sh", ".cff"}
_MARKUP = {".j2", ".html", ".css"}
_WITHOUT_SUFFIX = {
    "Makefile",
    "run",
    "install-debian-packages",
    "rustc-with-clippy",
    "test-aarch64",
}


@dataclass(frozen=True)
class Piece:
    """A part of a file from offset `at` on; `starts` are the offsets at which its lines begin."""

    text: str
    at: int
    starts: list[int]

    def line_of(self, offset: int) -> int:
        """The number of the file's line that has a character of the piece."""
        return bisect.bisect_right(self.starts, self.at + offset)


def is_known(name: Path) -> bool:
    """Whether a file is of a kind that has prose."""
    kinds = _C_LIKE | _PYTHON | _HASHED | _MARKUP | {".md", ".ipynb"}
    return (
        name.suffix in kinds or name.name in _WITHOUT_SUFFIX or name.name.endswith(".schema.json")
    )


def prose(name: Path, text: str) -> Iterator[Piece]:
    """Each comment, each string of several words, or a text without its code."""
    starts = _starts(text)
    for begin, piece in _prose(name, text):
        yield Piece(piece, begin, starts)


def names(name: Path, text: str) -> Iterator[Piece]:
    """What is left of code without comments and strings."""
    if name.suffix in _PYTHON | {".rs"}:
        yield Piece(_without(text, _spans(name, text)), 0, _starts(text))


def _prose(name: Path, text: str) -> Iterator[tuple[int, str]]:
    if name.suffix == ".md":
        text = _FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), text)
        yield 0, _blanked(_INLINE_CODE, text)
    elif name.suffix in _MARKUP:
        yield 0, _blanked(_TAG, text)
    elif name.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            if cell["cell_type"] == "markdown":
                yield 0, _blanked(_INLINE_CODE, "".join(cell["source"]))
    elif name.suffix == ".json":
        for match in re.finditer(r'"description": *("(?:\\.|[^"\\])*")', text):
            yield match.start(1), match[1]
    elif name.suffix in _C_LIKE | _PYTHON:
        yield from _comments_and_strings(name, text)
    else:
        yield from ((match.start(), match[0]) for match in _HASH_COMMENT.finditer(text))
        if name.suffix == ".toml":
            yield from ((at, one) for at, one in _strings(text) if " " in one)


def _comments_and_strings(name: Path, text: str) -> Iterator[tuple[int, str]]:
    """Line comments that follow each other are one piece, so that phrases go over line ends."""
    joined: list[tuple[int, int]] = []
    for begin, end in _spans(name, text):
        piece = text[begin:end]
        if not piece.startswith(("//", "/*", "#")) and " " not in piece.strip("\"' "):
            continue
        if joined and piece.startswith(("//", "#")) and not text[joined[-1][1] : begin].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    for begin, end in joined:
        piece = re.sub(
            r"(?m)(?<=\n)[ \t]*(?://[/!]?|#|\*)", lambda one: " " * len(one[0]), text[begin:end]
        )
        yield begin, _blanked(re.compile(r"`[^`\n]+`"), piece)


def _spans(name: Path, text: str) -> list[tuple[int, int]]:
    """Where comments and strings are."""
    if name.suffix in _PYTHON:
        starts = _starts(text)
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return [
            (_offset(token.start, starts), _offset(token.end, starts))
            for token in tokens
            if token.type in (tokenize.COMMENT, tokenize.STRING)
        ]
    return [match.span() for match in _C_TOKENS.finditer(text) if not match["char"]]


def _strings(text: str) -> Iterator[tuple[int, str]]:
    for match in re.finditer(r'"""(.*?)"""|"((?:\\.|[^"\\\n])*)"', text, re.DOTALL):
        yield match.start(), match[0]


def _offset(place: tuple[int, int], starts: list[int]) -> int:
    return starts[place[0] - 1] + place[1]


def _starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    for begin, end in spans:
        text = text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]
    return text


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
