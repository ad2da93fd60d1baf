"""Where the boards, the firmware sources and the published tables are.

In a checkout they lie beside the package; an installed package carries them inside itself, in
`cyclescope/data/`.
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
    """The folder of the apps, drivers, runtime and boards that firmware is built from."""
    return _folder("firmware")


def published() -> Path:
    """The folder of the published tables."""
    return _folder("published")


def bench_costs() -> Path:
    """The table of what the bench's runs take on the host that it was made on."""
    return _folder("bench-costs.json")


def cache() -> Path:
    """The folder for what can be built again: firmware and the compiler's own cache.

    `CYCLESCOPE_CACHE` overrides the place; it is `cyclescope` in the user's cache folder else.
    """
    if chosen := os.environ.get("CYCLESCOPE_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cyclescope"
