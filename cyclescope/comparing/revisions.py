"""Git revisions of a project as folders: each a scratch copy, built by the user's command.

The copy is a clone that shares the objects of the user's repository, so that nothing is written to
that repository. "." is the working tree in its current state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from cyclescope.errors import UsageError
from cyclescope.host import leftovers
from cyclescope.host.inputs import printable

HERE = "."
# The most last lines of a failed build that its error quotes.
_MOST_LINES = 5


@contextlib.contextmanager
def folder(revision: str) -> Iterator[Path]:
    """The files of a revision of the repository here; "." is the working tree.

    Raises `UsageError` if there is no git, no repository or no such revision.
    """
    if revision == HERE:
        yield Path()
        return
    found = _git(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"])
    if not found:
        raise UsageError(f"{printable(revision)}: no such revision in the git repository here")
    top, prefix = (_git(["rev-parse", option]) for option in ("--show-toplevel", "--show-prefix"))
    with leftovers.scratch(prefix="cyclescope-revision-") as scratch:
        place = scratch / "tree"
        _git(["clone", "--quiet", "--shared", "--no-checkout", "--", top, str(place)])
        _git(["-C", str(place), "checkout", "--quiet", "--detach", found])
        yield place / prefix


def build(command: str, folder: Path, revision: str) -> None:
    """Run a shell command in a folder.

    Raises `UsageError` with the last lines of its output if it fails.
    """
    done = leftovers.call(["sh", "-c", command], cwd=folder)
    if done.returncode:
        lines = (done.stdout + done.stderr).decode(errors="replace").split("\n")
        last = " / ".join([line.strip() for line in lines if line.strip()][-_MOST_LINES:])
        output = f": {printable(last)}" if last else ""
        raise UsageError(f"{printable(revision)}: --build ended with {done.returncode}{output}")


def _git(arguments: Sequence[str]) -> str:
    """The output of git; empty if `rev-parse --quiet` finds nothing. Raises `UsageError`."""
    try:
        done = leftovers.call(["git", *arguments])
    except OSError as error:
        raise UsageError(f"git can't be started: {error.strerror}") from error
    if done.returncode and "--quiet" in arguments and arguments[0] == "rev-parse":
        if done.stderr:
            raise UsageError(f"git: {_line(done.stderr)}")
        return ""
    if done.returncode:
        raise UsageError(f"git {arguments[0]}: {_line(done.stderr)}")
    return done.stdout.decode(errors="surrogateescape").rstrip("\n")


def _line(text: bytes) -> str:
    return printable(" ".join(text.decode(errors="replace").split()))
