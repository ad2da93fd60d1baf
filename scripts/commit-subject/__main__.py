"""Checks the subject of a commit: `area: what changes`, at most 60 characters.

python scripts/commit-subject FILE

FILE has the message: git's hook commit-msg is called with it. The status is 0 for a good subject
and 1 for another; the error quotes it and says what is wrong. Subjects that git makes itself
(merges, reverts, fixups) are accepted. It needs no package beside Python.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

MOST_CHARACTERS = 60
# One or several areas: `engine`, `ospi, leds`, `docs/how-to`.
SUBJECT = re.compile(r"[\w./-]+(, [\w./-]+)*: \S")
OF_GIT = re.compile(r"(Merge|Revert|Reapply) |(fixup|squash|amend)! ")
SCISSORS = re.compile(r"# -+ >8 -+$")


def subject_of(message: str) -> str:
    """The first line that is neither empty nor a comment."""
    for line in message.splitlines():
        if SCISSORS.match(line):
            break
        if line.strip() and not line.startswith("#"):
            return line.rstrip()
    return ""


def fault(subject: str) -> str | None:
    """The fault of a subject; None for a good one."""
    if OF_GIT.match(subject):
        return None
    if not SUBJECT.match(subject):
        return "it is not `area: what changes`"
    if len(subject) > MOST_CHARACTERS:
        return f"it has {len(subject)} characters; at most {MOST_CHARACTERS} are allowed"
    if subject.endswith("."):
        return "it ends with a full stop"
    return None


def main() -> int:
    """Check a message's subject; the exit status."""
    if len(sys.argv) != 2:
        print("usage: python scripts/commit-subject FILE", file=sys.stderr)
        return 2
    subject = subject_of(Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace"))
    # git itself refuses an empty message
    wrong = fault(subject) if subject else None
    if wrong:
        print(f"commit-subject: {subject}\ncommit-subject: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
