"""Outcomes of runs that were made before, by all that they depend on.

A run depends on its board with all properties, its program, how it is run, and the engine's build.
Each outcome is a file in the cache, named by a digest of the others, in a folder of the build;
those of builds that nobody has used for a month go.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path

from cyclescope import resources
from cyclescope.board import digests
from cyclescope.host import kept
from cyclescope.sweeps.outcomes import Outcome, from_dict

_UNUSED_S = 30 * 24 * 3600


class Store:
    """The outcomes of this build's runs. What can't be read or written is no reason to fail."""

    def __init__(self, folder: Path | None = None) -> None:
        """Those in a folder, by default in the user's cache."""
        results = folder or resources.cache() / "runs"
        self._folder = results / digests.of_build()[:16]
        self._remove_unused(results)
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            # a folder counts as used when a sweep begins
            self._folder.touch()

    def get(self, name: str) -> Outcome | None:
        """The outcome of this name, if it is there and whole."""
        try:
            return from_dict(kept.read_json(self._place(name)))
        except (TypeError, KeyError, ValueError, AttributeError):
            return None

    def put(self, name: str, outcome: Outcome) -> None:
        """Keep an outcome, whole or not at all."""
        kept.write_json(self._place(name), outcome.to_dict())

    def _place(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name}.json"

    def _remove_unused(self, results: Path) -> None:
        with contextlib.suppress(OSError):
            for folder in results.iterdir():
                age_s = time.time() - folder.stat().st_mtime
                if folder != self._folder and age_s > _UNUSED_S:
                    shutil.rmtree(folder, ignore_errors=True)
