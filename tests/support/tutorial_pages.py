"""A tutorial's Markdown as a list of its reader's steps: files to write, commands to type.

A fenced block with `title="NAME"` is a file. `title="NAME, added"` stands at the end of that file,
`title="NAME, in its place"` replaces what was added last. A `console` block holds commands after
`$ ` (a line that ends in a backslash continues), each with its output: `...` stands for any text
within a line, alone in a line for any lines. A block with `needs="TOOL"` is left out where there is
no such tool.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="(?P<name>[^",]+)(?:, (?P<how>added|in its place))?"')
_NEEDS = re.compile(r'needs="(?P<tool>[^"]+)"')


@dataclass(frozen=True)
class File:
    """A file of the page: `how` is "added", "in its place", or None for a new one."""

    name: str
    how: str | None
    text: str


@dataclass(frozen=True)
class Call:
    """A command of the page, and its output in the page."""

    line: int
    command: str
    output: str


Step = File | Call


def steps(page: Path) -> Iterator[Step]:
    """The steps of a page's reader, in order."""
    text = page.read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        title = _TITLE.search(block["info"])
        if title:
            yield File(title["name"], title["how"], block["text"])
        elif block["info"].split()[:1] == ["console"] and _is_possible(block["info"]):
            first_line = text.count("\n", 0, block.start("text")) + 1
            yield from _calls(block["text"], first_line)


def shown(page: Path, tool: str) -> Iterator[Call]:
    """The commands of a page that are left out without their tool."""
    text = page.read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        needed = _NEEDS.search(block["info"])
        if needed and needed["tool"] == tool:
            yield from _calls(block["text"], text.count("\n", 0, block.start("text")) + 1)


def titled(page: Path) -> Iterator[tuple[str, str]]:
    """The files of a page, each with the prose between it and the block before."""
    text = page.read_text(encoding="utf-8")
    end = 0
    for block in _BLOCK.finditer(text):
        title = _TITLE.search(block["info"])
        if title:
            yield title["name"], text[end : block.start()]
        end = block.end()


def _is_possible(info: str) -> bool:
    needed = _NEEDS.search(info)
    return needed is None or shutil.which(needed["tool"]) is not None


def _calls(text: str, first_line: int) -> Iterator[Call]:
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    assert starts[:1] == [0], f"line {first_line}: a console block begins with a command"
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = start
        while lines[last].endswith("\\"):
            last += 1
        command = "\n".join(lines[start : last + 1]).removeprefix("$ ")
        yield Call(first_line + start, command, "\n".join(lines[last + 1 : end]))


class Scratch:
    """The folder in which a reader follows a page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._before: dict[str, str] = {}

    def write(self, file: File) -> None:
        """Write or change a file as the page says."""
        path = self.folder / file.name
        if file.how == "added":
            self._before[file.name] = path.read_text(encoding="utf-8")
        kept = "" if file.how is None else self._before[file.name]
        path.write_text(kept + file.text, encoding="utf-8")


def matches(shown: str, printed: str) -> bool:
    """Whether a command's output matches the page's; spaces at the ends of lines do not count."""
    lines = [line.rstrip() for line in shown.splitlines()]
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else ".*?".join(map(re.escape, line.split("..."))) + r"\n"
        for line in lines
    )
    text = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.fullmatch(pattern, text) is not None
