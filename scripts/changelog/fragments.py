"""Fragments of the changelog: files `changelog/<slug>.<kind>.md`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

# Kinds, in the order of a section, with their headings.
KINDS = {
    "added": "Added",
    "changed": "Changed",
    "fixed": "Fixed",
    "numbers": "Moved numbers",
}
NAME = re.compile(r"(?P<slug>[a-z0-9]+(-[a-z0-9]+)*)\.(?P<kind>[a-z]+)\.md")
# The columns of a row of moved numbers.
COLUMNS = ("number", "before", "after", "mechanism")
# A change is one paragraph; more belongs on a page that it links to.
MOST_CHARACTERS = 600


class ChangelogError(Exception):
    """A fragment, a version or a section that is not as it has to be."""


@dataclass(frozen=True)
class Fragment:
    """One change, as its file has it."""

    path: Path
    kind: str
    text: str


def read(folder: Path) -> list[Fragment]:
    """All fragments of a folder, by name. Raises `ChangelogError` with all faults, one a line."""
    found, faults = [], []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name == "README.md" or path.name.startswith("."):
            continue
        name = NAME.fullmatch(path.name)
        if not name or name["kind"] not in KINDS:
            kinds = ", ".join(KINDS)
            faults.append(f"{path.name}: it is not <slug>.<kind>.md with a kind of {kinds}")
            continue
        fragment = Fragment(path, name["kind"], path.read_text(encoding="utf-8").strip())
        faults += [f"{path.name}: {fault}" for fault in _faults(fragment)]
        found.append(fragment)
    if faults:
        raise ChangelogError("\nchangelog: ".join(faults))
    return found


def _faults(fragment: Fragment) -> list[str]:
    """The faults of a fragment's text."""
    if not fragment.text:
        return ["it is empty"]
    if fragment.kind == "numbers":
        wrong = [line for line in fragment.text.splitlines() if not _is_row(line)]
        columns = " | ".join(COLUMNS)
        return [f"a line is not | {columns} |: {line}" for line in wrong]
    faults = []
    if "\n\n" in fragment.text or re.match(r"[-*#|]", fragment.text):
        faults.append("it is not one paragraph of plain text")
    if len(fragment.text) > MOST_CHARACTERS:
        faults.append(f"it has more than {MOST_CHARACTERS} characters")
    return faults


def _is_row(line: str) -> bool:
    """Whether a line is a row of a table with a text in each column."""
    cells = [cell.strip() for cell in line.split("|")]
    return len(cells) == len(COLUMNS) + 2 and not cells[0] and not cells[-1] and all(cells[1:-1])
