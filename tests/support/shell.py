"""The app `shell` and sessions at it, which tests of consoles share."""

from __future__ import annotations

from pathlib import Path

from cyclescope.board.scripts import Script, parse_script
from cyclescope.firmware import build_app

# A board for each model of a UART, and for each way to its registers.
BOARDS = {
    "minimal-rv32": "uart0",
    "minimal-armv7m": "uart0",
    "kc705-axi-quad-spi": "uart0",
    "nios2-mmc": "uart0",
    "picosoc-icebreaker": "uart0",
    "sama5d2-xplained": "uart1",
    "ben-nanonote": "uart0",
    "stm32mp157c-dk2": "uart4",
    "stm32f4-disco": "usart2",
    "nucleo-l4r5zi": "lpuart1",
}

# 3 ms between characters: PicoSoC runs from flash and is slower than its line.
SESSION = r"""
expect "> " within 200ms
send "help\r" pausing 3ms
expect "exit  [STATUS]: ends the program\r\n> " within 1s
send "ekho\x08\x08\x7fcho two  words\r" pausing 3ms
expect "\r\ntwo  words\r\n> " within 1s
at 500ms send "frob\r" pausing 3ms
expect "frob: no such command; help lists them\r\n> " within 1s
send "uptime\r" pausing 3ms
expect " us\r\n> " within 1s
"""


def shell(board: str) -> Path:
    """The shell for a board."""
    return build_app("shell", board, {})


def session(end: str = "end") -> Script:
    """A session that ends in some way."""
    return parse_script(SESSION + end, "session")
