"""Blocks between the two cores of an STM32MP157C-DK2: by RPMsg alone, and in a shared buffer."""

from __future__ import annotations

import json

import pytest
from tiers import mostly_long

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import Value

APP = "ipc_modes"
BOARD = "stm32mp157c-dk2"
DIRECTIONS = ["to-m4", "to-a7"]
SHORT, OTHER = (mostly_long(DIRECTIONS, short={one}) for one in DIRECTIONS)
# more than one message, more than one portion of the M4's, no whole lines of the A7's caches
BLOCK_BYTES = 33_000


def measure(**settings: Value) -> dict[str, int]:
    """The metrics; the program itself compares what has arrived with what was sent."""
    chosen: dict[str, Value] = {
        "sizes": "one",
        "block_bytes": BLOCK_BYTES,
        "moved_bytes": 4 * BLOCK_BYTES,
    }
    elf = firmware.build_app(APP, BOARD, chosen | settings)
    result = package.Board(BOARD).load(elf).run("10s")
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    lines = [json.loads(line) for line in result.console.splitlines() if line.startswith("{")]
    return {line["metric"]: line["value"] for line in lines}


@pytest.mark.parametrize("direction", SHORT)
def test_messages_and_blocks_arrive(direction: str) -> None:
    raw = measure(mode="raw", direction=direction)
    copied = measure(mode="indirect", direction=direction)
    moved = measure(mode="indirect", direction=direction, dma="on")
    for metrics in (raw, copied, moved):
        # both cores work on a stream of blocks, one of them at a time on a single one
        assert metrics["throughput"] > BLOCK_BYTES * 10**9 / metrics["latency"]
    # words of the DDR3L one by one are no better than small buffers in SRAM; bursts are
    assert moved["throughput"] > 2 * raw["throughput"]
    assert moved["throughput"] > 2 * copied["throughput"]


def test_lines_of_a_cached_buffer_are_read_faster_than_words() -> None:
    words = measure(mode="indirect", direction="to-a7")
    lines = measure(mode="indirect", direction="to-a7", shared_cache="on")
    assert lines["throughput"] > 2 * words["throughput"]


@pytest.mark.parametrize("direction", OTHER)
def test_a_buffers_size_decides_what_a_message_carries(direction: str) -> None:
    small = measure(mode="raw", direction=direction, buffer_bytes=128)
    usual = measure(mode="raw", direction=direction)
    large = measure(mode="raw", direction=direction, buffer_bytes=2048)
    assert small["throughput"] < usual["throughput"] < large["throughput"]
