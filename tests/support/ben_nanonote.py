"""Small programs for the Ben NanoNote: one C file each, with the board's runtime."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT

from cyclescope import firmware

BOARD = "ben-nanonote"
PROGRAMS = ROOT / "tests" / "firmware" / "ben_nanonote"


def build(name: str) -> Path:
    """The ELF of a program of tests/firmware/ben_nanonote."""
    return firmware.build(firmware.board_recipe(name, BOARD, [PROGRAMS / f"{name}.c"]))
