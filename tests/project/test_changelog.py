"""The changelog: fragments are whole, a release assembles them, and the nights' table of speeds."""

from __future__ import annotations

import csv
import datetime
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

CHANGELOG = """# Changelog

Changes since the last version are files.

## 0.1.0

- **Boards**: some.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project at 0.2.0 whose changelog ends with 0.1.0."""
    (tmp_path / "changelog").mkdir()
    (tmp_path / "changelog/README.md").write_text("# How\n")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nversion = "0.2.0"\n')
    (tmp_path / "CITATION.cff").write_text("title: A\nversion: 0.2.0\n")
    return tmp_path


def changelog(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts/changelog"), "--root", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_fragments_of_the_repository_have_no_faults() -> None:
    done = changelog(ROOT, "check")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_version_in_the_repository_has_a_section_or_is_to_come(tmp_path: Path) -> None:
    done = changelog(ROOT, "notes", "v0.0.0", str(tmp_path / "notes"))
    assert done.returncode == 1
    assert "the tag is v0.0.0" in done.stderr


def test_fragments_become_a_section(project: Path) -> None:
    folder = project / "changelog"
    (folder / "z.added.md").write_text("Boards have\nlights.\n")
    (folder / "a.added.md").write_text("Long " + "words " * 30 + "end.")
    (folder / "wait.fixed.md").write_text("`--waits` named the wrong device.")
    (folder / "bus.numbers.md").write_text("| run | 5 us | 6 us | a bus |\n")
    (folder / "sd.numbers.md").write_text("| card | 1 ms | 2 ms | an erase |\n")
    assert changelog(project, "assemble").returncode == 0

    today = datetime.datetime.now(datetime.UTC).date()
    text = (project / "CHANGELOG.md").read_text()
    begin = text.index("## 0.2.0")
    assert text[:begin] + text[text.index("## 0.1.0") :] == CHANGELOG
    section = text[begin : text.index("## 0.1.0")]
    words = ["Long" + " words" * 15, "words " * 15 + "end."]
    assert section == (
        f"## 0.2.0 ({today})\n\n### Added\n\n- {words[0]}\n  {words[1]}\n- Boards have lights.\n\n"
        "### Fixed\n\n- `--waits` named the wrong device.\n\n"
        "### Moved numbers\n\n| number | before | after | mechanism |\n|---|---:|---:|---|\n"
        "| run | 5 us | 6 us | a bus |\n| card | 1 ms | 2 ms | an erase |\n\n"
    )
    assert [path.name for path in folder.iterdir()] == ["README.md"]

    notes = project / "notes.md"
    assert changelog(project, "notes", "v0.2.0", str(notes)).returncode == 0
    assert notes.read_text() == section.partition("\n")[2].strip() + "\n"


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.removed.md", "Gone.", "not <slug>.<kind>.md"),
        ("A b.added.md", "New.", "not <slug>.<kind>.md"),
        ("a.added.txt", "New.", "not <slug>.<kind>.md"),
        ("a.added.md", " \n", "empty"),
        ("a.added.md", "One.\n\nTwo.", "not one paragraph"),
        ("a.added.md", "- One.", "not one paragraph"),
        ("a.added.md", "word " * 121, "more than 600"),
        ("a.numbers.md", "| run | 5 us | 6 us |", "a line is not"),
        ("a.numbers.md", "| run | 5 us |  | a bus |", "a line is not"),
    ],
)
def test_a_fault_is_named_and_nothing_is_written(
    project: Path, name: str, text: str, fault: str
) -> None:
    (project / "changelog" / name).write_text(text)
    for command in ("check", "assemble"):
        done = changelog(project, command)
        assert done.returncode == 1
        assert name in done.stderr
        assert fault in done.stderr
    assert (project / "CHANGELOG.md").read_text() == CHANGELOG


def test_a_release_needs_a_new_version_and_changes(project: Path) -> None:
    assert "no fragments" in changelog(project, "assemble").stderr
    (project / "changelog/a.added.md").write_text("New.")
    (project / "CITATION.cff").write_text("version: 0.1.0\n")
    assert "CITATION.cff" in changelog(project, "assemble").stderr
    (project / "CITATION.cff").write_text('version: "0.1.0"\n')
    (project / "Cargo.toml").write_text('[workspace.package]\nversion = "0.1.0"\n')
    assert "set the next version" in changelog(project, "assemble").stderr
    assert (project / "changelog/a.added.md").exists()


def test_notes_need_a_section(project: Path) -> None:
    done = changelog(project, "notes", "v0.2.0", str(project / "notes.md"))
    assert done.returncode == 1
    assert "no section 0.2.0" in done.stderr


# --- the table of speeds


def trend(tmp_path: Path, **numbers: float) -> str:
    """The script's output for new numbers."""
    measured = tmp_path / "speed.json"
    measured.write_text(json.dumps({**numbers, "printed": ["a line"]}))
    command = [sys.executable, str(ROOT / "scripts/speed-trend")]
    return subprocess.run(
        [*command, str(measured), str(tmp_path / "trend.csv")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_speeds_are_a_row_each_and_a_step_is_printed(tmp_path: Path) -> None:
    assert trend(tmp_path, riscv_mips=1000) == ""
    assert trend(tmp_path, riscv_mips=1050, start_up_s=0.1) == ""
    assert trend(tmp_path, riscv_mips=800, start_up_s=0.1) == (
        "riscv_mips: 800, median of 2 before: 1025\n"
    )
    with (tmp_path / "trend.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["riscv_mips"], row["start_up_s"]) for row in rows] == [
        ("1000", ""),
        ("1050", "0.1"),
        ("800", "0.1"),
    ]
