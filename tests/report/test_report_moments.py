"""Windows of runs as timelines: what is in them, which runs have them, how they are drawn."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import pytest
from conftest import BOARD
from test_report import Page, experiment
from tiers import mostly_long

from cyclescope import bench, experiments, firmware
from cyclescope.bench import moments, planning
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.views import Moment
from cyclescope.board import Board
from cyclescope.board.excerpts import Calls, Excerpt, Span, Track, Wire, excerpt
from cyclescope.report import render

US, MS = 10**6, 10**9
# Sequences of a few instructions, on a core with nothing beside it: there is nothing to see.
WITHOUT = {"a-rules", "m4-rules"}
WITH = [name for name in experiments.ALL if name not in WITHOUT]
SHORT = {"quad-spi-throughput", "rhealstone", "rpmsg-tty", "picosoc-xip"}
QUICK = {"flash0.cyclescope,bulk-erase-typical-ms": 1, "spi0.clock-frequency": 50_000_000}


def made_up(**parts: object) -> Excerpt:
    """A window of 1 ms: two functions around a third, a flash, an interrupt, a wire."""
    spans = (
        Span(0, 9 * MS, "main"),
        Span(3 * MS // 2, 3 * MS, "work"),
        Span(3 * MS // 2, 9 * MS // 5, "inner"),
    )
    whole = Excerpt(
        begin_ps=1 * MS,
        end_ps=2 * MS,
        cores=("cpu0",),
        tracks=(
            Track("flash0", "page program", "busy", (Span(0, 3 * MS // 2, "0x100, 256 bytes"),)),
            Track("spi0", "frame", "frame", (Span(11 * MS // 10, 14 * MS // 10, "sent 02 00"),)),
            Track("uart0", "character sent", "serial", (Span(1 * MS, 2 * MS, "65"),)),
        ),
        calls=(Calls("cpu0", "", spans),),
        wires=(Wire("spi0.cs0", 1, (11 * MS // 10, 14 * MS // 10)),),
        is_whole=True,
    )
    return dataclasses.replace(whole, **parts)


def shown(found: Excerpt | str, **parts: object) -> Page:
    """The report of an experiment. One of its runs has the window `found`."""
    moment = Moment("A page", "What there is to see.", {}, "work", MS, before_ps=MS // 2)
    moment = dataclasses.replace(moment, **parts)
    ours: ExperimentResult = experiment()
    run = dataclasses.replace(ours.rows[0].run, moments=((moment, found),))
    # without rows there are no other plots, which take the most time
    return Page(render([dataclasses.replace(ours, rows=(), runs=(run, *ours.runs[1:]))]))


# ---- what went on


@cache
def throughput() -> Board:
    elf = firmware.build_app("quad_spi_throughput", BOARD, {"pages": 2})
    return Board(BOARD, QUICK).load(str(elf))


def test_a_window_has_what_devices_and_functions_did() -> None:
    board = throughput()
    profile = board.run(profile=["program_page"]).profile
    assert profile is not None
    begin_ps = profile.cores[0].calls["program_page"][0].begin_ps
    end_ps = begin_ps + 600 * US
    found = excerpt(board.start(), begin_ps, end_ps, ["spi0.cs0"])
    assert found.is_whole
    assert (found.begin_ps, found.end_ps) == (begin_ps, end_ps)
    tracks = {f"{track.scope}: {track.title}": track for track in found.tracks}
    program, *_ = tracks["flash0: page program"].spans
    assert program.end_ps - program.begin_ps == 500 * US
    assert program.text == "0x0, 256 bytes"
    page = next(span for span in tracks["spi0: frame"].spans if span.text.startswith("sent 32"))
    assert begin_ps < page.begin_ps < page.end_ps <= program.begin_ps + US
    (calls,) = found.calls
    named = {span.text: span for span in reversed(calls.spans)}
    assert named["program_page"].begin_ps == begin_ps
    assert named["main"].begin_ps < begin_ps
    assert named["spi_nor_wait_ready"].end_ps > program.end_ps
    (select,) = found.wires
    frames = [span for span in tracks["spi0: frame"].spans if span.end_ps <= end_ps]
    assert select.first == 1
    assert len(select.changes_ps) // 2 == len(frames)
    # each of all iterations of the loop that asks, skipped or not
    assert len(frames) > 10


def test_a_window_after_the_runs_end_is_empty() -> None:
    board = throughput()
    elapsed_ps = board.run().elapsed_ps
    found = excerpt(board.start(), elapsed_ps + MS, elapsed_ps + 2 * MS)
    assert not found.tracks
    assert not found.calls


# With a core of each kind, and an RTOS and two cores among them: the others take long.
@pytest.mark.parametrize("name", mostly_long(WITH, SHORT))
def test_each_experiment_has_a_window_with_something_to_see(name: str) -> None:
    jobs = planning.plan([experiments.ALL[name]])
    ((place, (moment,)),) = moments.of(jobs).items()
    _, found = moments.of_run(jobs[place].configured, moment, None)
    assert isinstance(found, Excerpt), found
    assert found.is_whole
    at_ps = found.begin_ps + moment.before_ps
    calls = [span for calls in found.calls for span in calls.spans]
    function = moment.function.rpartition(":")[2]
    assert any(span.text == function and span.begin_ps == at_ps for span in calls)
    labels = [f"{track.scope}: {track.title}" for track in found.tracks]
    for pattern in moment.hidden:
        scope = pattern.partition(":")[0]
        assert any(label.startswith(f"{scope}:") for label in labels), pattern
    for run in (job.run for job in jobs):
        assert set(moment.settings) <= set(run.all_settings) or run.app != jobs[place].run.app
    assert set(moment.shortened) <= set(jobs[place].run.settings)


def test_no_experiment_is_forgotten() -> None:
    assert {name for name, one in experiments.ALL.items() if not one.moments} == WITHOUT


def short_job() -> planning.Job:
    sets = {"quad_spi_throughput.pages": "2", "flash0.cyclescope,bulk-erase-typical-ms": "1"}
    return planning.plan([experiments.ALL["quad-spi-throughput"]], sets.items())[0]


def test_an_explained_run_is_not_made_again_to_find_a_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = []
    run = Board.run

    def counted(board: Board, *arguments: Any, **options: Any) -> Any:
        runs.append(options.get("profile"))
        return run(board, *arguments, **options)

    monkeypatch.setattr(Board, "run", counted)
    job = short_job()
    moment = Moment("All", "The work.", {}, "main", MS)
    plain = bench.run_job(job, shown=[moment])
    assert runs == [False, ["main"]]
    runs.clear()
    explained = bench.run_job(job, shown=[moment], recorded=bench.Recorded(profiles=True))
    assert runs == [["main"]]
    assert explained.moments == plain.moments
    assert isinstance(plain.moments[0][1], Excerpt)
    # a function that there is not is no reason for the run to fail
    lacking = dataclasses.replace(moment, function="nowhere")
    record = bench.run_job(job, shown=[lacking], recorded=bench.Recorded(profiles=True))
    assert record.error is None
    assert record.profile == explained.profile
    assert "nowhere" in str(record.moments[0][1])


def test_a_run_counts_without_the_window_that_it_has_not() -> None:
    job = short_job()
    lacking = Moment("Never", "Nothing.", {}, "main", MS, call=2)
    record = bench.run_job(job, shown=[lacking])
    assert record.error is None
    ((_, why),) = record.moments
    assert "begins with call 2 of main" in str(why)
    page = shown(str(why))
    assert "There is no timeline: the moment 'Never' begins with call 2 of main" in page.words
    assert not page.of_class("span")


# ---- drawn


def test_lanes_have_what_went_on_and_when() -> None:
    page = shown(made_up())
    words = page.words
    assert "A page" in words
    assert "What there is to see. The run is app mode=quad." in words
    for said in (
        "cpu0: work, 0 to 1,500 us (1.5 ms)",
        "cpu0: inner, 0 to 300 us (300 us)",
        "flash0: page program: 0x100, 256 bytes, -1,500 to 0 us (1.5 ms)",
        "spi0: frame: sent 02 00, -400 to -100 us (300 us)",
        "uart0: character sent 'A', -500 to 500 us (1 ms)",
        "spi0.cs0: 2 edges",
        "time since work was called, us",
    ):
        assert said in words
    # a span around the whole window says nothing
    assert "cpu0: main" not in words
    assert "02 00" in page.texts
    assert len(page.of_class("span")) == 5


def test_the_running_task_is_a_lane() -> None:
    spans = (Span(0, 3 * MS // 2, "idle"), Span(3 * MS // 2, 9 * MS, "send"))
    tasks = Track("cpu0", "tasks", "task", spans)
    page = shown(made_up(tracks=(tasks,)))
    assert "cpu0: send, 0 to 7,500 us (7.5 ms)" in page.words
    assert {"idle", "send"} <= set(page.texts)
    # with one alone there is nothing to see
    page = shown(made_up(tracks=(dataclasses.replace(tasks, spans=spans[:1]),)))
    assert "cpu0: idle" not in page.words


def test_hidden_tracks_and_too_deep_calls_are_not_drawn() -> None:
    words = shown(made_up(), hidden=("uart0: *",), depth=1).words
    assert "uart0" not in words
    assert "cpu0: work" in words
    assert "cpu0: inner" not in words


def test_spans_too_short_to_be_seen_are_drawn_together() -> None:
    step = 100_000
    short = tuple(Span(MS + n * step, MS + n * step + step // 2, f"f{n % 4}") for n in range(5000))
    one = made_up(tracks=(), wires=(), calls=(Calls("cpu0", "task", short),))
    page = shown(one)
    assert len(page.of_class("span")) == 1
    assert "cpu0, task: 1250 x f0, 1250 x f1, 1250 x f2 and 1 more" in page.words


def test_a_window_that_is_not_whole_says_so() -> None:
    assert "There was no room for all of it." in shown(made_up(is_whole=False)).words
    assert "no room" not in shown(made_up()).words


def test_an_empty_window_is_drawn() -> None:
    page = shown(made_up(tracks=(), calls=(), wires=(), cores=()))
    assert "A page" in page.words
    assert not page.of_class("span")


def test_names_of_functions_become_no_markup() -> None:
    hostile = Calls("cpu0", "", (Span(MS, 3 * MS // 2, "<script>x</script>"),))
    page = shown(made_up(calls=(hostile,)))
    assert "<script>x</script>" in page.words
