"""The transceiver on the JZ4740's SSI: a controller in the place of pins driven by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from waveforms import NEEDS_SIGROK, Frame, decode_spi

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import RunResult, Value

Change = Callable[..., Path]

BOARD = "ben-nanonote-ssi"
STACK = "spi-jz4740-ssi"
PART_NUMBER = 0x1C
FAILED = 1


def run(board: Path | str = BOARD, vcd: Path | None = None, **settings: Value) -> RunResult:
    elf = firmware.build_app("bitbang_spi", BOARD, {"stack": STACK} | settings)
    return package.Board(board).load(elf).run("10s", vcd=vcd)


def results(result: RunResult) -> dict[tuple[str, int], float]:
    """Values by metric and number of bytes."""
    assert (result.outcome, result.exit_code) == ("exit", 0), result.console
    lines = [json.loads(line) for line in result.console.splitlines() if line.startswith("{")]
    return {
        (line["metric"], line.get("data_bytes", line.get("frame_bytes", 0))): line["value"]
        for line in lines
    }


def test_it_is_faster_than_pins_driven_by_hand() -> None:
    pins = firmware.build_app("bitbang_spi", "ben-nanonote", {"stack": "spi_atben", "loops": 3})
    by_hand = results(package.Board("ben-nanonote").load(pins).run("10s"))
    found = results(run(loops=3))
    for metric in ("read_buffer_time", "write_buffer_time"):
        assert found[metric, 120] < by_hand[metric, 120], metric
    assert found["read_register_time", 1] < by_hand["read_register_time", 1]


def test_frames_come_in_and_go_out(changed_board: Change) -> None:
    peer = "cyclescope,air-frame-bytes = <5 127>; cyclescope,air-interval-us = <4928>;"
    board = changed_board(f"&transceiver {{ {peer} }};", BOARD)
    received = results(run(board, operation="reception", frames=4))
    assert (received["frames", 5], received["frames", 127]) == (2, 2)
    result = run(operation="transmission", frames=3)
    counters = {
        name.removeprefix("ssi.transceiver."): count for name, count in result.counters.items()
    }
    assert counters["frames_sent"] >= 3
    assert (counters["frames_sent_invalid"], counters["timing_violations"]) == (0, 0)
    assert not result.notes


@NEEDS_SIGROK
def test_its_waveform_shows_the_bytes_sent(tmp_path: Path) -> None:
    vcd = tmp_path / "ssi.vcd"
    assert run(vcd=vcd, operation="identify").exit_code == 0
    read = Frame(bytes([0x80 | PART_NUMBER, 0xFF]), bytes([0, 3]))
    assert read in decode_spi(vcd, "ssi")


@pytest.mark.parametrize("mode", [1, 3])
def test_other_modes_read_other_bits(mode: int) -> None:
    result = run(operation="access", spi_mode=mode)
    assert (result.outcome, result.exit_code) == ("exit", FAILED)
    assert "at86rf230: no AT86RF23x answers: part number 0x" in result.console


def test_a_clock_beyond_the_limit_is_noted_with_its_time() -> None:
    result = run(operation="identify", spi_hz=20_000_000)
    notes = [note for note in result.notes if "the period of SCLK was" in note]
    assert len(notes) == 1
    assert "the least is 133.333 ns" in notes[0]
    assert result.counters["ssi.transceiver.timing_violations"] > 0
