"""The folders of the boards, the firmware sources and the published tables.

In a checkout they are beside the package; an installed package contains them in `cyclescope/data/`.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _folder(name: str) -> Path:
    return _PACKAGE / "data" / name


def boards() -> Path:
    """The folder of the shipped boards' .dts files."""
    return _folder("boards")


def firmware() -> Path:
    """The folder of the sources of firmware: apps, drivers, runtime and boards."""
    return _folder("firmware")


def published() -> Path:
    """The folder of the published tables."""
    return _folder("published")


def bench_costs() -> Path:
    """The table of the durations of the bench's runs, on the host where it was made."""
    return _folder("bench-costs.json")


def cache() -> Path:
    """The folder for files that can be built again: firmware and the compiler's own cache.

    `CYCLESCOPE_CACHE` overrides the default, which is `cyclescope` in the user's cache folder.
    """
    if chosen := os.environ.get("CYCLESCOPE_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cyclescope"
