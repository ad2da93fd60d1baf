"""Programs of the repository on boards of each kind, short enough to be run many times."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path

from conftest import ROOT

from cyclescope import firmware
from cyclescope.board import Board
from cyclescope.board.results import Value

CACHES_OFF: dict[str, Value] = {"cpu0.i-cache-size": 0, "cpu0.d-cache-size": 0}
SOON_ERASED: dict[str, Value] = {"flash0.cyclescope,bulk-erase-typical-ms": 10}
CACHED: dict[str, Value] = {"memory": "sram", "cache": "on", "branch_prediction": "on"}


@dataclass(frozen=True)
class Program:
    """A program of the repository on a board; `app` is the name of an app, or of a small program.

    `compiles` says whether any of it can become host code; what can't is never compiled.
    """

    board: str
    app: str
    settings: dict[str, Value] = field(default_factory=dict)
    overrides: dict[str, Value] = field(default_factory=dict)
    built_for: str | None = None
    compiles: bool = True


LIKE = "coremark_like"
PROGRAMS = {
    "rv32-local": Program("minimal-rv32", LIKE, {"iterations": 3}),
    "rv32-cached": Program("kc705-axi-quad-spi", LIKE, {"iterations": 3}),
    "rv32-uncached": Program("kc705-axi-quad-spi", LIKE, {"iterations": 1}, CACHES_OFF),
    "rv32-interrupts": Program("kc705-axi-quad-spi", "external_interrupt"),
    "rv32-flash": Program("kc705-axi-quad-spi", "quad_spi_throughput", {"pages": 4}, SOON_ERASED),
    "nios-v": Program("nios2-mmc", "timer_ticks"),
    "picorv32": Program("picosoc-icebreaker", LIKE, {"iterations": 1}, compiles=False),
    "a5": Program("sama5d2-xplained", LIKE, {"iterations": 3, **CACHED}),
    "a5-rtos": Program("sama5d2-xplained", "rhealstone", {"loops": 50, **CACHED}),
    **{
        f"a5-uncached-{memory}": Program(
            "sama5d2-xplained",
            "rhealstone",
            {"loops": 20, "operation": "task-switch", "memory": memory, "cache": "off"},
        )
        for memory in ("sram", "ddr", "qspi")
    },
    "a7-and-m4": Program("stm32mp157c-dk2", "coremark_pair", {"iterations": 1}),
    "a7-and-m4-talking": Program("stm32mp157c-dk2", "hello_two_cores"),
    "m4": Program("minimal-armv7m", LIKE, {"iterations": 3}),
    "f4": Program("stm32f4-disco", LIKE, {"iterations": 1}),
    "f411": Program("nucleo-f411re", LIKE, {"iterations": 1}),
    "l4r5": Program("nucleo-l4r5zi", LIKE, {"iterations": 1}),
    "mips": Program("ben-nanonote", LIKE, {"iterations": 3}),
    "mips-pins": Program("ben-nanonote", "bitbang_spi", {"loops": 10}),
    "mips-local": Program("minimal-mips32", LIKE, {"iterations": 3}, built_for="qemu-malta"),
}
NAMES = tuple(PROGRAMS)


@functools.cache
def built(name: str) -> Path:
    program = PROGRAMS[name]
    small = ROOT / "tests" / "firmware" / f"{program.app}.c"
    if small.is_file():
        return firmware.build(firmware.board_recipe(program.app, program.board, [small]))
    board = program.built_for or program.board
    if program.app == LIKE:  # whose settings are the board's, too
        app = firmware.load_app(LIKE)
        return firmware.build(firmware.app_recipe(app, board, program.settings, program.overrides))
    return firmware.build_app(program.app, board, program.settings, program.overrides)


def loaded(name: str) -> Board:
    program = PROGRAMS[name]
    return Board(program.board, program.overrides).load(built(name))
