"""The changelog: one file for each change, assembled into CHANGELOG.md at a release.

python scripts/changelog check          names the fragments of changelog/ that have faults
python scripts/changelog assemble       makes them a section of CHANGELOG.md, and removes them
python scripts/changelog notes TAG OUT  writes the section of a tag, as v0.2.0, to a file

The version is that of Cargo.toml; CITATION.cff has to have the same. `changelog/README.md` says
what a fragment is. The status is 1 if there is a fault. It needs no package beside Python.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path

import fragments
import sections

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Do what the command line asks for; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="name faulty fragments")
    commands.add_parser("assemble", help="make a section of CHANGELOG.md from them")
    notes = commands.add_parser("notes", help="write the section of a tag")
    notes.add_argument("tag")
    notes.add_argument("out", type=Path)
    given = parser.parse_args()
    try:
        found = fragments.read(given.root / "changelog")
        if given.command == "assemble":
            date = datetime.datetime.now(datetime.UTC).date()
            sections.assemble(given.root, found, date)
        elif given.command == "notes":
            given.out.write_text(sections.notes(given.root, given.tag), encoding="utf-8")
    except fragments.ChangelogError as error:
        print(f"changelog: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
