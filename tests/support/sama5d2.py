"""Small programs for the SAMA5D2 Xplained: one C file each, with the board's runtime."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT

from cyclescope import firmware
from cyclescope.board.results import Value

BOARD = "sama5d2-xplained"
PROGRAMS = ROOT / "tests" / "firmware" / "sama5d2"


def build(name: str, settings: dict[str, Value]) -> Path:
    """The ELF of a program of tests/firmware/sama5d2; `settings` are the board's."""
    source, include = [PROGRAMS / f"{name}.c"], [PROGRAMS]
    recipe = firmware.board_recipe(name, BOARD, source, include=include, settings=settings)
    return firmware.build(recipe)
