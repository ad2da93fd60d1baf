"""Timelines: what is in the file, as Perfetto's own schema reads it, and that recording one changes
nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import timelines
from conftest import BOARD, ROOT, Command
from sama5d2 import build as build_sama5d2
from test_spi_waveforms import CARDS
from tiers import ALL, mostly_long
from timelines import Timeline

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.board import Board
from cyclescope.board.results import RunResult
from cyclescope.errors import UsageError
from cyclescope.profile.building import FIRST_STACK
from cyclescope.profile.tables import rows
from cyclescope.units import parse_bytes

Capture = pytest.CaptureFixture[str]
# In the short tier cards are up in a millisecond, without very many polls before.
OF_CARDS = {} if ALL else dict(CARDS.overrides)
# An erased flash after a millisecond, and SCK at 50 MHz.
QUICK = {"flash0.cyclescope,bulk-erase-typical-ms": 1, "spi0.clock-frequency": 50_000_000}


@pytest.fixture(scope="module")
def throughput() -> Path:
    return firmware.build_app("quad_spi_throughput", BOARD, {"pages": 2})


def run(elf: Path, file: Path, **options: object) -> tuple[RunResult, Timeline]:
    result = package.Board(BOARD, QUICK).load(elf).run(trace=file, **options)
    return result, timelines.read(file)


@dataclass(frozen=True)
class Whole:
    """A run's timeline without any option."""

    file: Path
    result: RunResult
    timeline: Timeline


