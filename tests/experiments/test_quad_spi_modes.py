"""Numbers derived from `quad-spi-throughput`: modes, clocks, the wire, parts of times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tiers import ALL
from waveforms import edges

from cyclescope import Board, bench
from cyclescope.bench import planning
from cyclescope.bench.experiment import Run
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import DERIVED, Row
from cyclescope.experiments import quad_spi_modes, quad_spi_wire
from cyclescope.experiments.answers import pick, pick_all
from cyclescope.experiments.quad_spi_modes import CLOCK, MHZ, OPERATIONS, SPI_MODES
from cyclescope.experiments.quad_spi_throughput import APP, BOARD, EXPERIMENT
from cyclescope.experiments.quad_spi_wire import LINES, PARTS
from cyclescope.firmware import build_app, with_defaults

# Before what is timed begins.
ERASE = {"flash0.cyclescope,bulk-erase-typical-ms": 10}
# What a few pages take differs from what many do by the first, when the caches are empty.
PAGES = 32
SCK_MHZ = 40
SCK_PS = 25_000


def _kept(run: Run) -> bool:
    """Whether a run is needed here: those with other ratios of SCK only take long."""
    return "spi0.xlnx,sck-ratio" not in run.overrides


@cache
def result() -> ExperimentResult:
    """All modes of the experiment, with a few pages each, and what follows from them.

    As their pages are fewer, the documented runs are compared with a published time a page only.
    """
    runs = tuple(
        run.shortened({"pages": PAGES, "bytes": PAGES * 256}).changed(overrides=ERASE)
        for run in EXPERIMENT.runs
        if _kept(run)
    )
    jobs = planning.plan([replace(EXPERIMENT, runs=runs)])
    # nothing here looks at waits
    recorded = bench.Recorded(waits=ALL)
    (found,) = bench.tabulate(jobs, bench.run_jobs(jobs, threads=2, recorded=recorded))
    assert not found.failures, [run.error for run in found.failures]
    return found


def rows(metric: str, **settings: str | int) -> list[Row]:
    return pick_all(result().rows, metric, **settings)


def value(metric: str, **settings: str | int) -> float:
    row = pick(result().rows, metric, **settings)
    assert row is not None, (metric, settings)
    return row.simulated


def by(found: Iterable[Row], *names: str) -> dict[tuple[object, ...], float]:
    return {tuple(row.settings[name] for name in names): row.simulated for row in found}


def test_each_mode_of_both_tables_has_its_pages() -> None:
    """Table 1 by table 2; XIP mode has no writes, standard mode no command for several lines."""
    polled = {place[:3] for place in by(rows("page_time"), "core", "mode", "operation")}
    write, read, by_io = OPERATIONS
    wanted = {(core, mode, write) for core in ("legacy", "enhanced") for mode in SPI_MODES}
    wanted |= {(core, mode, read) for core in ("legacy", "enhanced") for mode in SPI_MODES}
    wanted |= {("enhanced", mode, by_io) for mode in ("dual", "quad")}
    for core in ("XIP", "XIP by bursts"):
        wanted |= {(core, "standard", read), (core, "dual", by_io), (core, "quad", by_io)}
    assert polled == wanted


def test_every_run_reads_back_what_it_wrote() -> None:
    found = rows("mismatches")
    assert len(found) == len({row.label for row in found}) == 15
    assert all(row.simulated == 0 for row in found)
    assert {row.published for row in found} == {0, None}


def test_interrupts_cost_more_than_polls_and_nothing_is_lost() -> None:
    places = ("core", "mode", "operation")
    polled = by(rows("page_time", completion="polls"), *places)
    interrupted = by(rows("page_time", completion="interrupts"), *places)
    assert len(interrupted) == 12
    for place, time_us in interrupted.items():
        # at least the end of the write enable, or of the frame: a trap, and five register accesses
        assert time_us > polled[place] + 1, place
    traps = {row.run.result.counters["cpu0.traps"] for row in result().rows if row.run.result}
    assert 0 in traps
    assert max(traps) > 4 * PAGES


def test_pages_stand_beside_the_notes_and_speedups_beside_its_claims() -> None:
    page = pick(result().rows, "page_time", core="enhanced", mode="quad", operation="write")
    assert page is not None
    assert page.published == pytest.approx(94338 / 4096, abs=1e-3)
    assert page.basis == DERIVED
    claims = {(row.settings["mode"], row.published) for row in rows("speedup")}
    assert claims == {("dual", 2), ("quad", 4)}
    enhanced = by(rows("speedup", core="enhanced"), "mode", "operation")
    on_wire = by(rows("speedup_on_wire"), "mode", "operation")
    for (mode, operation), times in on_wire.items():
        # Commands and addresses stay on one line; the rest of a page's time stays as it is.
        assert enhanced[mode, operation] < times < LINES[mode]
    # 2080 + 8 clocks against 544 + 8
    assert on_wire["quad", "write"] == pytest.approx(2088 / 552, abs=0.05)


def test_a_faster_bus_takes_writes_away_from_the_published_time() -> None:
    errors = {
        (row.settings["mode"], row.settings["axi_mhz"]): row.error_pct
        for row in rows("page_time_by_clock", operation="write")
    }
    for mode in ("dual", "quad"):
        found = [errors[mode, mhz] for mhz in (80, 90, 125)]
        assert found == sorted(found, key=lambda error: -(error or 0))
    assert errors["quad", 125] == pytest.approx(-14.5, abs=1)
    assert errors["quad", 90] == pytest.approx(-5.1, abs=1)
    swept = {run.overrides[CLOCK] for run in EXPERIMENT.runs if CLOCK in run.overrides}
    assert swept == {80 * MHZ, 90 * MHZ, 125 * MHZ}


def test_sck_stands_still_only_where_the_fifo_runs_empty() -> None:
    idle = by(rows("idle_clocks"), "core", "completion", "fifo", "operation", "mode")
    deep_writes = [clocks for place, clocks in idle.items() if place[2:4] == (256, "write")]
    assert len(deep_writes) == 12
    assert set(deep_writes) == {0}
    # The processor moves a byte in some 25 clocks of 10 ns, the wire in 2 of 25.
    assert idle["legacy", "polls", 256, "read", "quad"] > 552
    assert idle["enhanced", "polls", 16, "write", "quad"] > 0
    assert 0 < idle["enhanced", "polls", 256, "read", "quad"] < 0.01 * 552
    assert {row.published for row in rows("idle_clocks")} == {0}


def test_counters_agree_with_the_waveform(tmp_path: Path) -> None:
    """Rising edges of SCK within frames, and how much further apart they are than a period."""
    elf = build_app(APP, BOARD, with_defaults(APP, {"pages": 2, "read_command": "io"}))
    vcd = tmp_path / "wire.vcd"
    signals = ["spi0.sck", "spi0.cs0"]
    counters = Board(BOARD, ERASE).load(str(elf)).run(vcd=vcd, vcd_signals=signals).counters
    rises, apart_ps, last_ps = 0, 0, None
    for edge in edges(vcd.read_text(), "spi0"):
        if edge.wire == "cs0":
            last_ps = None
        elif edge.level:
            rises += 1
            apart_ps += 0 if last_ps is None else edge.at_ps - last_ps - SCK_PS
            last_ps = edge.at_ps

    def counted(name: str) -> int:
        return sum(
            value
            for counter, value in counters.items()
            if counter.startswith("spi0.command_") and counter.endswith(name)
        )

    assert rises == counted(".sck_clocks") == counters["spi0.sck_clocks"]
    assert apart_ps == counted(".idle_clocks") * SCK_PS // 2 > 0


@pytest.mark.parametrize("mode", LINES)
@pytest.mark.parametrize("operation", ["write", "read"])
def test_parts_are_the_whole_of_a_page(mode: str, operation: str) -> None:
    parts = by(rows("part", mode=mode, operation=operation), "part")
    assert [part for (part,) in parts] == list(PARTS)
    whole = value("page_time", core="enhanced", mode=mode, operation=operation, completion="polls")
    assert sum(parts.values()) == pytest.approx(whole, abs=0.004)
    assert all(us >= 0 for us in parts.values()), parts
    data, header, *_ = parts.values()
    assert data == 2048 / LINES[mode] / SCK_MHZ
    # 8 + 24 clocks and 8 of the write enable, or 8 dummies
    assert header == pytest.approx(40 / SCK_MHZ, abs=0.03)


def test_the_fifo_is_filled_before_a_write_starts() -> None:
    """256 words in 16 bursts of 23 clocks of 10 ns, and the registers that start the wire."""
    filling = by(rows("part", operation="write", part=PARTS[3]), "mode")
    assert len(set(filling.values())) <= 3
    assert all(16 * 0.23 < us < 16 * 0.23 + 1 for us in filling.values())


def test_findings_say_what_quad_mode_does_not_shorten() -> None:
    found = [note for note in result().notes if note.startswith("A quad ")]
    assert len(found) == 2
    assert all("filling the FIFO" in note for note in found)
    continuous = [note for note in result().notes if note.startswith("SCK clocks")]
    assert [note.split(", ")[1].split(":")[0] for note in continuous] == [
        "legacy core",
        "enhanced core",
    ]
    assert all("writes 0, reads" in note for note in continuous)


def test_throughput_is_cut_as_the_program_prints_it() -> None:
    """The note's own times give the numbers that it prints after them."""
    row = pick(result().rows, "write_time", mode="dual", access="dma", completion="polls")
    assert row is not None
    settings = dict(row.settings) | {"pages": 4096}
    own = replace(row, settings=settings, simulated=146214, published=146214)
    (found,) = pick_all(quad_spi_modes.rows([own]), "throughput")
    assert (found.simulated, found.published) == (6, 6)


def test_nothing_follows_from_runs_without_counters() -> None:
    """As rows that were stored have none."""
    stored = [
        replace(row, run=replace(row.run, result=None))
        for row in result().rows
        if row.basis != DERIVED
    ]
    assert list(quad_spi_wire.rows(stored)) == []
    assert list(quad_spi_wire.findings(stored)) == []
