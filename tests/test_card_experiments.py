"""fat-access and card-probe: the numbers agree with what the board says of its card."""

from __future__ import annotations

import itertools

import pytest

import cyclescope as package
from cyclescope import bench, planning
from cyclescope.disks import SECTOR_BYTES
from cyclescope.experiments import card_probe, fat_access
from cyclescope.results import ExperimentResult, Row

FILE_BYTES = 131072
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
        if (parameter.label, parameter.property) == ("card0", f"cyclescope,{name}")
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


def test_the_probe_finds_what_the_board_says_of_its_card() -> None:
    result = done(planning.plan([card_probe.EXPERIMENT]))
    for port in ("mmc", "spi"):
        found = {
            (row.metric, row.settings.get("distance", 0)): row.simulated
            for row in result.rows
            if row.settings["port"] == port
        }
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
