"""fat-access and card-probe: the numbers agree with the board's parameters of its card."""

from __future__ import annotations

import itertools

import pytest
import tiers

import cyclescope as package
from cyclescope import bench
from cyclescope.bench import planning
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.disks import SECTOR_BYTES
from cyclescope.experiments import card_probe, fat_access

FILE_BYTES = tiers.sized(65536, 131072)
SHORT = [("fat_access.file_bytes", str(FILE_BYTES)), ("fat_access.calls", "16")]


def done(jobs: list[planning.Job]) -> ExperimentResult:
    records = [bench.run_job(job) for job in jobs]
    assert [record.error for record in records] == [None] * len(jobs)
    (result,) = bench.tabulate(jobs, records)
    return result


def parameter(name: str) -> int:
    (found,) = (
        parameter
        for parameter in package.Board("nios2-mmc").parameters
        if (parameter.label, parameter.property_name) == ("card0", f"cyclescope,{name}")
    )
    return int(found.value)


@pytest.fixture(scope="module")
def access() -> dict[tuple[str, ...], Row]:
    rows = done(planning.plan([fat_access.EXPERIMENT], SHORT)).rows
    return {
        (row.metric, *(str(row.settings[name]) for name in ("operation", "access", "block"))): row
        for row in rows
    }


def test_larger_calls_are_faster_and_reads_faster_than_writes(
    access: dict[tuple[str, ...], Row],
) -> None:
    assert len(access) == 3 * 4 * 8
    for order in ("sequential", "random"):
        read, write = (
            [
                access["throughput", operation, order, str(512 << step)].simulated
                for step in range(8)
            ]
            for operation in ("read", "write")
        )
        assert all(one < two for one, two in itertools.pairwise(read[:6]))
        assert all(one > other for one, other in zip(read, write, strict=True))


def test_random_writes_cost_merges_and_random_reads_do_not(
    access: dict[tuple[str, ...], Row],
) -> None:
    def mean(operation: str, order: str) -> float:
        return access["call_mean", operation, order, "512"].simulated

    assert mean("write", "random") > 10 * mean("write", "sequential")
    assert mean("read", "random") < 2 * mean("read", "sequential")


def test_long_commands_are_as_fast_as_the_wire_and_short_ones_as_the_card() -> None:
    sets = [("card_probe.operation", "throughput"), ("card_probe.blocks", "64")]
    jobs = planning.plan([card_probe.EXPERIMENT], [*sets, ("card_probe.port", "mmc")])
    rates = {
        (row.metric, row.settings["crc"], row.settings["run_blocks"]): row.simulated
        for row in done(jobs).rows
    }
    lengths = [1, 2, 4, 8, 16, 32, 64]
    assert len(rates) == 2 * 2 * len(lengths)
    for metric in ("write_throughput", "read_throughput"):
        for crc in ("computed", "off"):
            found = [rates[metric, crc, length] for length in lengths]
            assert all(one < two for one, two in itertools.pairwise(found))
    # a block a command: the card is busy for as long as after any lone block
    busy_s = (parameter("page-program-us") + 3 * parameter("sector-copy-us")) / 1e6
    assert SECTOR_BYTES / (busy_s + 0.0006) < rates["write_throughput", "off", 1]
    assert rates["write_throughput", "off", 1] < SECTOR_BYTES / busy_s
    # 67 clocks a byte when it writes: the report's program has the same loop
    wire = 99_038_462 / 67
    assert 0.9 * wire < rates["write_throughput", "off", 64] < wire
    # CRCs take twice as long as the wire, and are for what is written
    assert (
        2.5 < rates["write_throughput", "off", 64] / rates["write_throughput", "computed", 64] < 3
    )
    ratio = rates["read_throughput", "off", 64] / rates["read_throughput", "computed", 64]
    assert ratio == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("port", tiers.mostly_long(["mmc", "spi"], ["mmc"]))
def test_the_probe_finds_what_the_board_says_of_its_card(port: str) -> None:
    sets = [("card_probe.operation", "probe"), ("card_probe.port", port)]
    # CRCs of written blocks change nothing here: in the short tier the last job alone
    jobs = planning.plan([card_probe.EXPERIMENT], sets)
    result = done(jobs if tiers.ALL else jobs[-1:])
    assert {row.settings["port"] for row in result.rows} == {port}
    found = {(row.metric, row.settings.get("distance", 0)): row.simulated for row in result.rows}
    assert found["erase_block", 0] == parameter("page-bytes") * parameter("pages-per-block")
    # two page buffers: one is filled while the other's page waits for a merge
    assert found["write_buffer", 0] == 2 * parameter("page-bytes") // SECTOR_BYTES
    single_us = parameter("page-program-us") + 3 * parameter("sector-copy-us")
    assert found["write_busy_mean", 0] == pytest.approx(single_us, rel=0.01)
    access_us = parameter("read-access-us") + parameter("page-read-us")
    assert found["read_access_mean", 0] == pytest.approx(access_us, rel=0.02)
    # going on in order is a single write; any jump costs a merge
    assert found["jump_busy", 0] == pytest.approx(single_us, rel=0.01)
    jumps = [
        busy for (metric, distance), busy in found.items() if metric == "jump_busy" and distance
    ]
    assert len(jumps) == 12
    assert min(jumps) > 20 * single_us
