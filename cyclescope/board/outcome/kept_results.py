"""Cache folders for results, one for each build of the engine and the package.

Folders of builds that were not used for a month are deleted.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path

from cyclescope import resources
from cyclescope.board.description import digests

_UNUSED_S = 30 * 24 * 3600


def of_this_build(kind: str, folder: Path | None = None) -> Path:
    """The folder of this build's results of a kind, in `folder` or in the user's cache.

    A cache that can't be written is not an error: then the folder may not exist.
    """
    results = folder or resources.cache() / kind
    own = results / digests.of_build()[:16]
    _remove_unused(results, own)
    with contextlib.suppress(OSError):
        own.mkdir(parents=True, exist_ok=True)
        # the folder's time is its last use
        own.touch()
    return own


def _remove_unused(results: Path, own: Path) -> None:
    with contextlib.suppress(OSError):
        for folder in results.iterdir():
            age_s = time.time() - folder.stat().st_mtime
            if folder != own and age_s > _UNUSED_S:
                shutil.rmtree(folder, ignore_errors=True)
