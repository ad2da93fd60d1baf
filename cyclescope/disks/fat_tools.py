"""fsck.fat of dosfstools and mcopy of mtools, if installed: an independent check.

`fat_check` and the crate `fatfs` check and read a card after a run; these programs, which share no
code with either, then repeat that. They are optional.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from cyclescope.errors import DiskError
from cyclescope.host import leftovers
from cyclescope.host.programs import find


def findings(path: Path) -> list[str] | None:
    """The faults that fsck.fat finds in a volume; None if fsck.fat is not installed."""
    done = _call("fsck.fat", "-n", path)
    if done is None:
        return None
    if done.returncode == 0:
        return []
    # the first line is the program's version; the last names the image, whose path varies
    lines = [line.strip() for line in _words(done).splitlines()[1:] if str(path) not in line]
    return list(filter(None, lines)) or [f"its status is {done.returncode}"]


def read_file(path: Path, name: str) -> bytes | None:
    """A file's bytes, read by mcopy; None if mcopy is not installed.

    Raises `DiskError` if mcopy can't read the file.
    """
    done = _call("mcopy", "-i", path, f"::{name}", "-")
    if done is None:
        return None
    if done.returncode != 0:
        raise DiskError(f"mcopy failed: {' / '.join(_words(done).splitlines()) or 'no reason'}")
    return done.stdout


def _call(tool: str, *arguments: object) -> subprocess.CompletedProcess[bytes] | None:
    found = find(tool)
    if found is None:
        return None
    # the user's own drive letters and language would change the tools' output
    settings = {"LC_ALL": "C", "MTOOLSRC": os.devnull}
    return leftovers.call([found, *map(str, arguments)], env=os.environ | settings)


def _words(done: subprocess.CompletedProcess[bytes]) -> str:
    return (done.stdout + done.stderr).decode(errors="replace").strip()
