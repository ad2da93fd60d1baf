"""Contents of FIFOs in timelines and waveforms: equal however a run is simulated, with each byte
that was written, and never more than the FIFO holds.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
import test_activities
import timelines
from activities import NO_END_PS, Recorded, Span, record_program
from conftest import BOARD, ROOT, Command
from tiers import mostly_long
from tutorial_pages import File, steps
from waveforms import edges, read_of

import cyclescope as package
from cyclescope import firmware
from cyclescope.statuses import Status

QUEUES = ("queue",)
QUICK = {"flash0.cyclescope,bulk-erase-typical-ms": 1}
# SCK is in step with the core, and the flash takes long: loops that ask for its status are skipped.
SLOW = {"flash0.cyclescope,page-program-typical-us": 5000, "spi0.clock-frequency": 50_000_000}
# Programs, and how many entries their FIFOs have room for.
PROGRAMS = {
    "page-programs": {"spi0": 256, "uart0": 16},
    "card-by-altera-spi": {"uart0": 64},
    "pins": {"uart0": 16},
    "nucleo-l4r5zi-sensors": {"spi1": 4},
}
TX, RX = "TX FIFO", "RX FIFO"
FIFOS = ("tx_fifo", "rx_fifo")


run = test_activities.run


@pytest.fixture(scope="module")
def throughput() -> Path:
    return firmware.build_app("quad_spi_throughput", BOARD, {"pages": 2})


@pytest.fixture(scope="module")
def polling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that asks a flash for its status, two bytes an exchange, until it is ready."""
    folder = tmp_path_factory.mktemp("polling")
    page = ROOT / "docs" / "how-to" / "timeline.md"
    (source,) = (step for step in steps(page) if isinstance(step, File) and step.name == "save.c")
    (folder / "save.c").write_text(source.text)
    flags = "-target riscv32-freestanding -mcpu=generic_rv32+m+c -O2 -g -ffreestanding -fno-builtin"
    linked = "-nostdlib -Wl,--image-base=0x80000000 save.c -o save.elf"
    command = [sys.executable, "-m", "ziglang", "cc", *flags.split(), *linked.split()]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "save.elf"


