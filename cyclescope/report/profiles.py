"""The flame graphs of a report's runs: a folder beside it with a viewer and a script for each run.

So a hundred runs are small, and open without a server (`flame.py` explains it).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from cyclescope.bench.profiles import RunProfile
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.errors import OutputError
from cyclescope.host import outputs
from cyclescope.report.flame import profile_script, viewer_page

FOLDER = "profiles"
"""The folder beside a report."""
_VIEWER = "flame.html"
# Identifies files that a bench has written, as opposed to a user's; it is near the start.
_MARK = "Written by cyclescope bench"
_NEAR_BYTES = 256


def link(row: Row) -> str:
    """The address of the flame graph of a row's run, relative to the report; empty without one."""
    profile = row.run.profile
    return f"{FOLDER}/{_VIEWER}#run={profile.name}&view=left-heavy" if profile else ""


def files(results: Sequence[ExperimentResult], folder: Path) -> dict[Path, str]:
    """The files of the folder: texts by their paths; empty without profiles."""
    found = {profile.name: profile for profile in _profiles(results)}
    if not found:
        return {}
    scripts = {
        folder / f"{name}.js": f"// {_MARK}\n" + profile_script(profile.title, profile.packed)
        for name, profile in found.items()
    }
    return {folder / _VIEWER: viewer_page(_MARK), **scripts}


def check(folder: Path, names: Iterable[str]) -> None:
    """Raises `OutputError` if a file to be written would replace a user's file.

    `names` are those of the profiles.
    """
    for path in (folder / _VIEWER, *(folder / f"{name}.js" for name in names)):
        if path.exists() and not _is_ours(path):
            raise OutputError(
                f"{path}: not written by a bench, and a flame graph would replace it: "
                "move it, name another --out, or add --no-profiles"
            )


def save(files: Mapping[Path, str]) -> bool:
    """Write files until one fails, which is reported; returns whether all are written."""
    return all(outputs.save_all({path: text}) for path, text in files.items())


def remove_others(folder: Path, kept: Collection[Path]) -> None:
    """Remove files of an earlier bench from the folder, except for `kept`.

    Files that no bench has written stay, and so do files that can't be removed.
    """
    for path in sorted([*folder.glob("*.js"), folder / _VIEWER]):
        if path not in kept and _is_ours(path):
            with suppress(OSError):
                path.unlink()


def _profiles(results: Sequence[ExperimentResult]) -> Iterable[RunProfile]:
    for result in results:
        for run in result.runs:
            for made in (run, run.short):
                if made is not None and made.profile is not None:
                    yield made.profile


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _MARK.encode() in file.read(_NEAR_BYTES)
    except OSError:
        return False
