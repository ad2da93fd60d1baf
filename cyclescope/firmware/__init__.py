"""Firmware: apps with their settings, compiled and linked for a board, and kept by content.

Start at `apps`. `recipe` makes one program of its sources, `objects` compiles each of them, in
`compiler_cache`; `once` has files read once for many builds. `crates` finds other people's sources,
`clocks` what a program must know of its board. Nothing here knows experiments.
"""

from cyclescope.firmware.apps import (
    App,
    app_recipe,
    board_recipe,
    build_app,
    companions_of,
    digest_of,
    is_available,
    load_app,
    shipped_elf,
    unbuilt,
    with_defaults,
)
from cyclescope.firmware.once import unchanging
from cyclescope.firmware.recipe import Recipe, build

__all__ = [
    "App",
    "Recipe",
    "app_recipe",
    "board_recipe",
    "build",
    "build_app",
    "companions_of",
    "digest_of",
    "is_available",
    "load_app",
    "shipped_elf",
    "unbuilt",
    "unchanging",
    "with_defaults",
]
