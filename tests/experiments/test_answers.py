"""Answers of experiments from rows: other rows give another answer, missing rows give no answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cyclescope import experiments
from cyclescope.bench.rows import UNPUBLISHED, Row, RunRecord
from cyclescope.board.results import Settings


def row(
    metric: str, settings: Settings, simulated: float, published: float | None = None, app: str = ""
) -> Row:
    run = RunRecord("run", app, "picosoc-hx8k", {}, None)
    return Row(
        "name",
        "picosoc-hx8k",
        settings,
        metric,
        "",
        simulated,
        published,
        UNPUBLISHED,
        "row",
        run,
    )


def quad(faster: float) -> list[Row]:
    return [
        row(metric, {"mode": mode, "access": "dma", "pages": 4096}, time_us)
        for mode, factor in (("quad", 1), ("dual", faster))
        for metric, time_us in (("write_time", 80_000 * factor), ("read_time", 50_000 * factor))
    ]


def picosoc(faster: float) -> list[Row]:
    bench = [
        row("cycles", {"flash_mode": mode}, cycles, app="picosoc_flash_bench")
        for mode, cycles in (("single", 1000 * faster), ("quad", 1000))
    ]
    return [row("cycles", {}, 7, 7), row("cycles", {}, 8, 7), *bench]


def fat_write(faster: float) -> list[Row]:
    return [
        row("total_time", {"write_order": order, "transfer": size}, 10 * factor)
        for order, factor in (("r006", faster), ("current", 1))
        for size in (768, 1280, 1636)
    ]


def fat_access(faster: float) -> list[Row]:
    return [
        row("throughput", {"operation": "write", "access": access, "block": block}, 1000 * factor)
        for access, factor in (("sequential", faster), ("random", 1))
        for block in (512, 65536)
    ]


def card_probe(jump: float) -> list[Row]:
    jumps = [row("jump_busy", {"distance": n}, 2000 + abs(n) * 1000 * jump) for n in (-1, 0, 2)]
    return [row("write_busy_mean", {}, 2351), row("erase_block", {}, 262144), *jumps]


def ipc_modes(faster: float) -> list[Row]:
    ways: dict[str, tuple[Settings, float]] = {
        "raw": ({}, 50e6),
        "indirect": ({"dma": "on", "shared_cache": "off", "block_bytes": 64}, 50e6 * faster),
    }
    return [
        row("throughput", {"direction": direction, "mode": mode} | dict(settings), rate)
        for direction in ("to-m4", "to-a7")
        for mode, (settings, rate) in ways.items()
    ]


def qspi_read(faster: float) -> list[Row]:
    usual: Settings = {
        "width": "quad-io",
        "continuous_read": "on",
        "spck_divider": 3,
        "scrambling": "off",
    }
    ways = {("spi", "on"): 1e6, ("window", "on"): 1e6 * faster, ("window", "off"): 2e6}
    rates = {**ways, ("window-dma", "off"): 9e6}
    return [
        row("throughput", {"path": path, "cache": cache} | dict(usual), rate)
        for (path, cache), rate in rates.items()
    ]


CASES = {
    "quad-spi-throughput": (quad, 2, "1,024 KiB in 80.0 ms and reads them in 50.0 ms, 2.0 and 2.0"),
    "picosoc-xip": (picosoc, 3, "1 of 2 cycle counts are the RTL's to the cycle, and code from "),
    "fat-write": (fat_write, 15, "a newer FatFs is 15, 15 and 15 times as fast."),
    "fat-access": (fat_access, 19, "at 19 kB/s in order and 1 kB/s at random, a factor of 19;"),
    "card-probe": (card_probe, 5, "2.35 ms after a block in order and for 7 to 12 ms after a jump"),
    "qspi-read": (qspi_read, 5, "the window gives 5 MB/s through the caches and 2 MB/s word by w"),
    "ipc-modes": (ipc_modes, 4, "alone moves 50.0 MB/s and a shared buffer 200 MB/s (by MDMA, un"),
}


@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_worked_out_from_the_rows(name: str) -> None:
    make, factor, said = CASES[name]
    answer = experiments.ALL[name].answer
    assert said in answer(make(factor))
    assert answer(make(factor)).endswith(".")
    assert answer(make(factor * 2)) != answer(make(factor))


@pytest.mark.parametrize("name", CASES)
def test_half_of_the_rows_is_no_reason_to_fail(name: str) -> None:
    make, factor, _ = CASES[name]
    rows = make(factor)
    for number in range(len(rows)):
        assert isinstance(experiments.ALL[name].answer(rows[:number]), str)
        assert isinstance(experiments.ALL[name].answer(rows[number:]), str)


def test_nothing_is_divided_by_nothing() -> None:
    rows = [replace(found, simulated=0) for found in fat_write(1)]
    assert "is \N{INFINITY}, \N{INFINITY} and" in experiments.ALL["fat-write"].answer(rows)