def levels(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """When a FIFO with these entries has how many."""
    changes: Counter[int] = Counter()
    for span in spans:
        changes[span.begin_ps] += 1
        changes[span.end_ps] -= 1
    found, level = [], 0
    for at_ps, change in sorted(changes.items()):
        level += change
        found.append((at_ps, level))
    return found


def by_fifo(spans: Iterable[Span]) -> dict[tuple[str, str], list[Span]]:
    found: dict[tuple[str, str], list[Span]] = {}
    for span in spans:
        found.setdefault((span.scope, span.name), []).append(span)
    return found


@cache
def usual(name: str) -> Recorded:
    return run(name, kinds=QUEUES)


@pytest.mark.parametrize("name", mostly_long(PROGRAMS, {"page-programs", "nucleo-l4r5zi-sensors"}))
def test_how_a_run_is_simulated_changes_nothing(name: str) -> None:
    recorded = usual(name)
    assert recorded.outcome == run(name, kinds=None).outcome
    assert {span.scope for span in recorded.spans} == set(PROGRAMS[name])
    for how in ({"skip_polling": False}, {"compile_after": 0}, {"compile_after": 1}):
        other = run(name, kinds=QUEUES, **how)
        assert other.outcome == recorded.outcome, how
        assert other.spans == recorded.spans, how


def test_entries_of_skipped_iterations_are_recorded(polling: Path) -> None:
    recorded = record_program(BOARD, polling, SLOW, kinds=QUEUES)
    every = record_program(BOARD, polling, SLOW, kinds=QUEUES, skip_polling=False)
    assert recorded.bytes < every.bytes / 4
    assert (
        recorded.outcome
        == every.outcome
        == record_program(BOARD, polling, SLOW, kinds=None).outcome
    )
    assert recorded.spans == every.spans


@pytest.mark.parametrize("name", mostly_long(PROGRAMS, {"page-programs", "nucleo-l4r5zi-sensors"}))
def test_a_fifo_has_no_more_than_it_has_room_for(name: str) -> None:
    for (scope, _), spans in by_fifo(usual(name).spans).items():
        assert 0 < max(level for _, level in levels(spans)) <= PROGRAMS[name][scope]
        # first in, first out
        assert [span.end_ps for span in spans] == sorted(span.end_ps for span in spans)


def test_written_data_enter_and_read_data_leave() -> None:
    recorded = run("page-programs", kinds=("queue", "bus"))
    accessed: Counter[str] = Counter()
    for span in recorded.spans:
        if span.scope.startswith("axi"):
            what, size, *_ = re.split(", |: ", span.detail)
            # each of a burst's words is a byte for the FIFO
            accessed[what] += int(size.removesuffix(" bytes")) // 4
    entries = {fifo: len(spans) for fifo, spans in by_fifo(recorded.spans).items()}
    assert entries["spi0", TX] == accessed["write spi0 + 0x68"]
    assert entries["uart0", TX] == accessed["write uart0 + 0x4"]
    # A byte comes for each that was sent; what is in a FIFO as that is reset is neither.
    counters = recorded.outcome["counters"]
    sent = counters["spi0.bytes"]
    assert entries["spi0", RX] + counters["spi0.rx_overruns"] == sent <= entries["spi0", TX]
    assert accessed["read spi0 + 0x6c"] <= entries["spi0", RX]


def trace(elf: Path, file: Path, **how: object) -> dict[str, list[tuple[int, int]]]:
    """The counters of FIFOs in a run's timeline."""
    overrides = {**QUICK, **SLOW}
    package.Board(BOARD, overrides).load(elf).run(trace=file, trace_kinds=["queue"], **how)
    counters = timelines.read(file).counters
    return {track: recorded for track, recorded in counters.items() if track.endswith("FIFO")}


def entries_of(elf: Path) -> list[Span]:
    machine = package.Board(BOARD, {**QUICK, **SLOW}).load(elf).start()
    machine.activities().start(QUEUES, 1 << 28)
    machine.skip_polling(False)
    machine.run(None, None)
    tracks = machine.activities().tracks()
    recorded = machine.activities().instances(0, NO_END_PS, 1 << 20)
    return [
        Span(tracks[track][0], tracks[track][1], 0, "", begin, end, detail)
        for track, begin, end, detail in recorded
    ]


def test_a_trace_has_levels_as_counters(throughput: Path, tmp_path: Path) -> None:
    each = trace(throughput, tmp_path / "each.pftrace", skip_polling=False)
    fifos = by_fifo(entries_of(throughput))
    assert set(each) == {"/".join(fifo) for fifo in fifos}
    for fifo, spans in fifos.items():
        expected = {0: 0}
        expected |= {at_ps // 1000: level for at_ps, level in levels(spans)}
        changes = [(0, 0)]
        for at_ns, level in expected.items():
            if level != changes[-1][1]:
                changes.append((at_ns, level))
        assert each["/".join(fifo)] == changes


def test_a_trace_has_them_only_where_they_are_asked_for(throughput: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.pftrace"
    package.Board(BOARD, {**QUICK, **SLOW}).load(throughput).run(trace=file)
    assert not any("FIFO" in track for track in timelines.read(file).tracks)


def test_skipped_polling_loops_have_the_same_levels(polling: Path, tmp_path: Path) -> None:
    # Totals are looked at each 100 us, up to where not many iterations are skipped at once.
    each = trace(polling, tmp_path / "each.pftrace", skip_polling=False)
    assert trace(polling, tmp_path / "skipped.pftrace") == each


def test_a_short_memory_and_a_window_leave_levels_right(throughput: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.pftrace"
    whole = trace(throughput, file)
    for track, how in (
        (f"spi0/{TX}", {"trace_memory": "64KiB"}),
        (f"uart0/{TX}", {"trace_from": "1ms", "trace_for": "30ms"}),
    ):
        (first_ns, first), *rest = trace(throughput, file, **how)[track]
        assert first_ns > 0
        assert [level for at_ns, level in whole[track] if at_ns <= first_ns][-1] == first
        assert [step for step in whole[track] if first_ns < step[0] <= rest[-1][0]] == rest
        assert len(rest) > 20


def test_a_waveform_has_when_a_fifo_has_any(throughput: Path, tmp_path: Path) -> None:
    file = tmp_path / "fifos.vcd"
    board = package.Board(BOARD, {**QUICK, **SLOW}).load(throughput)
    result = board.run(vcd=file, vcd_signals=["*.?x_fifo"])
    assert result.to_dict() == board.run().to_dict()
    assert set(read_of(file)) == {
        f"{device}.{fifo}" for device in ("spi0", "uart0") for fifo in FIFOS
    }
    spans = by_fifo(entries_of(throughput))["spi0", TX]
    end_ps = result.elapsed_ps
    changes: list[tuple[int, int]] = []
    for at_ps, level in levels(spans):
        if at_ps < end_ps and (level > 0) != bool(changes and changes[-1][1]):
            changes.append((at_ps, int(level > 0)))
    recorded = [it for it in edges(file.read_text(), "spi0") if it.wire == "tx_fifo"]
    assert [(it.at_ps, it.level) for it in recorded] == changes


def test_waveforms_without_choice_leave_fifos_out(throughput: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.vcd"
    package.Board(BOARD, QUICK).load(throughput).run(vcd=file)
    assert "spi0.shifting" in read_of(file)
    assert not any(name.endswith("_fifo") for name in read_of(file))


def test_the_command_has_them(cyclescope: Command, throughput: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.pftrace"
    run = ("run", throughput, "--board", BOARD, "--trace", file, "--trace-kind")
    refused = cyclescope(*run, "queues")
    assert (refused.status, "'queue'" in refused.stderr) == (Status.USAGE, True)
    cyclescope(*run, "queue", "--limit", "100us")
    assert f"spi0/{TX}" in timelines.read(file).tracks