@pytest.fixture(scope="module")
def whole(throughput: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    file = tmp_path_factory.mktemp("whole") / "run.pftrace"
    return Whole(file, *run(throughput, file))


@pytest.fixture(scope="module")
def tasks() -> Board:
    """A board with a program of three tasks."""
    elf = firmware.build_app("freertos_hello", "nucleo-l4r5zi", {})
    return Board("nucleo-l4r5zi").load(str(elf))


@pytest.fixture(scope="module")
def whole_of_tasks(tasks: Board, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    file = tmp_path_factory.mktemp("whole") / "tasks.pftrace"
    result = tasks.run(trace=file, profile=True)
    return Whole(file, result, timelines.read(file))


def test_devices_are_tracks_with_their_details(whole: Whole) -> None:
    result, timeline = whole.result, whole.timeline
    programs = timeline.on("flash0/page program")
    assert [one.length_ps for one in programs] == [500_000_000] * 2
    assert [one.arguments for one in programs] == [
        {"address": f"{address:#x}", "bytes": 256} for address in (0, 0x100)
    ]
    frames = timeline.on("spi0/frame")
    assert len(frames) == result.counters["spi0.frames"]
    identification = next(one for one in frames if one.name.startswith("9f"))
    assert str(identification.arguments["received"]).split()[1:4] == ["20", "ba", "18"]
    # page programs have four bytes of command and address
    written = [one for one in frames if one.name.startswith("32 ")]
    assert [one.arguments["bytes sent"] for one in written] == [260, 260]
    said = "".join(one.name[1:-1] for one in timeline.on("uart0/character sent"))
    assert said.replace("\\n", "\n").replace("\\r", "\r") == result.console
    assert {one.category for one in programs} == {"busy"}
    assert timeline.tracks[0] == "cpu0"


def test_the_how_to_page_reads_one(
    whole: Whole, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    page = (ROOT / "docs" / "how-to" / "timeline.md").read_text()
    (code,) = re.findall(r"```python\n(from perfetto.*?)```", page, re.DOTALL)
    monkeypatch.chdir(whole.file.parent)
    exec(code, {})
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    expected = [
        ([f"{at / 1000:.3f}", "us", f"TYPE_SLICE_{kind}"])
        for one in whole.timeline.on("flash0/page program")
        for at, kind in ((one.begin_ns, "BEGIN"), (one.end_ns, "END"))
    ]
    assert printed == expected


def test_recording_changes_nothing(throughput: Path, whole: Whole, tmp_path: Path) -> None:
    plain = package.Board(BOARD, QUICK).load(throughput).run()
    others = (
        run(throughput, tmp_path / "out.pftrace", **options)
        for options in ({"skip_polling": False}, {"compile_after": 1})
    )
    for result, timeline in ((whole.result, whole.timeline), *others):
        assert replace(result, wall_ns=0, host_work=()) == replace(plain, wall_ns=0, host_work=())
        assert len(timeline.slices) > 1000


@pytest.mark.parametrize("app", mostly_long(["hello_two_cores", "rpmsg_tty"], {"hello_two_cores"}))
def test_two_cores_are_the_same_with_a_timeline(app: str, tmp_path: Path) -> None:
    board = "stm32mp157c-dk2"
    loaded = package.Board(board).load(firmware.build_app(app, board, {}))
    plain = loaded.run()
    traced = loaded.run(trace=tmp_path / "out.pftrace")
    if app == "rpmsg_tty":
        # its calls are many
        (note,) = traced.notes
        assert "no room for all: functions are complete from" in note
    else:
        assert traced.notes == ()
    assert replace(traced, wall_ns=0, host_work=(), notes=()) == replace(
        plain, wall_ns=0, host_work=()
    )
    timeline = timelines.read(tmp_path / "out.pftrace")
    assert timeline.tracks[:2] == ["cpu0", "cm4"]
    assert timeline.on("cm4/held in reset")
    messages = [one for one in timeline.slices if one.track.startswith("ipcc/message under way")]
    kicks = [value for name, value in traced.counters.items() if name.endswith("_kicks")]
    assert len(messages) == sum(kicks)


def test_interrupts_flow_from_the_device_to_the_core(tmp_path: Path) -> None:
    elf = build_sama5d2("spi_mode", {})
    file = tmp_path / "out.pftrace"
    result = package.Board("sama5d2-xplained").load(elf).run(trace=file)
    timeline = timelines.read(file)
    taken = timeline.on("cpu0/exceptions")
    assert len(taken) == result.counters["cpu0.exceptions"] > 0
    by_flow: dict[int, list[str]] = {}
    for one in timeline.slices:
        for flow in one.flows:
            by_flow.setdefault(flow, []).append(one.track)
    assert [
        "qspi0/interrupt to aic, input 52",
        "aic/interrupt to core 0, input 0",
        "cpu0/exceptions",
    ] in (list(by_flow.values()))
    assert all(tracks[-1] == "cpu0/exceptions" for tracks in by_flow.values())


def test_totals_are_counters(whole: Whole) -> None:
    result, timeline = whole.result, whole.timeline
    for name in ("cpu0/i-cache.fills", "spi0/bytes", "dma0/bytes", "uart0/tx_characters"):
        values = [value for _, value in timeline.counters[name]]
        assert values == sorted(values)
        assert values[-1] == result.counters[name.replace("/", ".", 1)]
    # a counter that stays 0 has no track
    assert "spi0/flash0.subsectors_erased" not in timeline.tracks


def test_a_window_has_what_is_in_it(throughput: Path, whole: Whole, tmp_path: Path) -> None:
    _, part = run(throughput, tmp_path / "part.pftrace", trace_from="1200us", trace_for="400us")
    calls = [one for one in part.slices if one.track.endswith("/functions")]
    assert calls
    # what a core was in is cut to the window: most of it began long before
    assert all(1_200_000 <= one.begin_ns <= one.end_ns <= 1_600_000 for one in calls)
    others = [one for one in whole.timeline.slices if not one.track.endswith("/functions")]
    expected = [one for one in others if one.end_ns > 1_200_000 and one.begin_ns < 1_600_000]
    assert expected
    # flows are numbered within a file
    shown = [
        (one.track, one.name, one.begin_ns, one.end_ns) for one in part.slices if one not in calls
    ]
    cut = [(one.track, one.name, one.begin_ns, one.end_ns) for one in expected]
    assert sorted(shown) == sorted(cut)


def test_spans_without_room_are_dropped_from_the_start(
    throughput: Path, whole: Whole, tmp_path: Path
) -> None:
    file = tmp_path / "out.pftrace"
    result, timeline = run(throughput, file, trace_memory="16KiB")
    (note,) = result.notes
    assert note.startswith(f"{file}: there was no room for all: devices are complete from ")
    assert re.search(r" and functions are complete from [\d.]+ ms on; give it", note)
    assert 50 < len(timeline.slices) < len(whole.timeline.slices) / 2
    assert timeline.slices[-1].end_ns == whole.timeline.slices[-1].end_ns


def test_calls_after_a_window_take_no_room(throughput: Path, tmp_path: Path) -> None:
    window = {"trace_from": "1200us", "trace_for": "10ms", "trace_kinds": ["function"]}
    plenty, whole = run(throughput, tmp_path / "whole.pftrace", **window)
    little, part = run(throughput, tmp_path / "part.pftrace", trace_memory="16KiB", **window)
    _, run_long = run(throughput, tmp_path / "long.pftrace", trace_kinds=["function"])
    assert 5 < len(whole.slices) < len(run_long.slices) / 10
    assert part.slices == whole.slices
    assert (little.notes, plenty.notes) == ((), ())


def test_a_window_that_has_no_room_says_so(throughput: Path, tmp_path: Path) -> None:
    window = {"trace_from": "1200us", "trace_for": "20ms", "trace_kinds": ["function"]}
    result, timeline = run(throughput, tmp_path / "out.pftrace", trace_memory="4KiB", **window)
    (note,) = result.notes
    found = re.search(r"functions are complete from ([\d.]+) (us|ms) on; give it", note)
    assert found
    from_ns = float(found[1]) * {"us": 1e3, "ms": 1e6}[found[2]]
    assert 1_200_000 < from_ns < 21_200_000
    _, whole = run(throughput, tmp_path / "whole.pftrace", **window)
    assert [one for one in timeline.slices if one.end_ns > from_ns] == [
        one for one in whole.slices if one.end_ns > from_ns
    ]


def test_iterations_that_are_skipped_are_one_slice_where_they_are_many(tmp_path: Path) -> None:
    file = tmp_path / "out.pftrace"
    board = package.Board(CARDS.board, OF_CARDS).load(CARDS.elf())
    board.run(trace=file)
    timeline = timelines.read(file)
    polled = [one for one in timeline.slices if "times" in one.arguments]
    assert polled
    for one in polled:
        times, busy_ps = one.arguments["times"], one.arguments["busy_ps"]
        assert isinstance(times, int)
        assert times > 64
        assert 0 < one.busy_ps == busy_ps <= 1000 * (one.end_ns - one.begin_ns + 1)


def test_no_slice_of_a_track_crosses_another(whole: Whole, tmp_path: Path) -> None:
    sama5d2 = "sama5d2-xplained"
    # tasks of operations that are over have the names of those of the next
    elf = firmware.build_app("rhealstone", sama5d2, {"loops": 20})
    programs = ((sama5d2, elf, {}), (CARDS.board, CARDS.elf(), OF_CARDS))
    for board, elf, settings in programs:
        file = tmp_path / f"{elf.stem}.pftrace"
        package.Board(board, settings).load(elf).run(trace=file)
        assert timelines.crossings(file) == []
    assert timelines.crossings(whole.file) == []


def test_skipped_iterations_last_as_long_as_run_ones(tmp_path: Path) -> None:
    busy: list[dict[str, int]] = []
    for skip_polling in (True, False):
        file = tmp_path / "out.pftrace"
        package.Board(CARDS.board, OF_CARDS).load(CARDS.elf()).run(
            trace=file, skip_polling=skip_polling
        )
        sums: dict[str, int] = {}
        for one in timelines.read(file).slices:
            if not one.track.endswith("/functions"):
                sums[one.track] = sums.get(one.track, 0) + one.busy_ps
        busy.append(sums)
    assert busy[0] == busy[1]


def test_the_command_writes_one(cyclescope: Command, throughput: Path, tmp_path: Path) -> None:
    sets = [word for path, value in QUICK.items() for word in ("--set", f"{path}={value}")]
    command = ("run", throughput, "--board", BOARD, *sets, "--json", "out.json")
    window = ("--trace-from", "1us", "--trace-for", "1s", "--trace-kind", "busy")
    done = cyclescope(*command, "--trace", "out.pftrace", *window)
    assert done.status == 0, done.stderr
    timeline = timelines.read(tmp_path / "out.pftrace")
    assert {one.category for one in timeline.slices} == {"busy"}
    assert json.loads((tmp_path / "out.json").read_text())["notes"] == []
    said = "--trace-from, --trace-for and --trace-kind need --trace FILE"
    assert cyclescope(*command, "--trace-from", "1ms").error == said
    done = cyclescope(*command, "--trace", "x", "--trace-memory", "much")
    assert done.error == "size 'much': expected a number and KiB, MiB or GiB, or of bytes"


def test_unknown_kinds_are_refused(throughput: Path) -> None:
    with pytest.raises(UsageError, match=r"no kind of activity is called 'buzy'.*busy"):
        package.Board(BOARD).load(throughput).run(trace="x", trace_kinds=["buzy"])


def test_a_full_disk_is_reported(throughput: Path, tmp_path: Path) -> None:
    full = tmp_path / "full.pftrace"
    full.symlink_to("/dev/full")
    result = package.Board(BOARD, QUICK).load(throughput).run(trace=full)
    assert result.failed_saves == (f"{full}: can't be written: No space left on device",)


@pytest.mark.parametrize(("text", "size"), [("64MiB", 64 << 20), ("1 KiB", 1024), ("1000", 1000)])
def test_sizes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "MiB", "1.5MiB", "64MB", "-1", "1 TiB", "9" * 13])
def test_no_sizes(text: str) -> None:
    with pytest.raises(UsageError, match="expected a number and KiB, MiB or GiB"):
        parse_bytes(text)


def test_functions_lie_in_their_callers_and_tasks_have_their_own_tracks(
    whole_of_tasks: Whole,
) -> None:
    result, found = whole_of_tasks.result, whole_of_tasks.timeline
    tasks = {one.track for one in found.slices if "/task " in one.track}
    assert {"cpu0/task send", "cpu0/task receive", "cpu0/task IDLE"} <= tasks
    assert result.profile is not None
    (core,) = result.profile.cores
    switches = sum(path.calls for path in core.paths if path.name == "vTaskSwitchContext")
    shown = [one for one in found.slices if one.name == "vTaskSwitchContext"]
    assert switches == len(shown) > 100
    for track in tasks:
        under_way: list[timelines.Slice] = []
        for one in found.on(track):
            while under_way and under_way[-1].end_ns <= one.begin_ns:
                under_way.pop()
            assert not under_way or one.end_ns <= under_way[-1].end_ns, (track, one)
            under_way.append(one)


TASKS = {
    "freertos_hello": ("nucleo-l4r5zi", {}),
    "rhealstone": ("sama5d2-xplained", {"loops": 20}),
    "thread_metric": ("nucleo-l4r5zi", {"test": "interrupt-preemption", "window_ms": 10}),
}


@dataclass(frozen=True)
class Turn:
    """A time in which a core ran one task."""

    task: str
    begin_ps: int
    end_ps: int


def turns_in(file: Path) -> list[Turn]:
    return turns_of(timelines.read(file))


def turns_of(timeline: Timeline) -> list[Turn]:
    turns = []
    for one in timeline.on("cpu0/tasks"):
        begin_ps = one.arguments.get("begin_ps", 1000 * one.begin_ns)
        assert isinstance(begin_ps, int)
        turns.append(Turn(one.name, begin_ps, begin_ps + one.length_ps))
    return turns


@pytest.mark.parametrize("app", mostly_long(TASKS, {"freertos_hello"}))
def test_a_track_has_which_task_runs(app: str, tmp_path: Path) -> None:
    board, settings = TASKS[app]
    loaded = Board(board).load(str(firmware.build_app(app, board, settings)))
    shown: list[list[Turn]] = []
    for how in ({}, {"skip_polling": False}, {"compile_after": 1}):
        file = tmp_path / "tasks.pftrace"
        result = loaded.run(trace=file, profile=True, **how)
        turns = turns_in(file)
        assert [one.begin_ps for one in turns] == [0, *(one.end_ps for one in turns[:-1])]
        assert turns[-1].end_ps == result.elapsed_ps
        assert result.profile is not None
        (core,) = result.profile.cores
        by_task = {row.name: row.self_cycles for row in rows(core, "task")}
        # the clock is another one only before there are tasks
        *_, rate_hz = core.rates_hz
        assert turns[0].task == FIRST_STACK
        ran = dict.fromkeys(by_task, 0)
        for one in turns:
            ran[one.task] += round((one.end_ps - one.begin_ps) * rate_hz / 1e12)
        if len(core.rates_hz) > 1:
            assert ran.pop(FIRST_STACK) != by_task.pop(FIRST_STACK)
        assert ran == by_task
        assert len(ran) > 1
        shown.append(turns)
    assert shown[1:] == shown[:1] * 2


def test_tasks_of_a_polling_loop_that_is_skipped_run_as_if_it_was_not(
    program: Callable[[str], Path], tmp_path: Path
) -> None:
    # each way of the cache has one coroutine's stack, so that no iteration waits for memory
    loaded = Board(BOARD, {"cpu0.d-cache-sets": 512}).load(program("coroutines"))
    # a longer time gives very many slices to read; at its end no task switches
    limit = {} if ALL else {"limit": "3000400ns"}
    shown: list[tuple[list[Turn], dict[str, tuple[int | None, int]]]] = []
    for how in ({}, {"skip_polling": False}, {"compile_after": 1}):
        file = tmp_path / "tasks.pftrace"
        result = loaded.run(trace=file, profile=True, **how, **limit)
        skipped = sum(work.skipped_cycles for work in result.host_work)
        assert (skipped > result.cores[0].cycles / 2) == (how != {"skip_polling": False})
        assert result.profile is not None
        (core,) = result.profile.cores
        functions = {row.name: (row.calls, row.total_cycles) for row in rows(core, "function")}
        turns = turns_in(file)
        assert timelines.crossings(file) == []
        assert {one.task for one in turns} == {FIRST_STACK, "other"}
        # the first call of `swap` is left by the begin of the other one, and never ends
        assert len(turns) == (functions["swap"][0] or 0) + 2
        shown.append((turns, functions))
    assert shown[1:] == shown[:1] * 2


def test_the_track_of_tasks_fills_a_window(
    tasks: Board, whole_of_tasks: Whole, tmp_path: Path
) -> None:
    begin_ps, end_ps = 20 * 10**9 + 1, 45 * 10**9
    tasks.run(trace=tmp_path / "part.pftrace", trace_from=begin_ps, trace_for=end_ps - begin_ps)
    expected = [
        Turn(one.task, max(one.begin_ps, begin_ps), min(one.end_ps, end_ps))
        for one in turns_of(whole_of_tasks.timeline)
        if one.begin_ps < end_ps and one.end_ps > begin_ps
    ]
    assert len(expected) > 10
    assert turns_in(tmp_path / "part.pftrace") == expected


def test_the_latest_tasks_are_kept(tasks: Board, whole_of_tasks: Whole, tmp_path: Path) -> None:
    tasks.run(trace=tmp_path / "few.pftrace", trace_memory="16KiB")
    whole, few = turns_of(whole_of_tasks.timeline), turns_in(tmp_path / "few.pftrace")
    assert 10 < len(few) < len(whole) / 2
    assert few == whole[-len(few) :]


def test_a_core_with_one_stack_has_no_track_of_tasks(whole: Whole) -> None:
    assert "cpu0/functions" in whole.timeline.tracks
    assert "cpu0/tasks" not in whole.timeline.tracks
