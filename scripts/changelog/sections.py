"""Sections of CHANGELOG.md: made from fragments, and taken out for a release."""

from __future__ import annotations

import datetime
import re
import textwrap
import tomllib
from collections.abc import Sequence
from pathlib import Path

from fragments import COLUMNS, KINDS, ChangelogError, Fragment

WIDTH = 100
VERSION = re.compile(r"\d+\.\d+\.\d+")
HEADING = re.compile(r"^## (?P<version>\d+\.\d+\.\d+)\b.*$", re.MULTILINE)
CITED = re.compile(r"^version: *['\"]?([^'\"\s]+)", re.MULTILINE)


def version_of(root: Path) -> str:
    """The version of Cargo.toml. Raises `ChangelogError` if CITATION.cff has another one."""
    manifest = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    version: str = manifest["workspace"]["package"]["version"]
    if not VERSION.fullmatch(version):
        raise ChangelogError(f"Cargo.toml: version {version} is not of the form 1.2.3")
    cited = CITED.search((root / "CITATION.cff").read_text(encoding="utf-8"))
    if not cited or cited[1] != version:
        raise ChangelogError(f"CITATION.cff: its version is not {version}, as Cargo.toml has it")
    return version


def assemble(root: Path, fragments: Sequence[Fragment], date: datetime.date) -> None:
    """Put a section of all fragments before the others of CHANGELOG.md, and remove their files."""
    version = version_of(root)
    path = root / "CHANGELOG.md"
    text = path.read_text(encoding="utf-8")
    sections = list(HEADING.finditer(text))
    if any(heading["version"] == version for heading in sections):
        raise ChangelogError(
            f"CHANGELOG.md has {version}: set the next version in Cargo.toml first"
        )
    if not fragments:
        raise ChangelogError("changelog/ has no fragments")
    at = sections[0].start() if sections else len(text)
    path.write_text(
        f"{text[:at]}{section(version, fragments, date)}\n{text[at:]}", encoding="utf-8"
    )
    for fragment in fragments:
        fragment.path.unlink()


def section(version: str, fragments: Sequence[Fragment], date: datetime.date) -> str:
    """The text of a version's section."""
    parts = [f"## {version} ({date.isoformat()})\n"]
    for kind, heading in KINDS.items():
        texts = [fragment.text for fragment in fragments if fragment.kind == kind]
        if texts:
            body = _table(texts) if kind == "numbers" else _list(texts)
            parts.append(f"### {heading}\n\n{body}")
    return "\n".join(parts)


def notes(root: Path, tag: str) -> str:
    """The section of the version that a tag names, without its heading."""
    version = version_of(root)
    if tag != f"v{version}":
        raise ChangelogError(f"the tag is {tag or 'missing'}, and Cargo.toml's version {version}")
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = list(HEADING.finditer(text))
    for number, heading in enumerate(sections):
        if heading["version"] == version:
            following = sections[number + 1 : number + 2]
            end = following[0].start() if following else len(text)
            return text[heading.end() : end].strip() + "\n"
    raise ChangelogError(f"CHANGELOG.md has no section {version}: run make changelog")


def _list(texts: Sequence[str]) -> str:
    """A list of changes, one paragraph each."""
    lines = [
        textwrap.fill(
            " ".join(text.split()),
            WIDTH,
            initial_indent="- ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for text in texts
    ]
    return "\n".join(lines) + "\n"


def _table(texts: Sequence[str]) -> str:
    """One table of all rows."""
    head = f"| {' | '.join(COLUMNS)} |\n|---|---:|---:|---|\n"
    return head + "\n".join(texts) + "\n"
