"""Polling loops of both cores are skipped to the same cycle, interrupts and all."""

from __future__ import annotations

from cyclescope import Board, firmware

BOARD = "stm32mp157c-dk2"
# the M4's first log line takes 8 ms at 115200 baud
LIMIT = "12ms"


def test_skipped_rounds_change_nothing() -> None:
    elf = firmware.build_app("rpmsg_tty", BOARD, {})
    skipping, polling = (
        Board(BOARD).load(elf).run(LIMIT, skip_polling=skip) for skip in (True, False)
    )
    assert skipping == polling
    # ten bits of 556 clocks of 64 MHz, and what the M4 does between two characters
    first, *_ = skipping.streams["uart7"].splitlines(keepends=True)
    assert (
        first
        == "[00000.000][INFO ]Cortex-M4 boot successful with STM32Cube FW version: v1.2.0 \r\n"
    )
    assert skipping.counters["uart7.tx_characters"] < 12_000 / 86.875
