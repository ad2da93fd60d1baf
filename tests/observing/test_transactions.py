"""Transactions on buses, as timelines and waveforms have them: the same however a run is simulated,
and as long as the board's bus and devices say.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
import test_activities
import timelines
from activities import NO_END_PS, Recorded, Span
from conftest import BOARD, Command
from tiers import mostly_long
from waveforms import edges, read_of

import cyclescope as package
from cyclescope import firmware
from cyclescope.statuses import Status

BUS = ("bus",)
QUICK = {"flash0.cyclescope,bulk-erase-typical-ms": 1}
# A few milliseconds have enough transactions.
NAMES = (
    "page-programs",
    "adc",
    "octospi",
    "cards",
    "qspi",
    "rtos",
    "two-cores",
    "picorv32",
    "rtos-of-cortex-m4",
    "nucleo-f411re-sensors",
)
# A core of each kind, and two of them.
SHORT = {"page-programs", "adc", "picorv32", "two-cores"}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(test_activities.LIMITS, "two-cores", "4ms")
    return test_activities.run


@pytest.fixture(scope="module")
def throughput() -> Path:
    return firmware.build_app("quad_spi_throughput", BOARD, {"pages": 2})


@pytest.mark.parametrize("name", mostly_long(NAMES, SHORT))
def test_how_a_run_is_simulated_changes_nothing(name: str, run) -> None:
    recorded = run(name, kinds=BUS)
    assert recorded.outcome == run(name, kinds=None).outcome
    assert len(recorded.spans) > 1000
    for how in ({"skip_polling": False}, {"compile_after": 0}, {"compile_after": 1}):
        other = run(name, kinds=BUS, **how)
        assert other.outcome == recorded.outcome, how
        assert other.spans == recorded.spans, how


@pytest.mark.parametrize("name", mostly_long(NAMES, SHORT))
def test_transactions_of_a_track_follow_each_other(name: str, run) -> None:
    tracks: dict[tuple[str, str], list[Span]] = {}
    for span in run(name, kinds=BUS).spans:
        tracks.setdefault((span.scope, span.line), []).append(span)
    for spans in tracks.values():
        assert all(one.end_ps <= next_one.begin_ps for one, next_one in pairwise(spans))


def lengths(recorded: Recorded, scope: str, what: str) -> set[int]:
    return {one.length_ps for one in recorded.spans if one.scope == scope and what in one.detail}


def test_they_take_what_the_board_says(run) -> None:
    recorded = run("page-programs", kinds=BUS)
    # Clocks of 10 ns: the interconnect's 2 there and 1 back, and 4 of the SPI core's to read a
    # register, 5 to write one. UART, timers and DMA engines have 4 each way.
    assert lengths(recorded, "axi", "read spi0 + 0x64, 4 bytes") == {70_000}
    assert lengths(recorded, "axi", "write spi0 + 0x60, 4 bytes") == {80_000}
    assert lengths(recorded, "axi_lite", " + ") == {70_000}


def test_dma_engines_move_their_bytes_in_transactions(throughput: Path, tmp_path: Path) -> None:
    file = tmp_path / "bus.pftrace"
    board = package.Board(BOARD, QUICK).load(throughput)
    result = board.run(trace=file, trace_kinds=["bus"])
    timeline = timelines.read(file)
    moved = {"read": 0, "write": 0}
    for one in timeline.slices:
        if "/transactions of dma" in one.track:
            moved[one.name.split()[0]] += int(one.arguments["bytes"])
    total = sum(result.counters[f"{dma}.bytes"] for dma in ("dma0", "dma1"))
    assert moved == {"read": total, "write": total}


def test_a_trace_has_them_where_they_are_asked_for(throughput: Path, tmp_path: Path) -> None:
    def trace(kinds: Iterable[str]) -> timelines.Timeline:
        file = tmp_path / "out.pftrace"
        package.Board(BOARD, QUICK).load(throughput).run(trace=file, trace_kinds=kinds)
        return timelines.read(file)

    on_bus = "axi/transactions of cpu0"
    with_all, by_default = trace(["default", "bus"]), trace([])
    assert on_bus in with_all.tracks
    assert not any("transactions" in track for track in by_default.tracks)
    for track in by_default.tracks:
        assert with_all.on(track) == by_default.on(track), track
    written = [one for one in with_all.on(on_bus) if one.name == "write spi0 + 0x70"]
    assert {(one.arguments["address"], one.arguments["bytes"]) for one in written} == {
        ("0xc4000070", 4)
    }
    assert {one.arguments["value"] for one in written} >= {"0xfffffffe", "0xffffffff"}


def test_a_waveform_has_when_a_bus_is_busy(throughput: Path, tmp_path: Path, run) -> None:
    file = tmp_path / "bus.vcd"
    board = package.Board(BOARD, QUICK).load(throughput)
    plain = board.run()
    result = board.run(vcd=file, vcd_signals=["*.bus_busy"])
    assert result.to_dict() == plain.to_dict()
    buses = ("axi", "axi_lite", "cpu0", "dma0", "dma1")
    assert set(read_of(file)) == {f"{bus}.bus_busy" for bus in buses}
    changes: tuple[list[int], list[int]] = ([], [])
    for edge in edges(file.read_text(), "axi"):
        changes[edge.level].append(edge.at_ps)
    machine = board.start()
    machine.activities().start(["bus"], 1 << 28)
    machine.run(None, None)
    tracks = machine.activities().tracks()
    recorded = machine.activities().instances(0, NO_END_PS, 1 << 20)
    spans = sorted((begin, end) for track, begin, end, _ in recorded if tracks[track][0] == "axi")
    busy: list[tuple[int, int]] = []
    for begin, end in spans:
        if busy and begin <= busy[-1][1]:
            busy[-1] = (busy[-1][0], max(end, busy[-1][1]))
        else:
            busy.append((begin, end))
    assert changes == ([end for _, end in busy], [begin for begin, _ in busy])


def test_waveforms_without_choice_leave_buses_out(throughput: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.vcd"
    package.Board(BOARD, QUICK).load(throughput).run(vcd=file)
    assert read_of(file)
    assert not any(name.endswith(".bus_busy") for name in read_of(file))


@pytest.mark.parametrize(
    ("app", "board", "end_ms"),
    [
        ("coremark_like", BOARD, 4),
        ("picosoc_kernels", "picosoc-icebreaker", 20),
        ("rhealstone", "sama5d2-xplained", 4),
    ],
)
def test_recording_may_begin_while_a_program_runs(app: str, board: str, end_ms: int) -> None:
    elf = firmware.build_app(app, board, {})
    end_ps = end_ms * 10**9
    middle_ps = end_ps // 2

    def recorded(begin_ps: int) -> list[tuple[int, int, int, str]]:
        machine = package.Board(board).load(elf).start()
        machine.run(begin_ps, None)
        machine.activities().start(["bus"], 1 << 29)
        machine.run(end_ps, None)
        spans = machine.activities().instances(0, NO_END_PS, 1 << 21)
        # An instruction may go on beyond a limit, with what it has begun.
        within = range(middle_ps + 10_000_000, end_ps - 10_000_000)
        return [span[1:] for span in spans if span[1] in within]

    late = recorded(middle_ps)
    assert len(late) > 100
    assert late == recorded(0)


def test_the_command_names_kinds(cyclescope: Command, throughput: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.pftrace"
    run = ("run", throughput, "--board", BOARD, "--trace", file, "--trace-kind")
    refused = cyclescope(*run, "buses")
    assert (refused.status, "'bus'" in refused.stderr) == (Status.USAGE, True)
    cyclescope(*run, "bus", "--limit", "100us")
    assert "axi_lite/transactions of cpu0" in timelines.read(file).tracks
