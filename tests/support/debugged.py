"""A firmware for each kind of core, to be debugged: its sources, and the place of its halts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import ben_nanonote
from conftest import BOARD, ROOT

import cyclescope
from cyclescope import firmware


def _app(name: str, board: str, **settings: str | int) -> Callable[[], Path]:
    return cache(lambda: firmware.build_app(name, board, settings))


def _program(name: str, board: str) -> Callable[[], Path]:
    source = ROOT / "tests" / "firmware" / f"{name}.c"
    return cache(lambda: firmware.build(firmware.board_recipe(name, board, [source])))


@dataclass(frozen=True)
class Target:
    """A program on a board, a function that it calls several times, and its interrupt handler."""

    name: str
    board: str
    build: Callable[[], Path]
    function: str
    handler: str | None = None

    @property
    def elf(self) -> Path:
        return self.build()

    def load(self) -> cyclescope.Board:
        return cyclescope.Board(self.board).load(self.elf)


TARGETS = {
    target.name: target
    for target in (
        Target("rv32", BOARD, _program("timer_interrupt", BOARD), "clock_ticks", "on_timer"),
        Target("picorv32", "picosoc-hx8k", _app("hello", "picosoc-hx8k"), "console_print"),
        Target(
            "a5",
            "sama5d2-xplained",
            _app("rhealstone", "sama5d2-xplained", operation="task-preempt", loops=20),
            "vTaskSuspend",
            "FreeRTOS_IRQ_Handler",
        ),
        Target(
            "a7-m4",
            "stm32mp157c-dk2",
            _app("hello_two_cores", "stm32mp157c-dk2"),
            "console_print",
            "take_message",
        ),
        Target(
            "m4",
            "nucleo-f411re",
            _app("freertos_hello", "nucleo-f411re"),
            "xQueueGenericSend",
            "EXTI0_IRQHandler",
        ),
        Target(
            "mips",
            "ben-nanonote",
            lambda: ben_nanonote.build("interrupts"),
            "clock_ticks",
            "on_second",
        ),
    )
}
