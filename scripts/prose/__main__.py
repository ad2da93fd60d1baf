"""Finds words and phrases in the project's prose that a stranger would not understand.

`python scripts/prose [PATH...]` checks these files and folders; without any, all that git lists.
Prose is Markdown, comments, doc comments, docstrings, and strings of several words: messages and
help. Names in code are checked for private words as well. Each finding is one line,
`file:line: words: what to write instead`, and the exit status is 1 if there is any.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import extracting
import patterns

ROOT = Path(__file__).resolve().parents[2]
# made from other files, of others, or lists of such words themselves
SKIPPED = (
    "docs/reference/",
    "cyclescope/report/speedscope/",
    "scripts/prose/",
    "tests/project/test_prose.py",
    "tests/fuzz/corpus/",
    "STYLE.md",
)


def listed(arguments: list[str]) -> list[Path]:
    """The files to check: those that git knows or would add, under the given paths."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    try:
        output = subprocess.run([*command, *arguments], cwd=ROOT, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        sys.exit("prose: git lists the files to check: run it in a checkout, with git installed")
    names = output.stdout.decode().strip("\0").split("\0")
    return [Path(name) for name in names if name and not name.startswith(SKIPPED)]


def findings(name: Path) -> list[str]:
    """What is found in a file, in the order of its lines."""
    path = ROOT / name
    if not extracting.is_known(name) or not path.is_file() or path.is_symlink():
        return []
    text = path.read_text(encoding="utf-8")
    found = [
        (piece.line_of(match.start()), match, advice)
        for piece in extracting.prose(name, text)
        for match, advice in patterns.in_prose(piece.text)
    ]
    found += [
        (piece.line_of(match.start()), match, advice)
        for piece in extracting.names(name, text)
        for match, advice in patterns.in_names(piece.text, name)
    ]
    found.sort(key=lambda one: one[0])
    return [
        f"{name}:{line}: {' '.join(match[0].split())}: {advice}" for line, match, advice in found
    ]


def main() -> int:
    """Print what is found; the exit status."""
    arguments = [str(Path(one).resolve().relative_to(ROOT)) for one in sys.argv[1:]]
    with ProcessPoolExecutor() as pool:
        found = pool.map(findings, listed(arguments), chunksize=32)
        lines = [line for of_file in found for line in of_file]
    print("\n".join(lines) or "prose: nothing found")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
