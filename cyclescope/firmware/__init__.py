"""Firmware: apps with their settings, compiled and linked for a board, and cached by content.

Start at `apps`. `recipe` builds one program, `objects` compiles each source, with the cache of
`compiler_cache`; `once` reads files once for many builds. `crates` finds third-party sources,
`clocks` the clock frequencies of a board. Nothing here knows experiments.
"""

from cyclescope.firmware.apps import (
    App,
    app_recipe,
    board_recipe,
    build_app,
    companions_of,
    digest_of,
    is_available,
    linux_recipe,
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
    "linux_recipe",
    "load_app",
    "shipped_elf",
    "unbuilt",
    "unchanging",
    "with_defaults",
]
