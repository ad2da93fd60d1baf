"""Outcomes of earlier runs, by all that they depend on.

A run depends on its board with all properties, its program, how it is run, and the engine's build.
Each outcome is a file in the cache, in a folder for the build; its name is a digest of the rest.
"""

from __future__ import annotations

from pathlib import Path

from cyclescope.board.outcome import kept_results
from cyclescope.host import kept
from cyclescope.sweeps.outcomes import Outcome, from_dict


class Store:
    """The outcomes of this build's runs. A file that can't be read or written is not an error."""

    def __init__(self, folder: Path | None = None) -> None:
        """The store in a folder, by default in the user's cache."""
        self._folder = kept_results.of_this_build("runs", folder)

    def get(self, name: str) -> Outcome | None:
        """The outcome of this name, if its file exists and is complete."""
        try:
            return from_dict(kept.read_json(self._place(name)))
        except (TypeError, KeyError, ValueError, AttributeError):
            return None

    def put(self, name: str, outcome: Outcome) -> None:
        """Keep an outcome; its file is complete or does not exist."""
        kept.write_json(self._place(name), outcome.to_dict())

    def _place(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name}.json"
