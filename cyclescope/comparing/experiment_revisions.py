"""An experiment at a revision of Cyclescope itself: its boards, firmware and code at that time.

A revision with the same engine sources uses the engine of this build; another engine is built
first, which takes minutes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from cyclescope import _engine
from cyclescope.errors import UsageError
from cyclescope.host import leftovers
from cyclescope.host.inputs import printable

_ENGINE = ("engine", "debugger", "bindings")
_MANIFESTS = ("Cargo.toml", "Cargo.lock")


def rows(tree: Path, revision: str, experiment: str, sets: Sequence[str], out: Path) -> Path:
    """The file of an experiment's rows, written to `out`, at a revision whose files are in `tree`.

    Raises `UsageError` if the revision is not Cyclescope, or if it can't run the experiment.
    """
    if not (tree / "cyclescope" / "experiments").is_dir():
        raise UsageError(f"{printable(revision)}: --experiment: this is not a source of Cyclescope")
    tree = tree.resolve()
    options = [part for text in sets for part in ("--set", text)]
    command = [*_python(tree, revision), "-m", "cyclescope", "bench", experiment, "--no-profiles"]
    path = os.pathsep.join(filter(None, (str(tree), os.environ.get("PYTHONPATH"))))
    done = leftovers.call(
        [*command, "--out", str(out), *options], cwd=tree, env=os.environ | {"PYTHONPATH": path}
    )
    file = out / "results.json"
    if not file.is_file():
        lines = done.stderr.decode(errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "no output")
        raise UsageError(f"{printable(revision)}: `cyclescope bench`: {printable(last)}")
    return file


def _python(tree: Path, revision: str) -> list[str]:
    """The interpreter that has the engine of a revision."""
    own = Path(_engine.__file__)
    if _engine_sources(own.parent.parent) == _engine_sources(tree):
        place = tree / "cyclescope" / own.name
        if not place.exists():
            shutil.copy(own, place)
        return [sys.executable]
    done = leftovers.call(["make", "build"], cwd=tree)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise UsageError(f"{printable(revision)}: its engine can't be built: {printable(last)}")
    return [str(tree / ".venv" / "bin" / "python")]


def _engine_sources(tree: Path) -> str:
    """A digest of the engine's sources."""
    files = [tree / name for name in _MANIFESTS]
    for name in _ENGINE:
        files += [path for path in (tree / name).rglob("*") if path.suffix in (".rs", ".toml")]
    digest = hashlib.sha256()
    for path in sorted(files):
        if path.is_file() and "tests" not in path.relative_to(tree).parts[:2]:
            digest.update(str(path.relative_to(tree)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
