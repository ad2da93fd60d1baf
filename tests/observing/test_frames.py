"""Frames on an SPI bus: the window that is kept, the bytes in it, the report's plot of it."""

from __future__ import annotations

import dataclasses
import re

import pytest
from test_report import Page, record

from cyclescope import bench, experiments
from cyclescope.bench import planning
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import RunRecord
from cyclescope.bench.views import Frames
from cyclescope.board.observing.frames import (
    CLOCK,
    MISO,
    MOSI,
    SELECT,
    Byte,
    Frame,
    Trigger,
    Wire,
    kept_frame,
)
from cyclescope.report import render

# Signals of another bus and of another kind among them must be ignored.
SIGNALS = [
    ("irq", "cs0", False),
    ("bus", "sck", False),
    ("bus", "mosi", False),
    ("bus", "miso", True),
    ("bus", "cs0", True),
    ("bus", "cs1", True),
]
OTHER, SCK, OUT, IN, CS, CS1 = range(len(SIGNALS))
Change = tuple[int, int, int]
# An idle bus, and what the AT86RF231 is asked for its part number.
IDLE = 1_000_000
PERIOD = 1_000
VIEW = Frames(
    "On the wire",
    "What is to be seen.",
    "stack",
    wires=((SELECT, "nSEL"), (CLOCK, "SCLK"), (MOSI, "MOSI"), (MISO, "MISO")),
)


def transfer(start_ps: int, sent: bytes, answer: bytes, period_ps: int = PERIOD) -> list[Change]:
    """A frame in mode 0: data change with the clock's fall, the first bits with the select's."""
    changes = [(start_ps, CS, 0), (start_ps + 1, CS1, 0)]
    at_ps = start_ps
    for out, back in zip(sent, answer, strict=True):
        for bit in range(7, -1, -1):
            changes += [(at_ps, OUT, out >> bit & 1), (at_ps, IN, back >> bit & 1)]
            changes += [(at_ps + period_ps // 2, SCK, 1), (at_ps + period_ps, SCK, 0)]
            changes.append((at_ps + period_ps, OTHER, bit & 1))
            at_ps += period_ps
    return [*changes, (at_ps + 1, CS1, 1), (at_ps + period_ps, CS, 1)]


def frame(period_ps: int = PERIOD, sent: bytes = b"\x9c\xff") -> Frame:
    found = kept_frame(SIGNALS, transfer(IDLE, sent, b"\x00\x03", period_ps), Trigger("bus"))
    assert found is not None
    return found


def test_bytes_are_taken_at_rising_edges() -> None:
    assert frame().bytes_on(MOSI) == (Byte(500, 8000, 0x9C), Byte(8500, 16000, 0xFF))
    assert [byte.value for byte in frame().bytes_on(MISO)] == [0x00, 0x03]


def test_a_bit_that_changes_with_the_edge_is_what_it_was_before() -> None:
    wires = {MOSI: Wire(0, (100,)), CLOCK: Wire(0, tuple(range(100, 1700, 100)))}
    (byte,) = Frame(0, 2000, wires).bytes_on(MOSI)
    assert byte.value == 0x7F


def test_an_incomplete_byte_is_left_out() -> None:
    clocks = tuple(range(100, 2400, 100))
    (byte,) = Frame(0, 2400, {MOSI: Wire(1, ()), CLOCK: Wire(0, clocks)}).bytes_on(MOSI)
    assert byte == Byte(100, 1600, 0xFF)
    # clocks that begin at the high level, as mode 3 has them, and a last one without an end
    (byte,) = Frame(0, 9000, {MOSI: Wire(1, ()), CLOCK: Wire(1, clocks[:16])}).bytes_on(MOSI)
    assert byte == Byte(200, 9000, 0xFF)


def test_the_first_frame_with_a_byte_is_kept_and_nothing_else() -> None:
    # a select without a byte, as when the chip gets its supply; a clock while nobody is selected
    before = [(10, CS, 0), (20, SCK, 1), (30, CS, 1), (40, SCK, 0), (50, SCK, 1), (60, SCK, 0)]
    after = transfer(IDLE + 10**6, b"\xaa", b"\x55")
    wanted = transfer(IDLE, b"\x9c\xff", b"\x00\x03")
    found = kept_frame(SIGNALS, [*before, *wanted, *after], Trigger("bus"))
    assert found == frame()
    assert (found.start_ps, found.length_ps) == (IDLE, 17 * PERIOD)
    assert found.wires[SELECT] == Wire(1, (0, 17 * PERIOD))
    assert len(found.wires[CLOCK].changes_ps) == 32
    # both data lines hold what is no change
    assert found.wires[MISO] == Wire(1, (0, 14 * PERIOD))
    assert set(found.to_dict()["wires"]) == {SELECT, CLOCK, MOSI, MISO}


def test_an_incomplete_frame_is_not_kept() -> None:
    changes = transfer(IDLE, b"\x9c", b"\x00")
    assert kept_frame(SIGNALS, changes[:-1], Trigger("bus")) is None
    assert kept_frame(SIGNALS, changes, Trigger("irq")) is None
    assert kept_frame(SIGNALS, [], Trigger("bus")) is None
    assert kept_frame([], [], Trigger("bus")) is None


def kept(stack: str, found: Frame | None, error: str | None = None) -> RunRecord:
    run = record(f"app stack={stack}", {"stack": stack})
    assert run.result is not None
    return dataclasses.replace(
        run, result=dataclasses.replace(run.result, frame=found), error=error
    )


def page(*runs: RunRecord) -> str:
    return render([ExperimentResult("spi", "SPI", "a list", (), (), runs, {}, frames=VIEW)])


def test_a_panel_for_each_frame_in_the_order_of_runs() -> None:
    html = page(kept("slow", frame(2 * 10**6)), kept("none", None), kept("fast", frame(10**6)))
    shown = Page(html)
    assert "On the wire" in shown.words
    assert "What is to be seen." in shown.words
    assert shown.of_class("wire") == ["g"] * 8
    assert shown.of_class("byte") == ["g"] * 8
    titles = re.findall(r"<title>(slow|fast), (\w+): ([^<]*)</title>", html)
    assert [title[:2] for title in titles if "edge" in title[2]] == [
        (stack, wire) for stack in ("slow", "fast") for wire in ("nSEL", "SCLK", "MOSI", "MISO")
    ]
    assert ("slow", "SCLK", "32 edges") in titles
    assert ("slow", "MOSI", "9C, 1 to 16 us") in titles
    assert ("fast", "MISO", "03, 8.5 to 16 us") in titles
    texts = [text.strip() for text in shown.texts]
    drawn = [text for text in texts if text in ("9C", "FF", "00", "03", "slow", "fast", "MOSI")]
    assert drawn == ["slow", "MOSI", "9C", "FF", "00", "03", "fast", "MOSI", "9C", "FF", "00", "03"]
    assert [text for text in texts if re.fullmatch(r"\d+ us", text)] == ["34 us", "17 us"]


def test_plots_are_in_the_pages_colours_and_the_same_each_time() -> None:
    runs = (kept("slow", frame(2000)), kept("fast", frame()))
    html = page(*runs)
    assert html == page(*runs)
    plotted = [
        value for value in Page(html).values("style") if "fill" in value or "stroke" in value
    ]
    assert plotted
    assert not any(re.search(r"#[0-9a-f]{6}", value) for value in plotted)


def test_without_frames_there_is_no_plot() -> None:
    assert "On the wire" not in page(kept("slow", None))
    # the wires of a failed run show nothing
    assert "On the wire" not in page(kept("slow", frame(), "it fell over"))


def test_a_run_that_is_to_keep_a_frame_needs_no_other_result() -> None:
    jobs = planning.plan([experiments.ALL["bitbang-spi"]])
    job, *others = [job for job in jobs if job.run.frame_on is not None]
    assert len(others) == 4
    result = record("app", {}).result
    assert result is not None
    assert bench.judged(job, dataclasses.replace(result, frame=frame())).error is None
    failed = bench.judged(job, result)
    assert failed.error == "no byte went over the SPI bus atben"


def test_each_driver_reads_the_same_register_and_slower_ones_take_longer() -> None:
    jobs = planning.plan([experiments.ALL["bitbang-spi"]])
    jobs = [job for job in jobs if job.run.frame_on is not None]
    lengths_ps = []
    for found in bench.run_jobs(jobs, threads=2):
        assert found is not None
        assert found.error is None
        assert found.result is not None
        assert found.result.frame is not None
        sent, answer = (found.result.frame.bytes_on(wire) for wire in (MOSI, MISO))
        # read PART_NUM, register 0x1c; PHY_STATUS and the AT86RF231's number come back
        assert sent[0].value == 0x80 | 0x1C
        assert [byte.value for byte in answer] == [0x00, 0x03]
        lengths_ps.append(found.result.frame.length_ps)
    assert lengths_ps == sorted(lengths_ps, reverse=True)
    assert len(set(lengths_ps)) == 5


@pytest.mark.parametrize("sent", [b"\x00\xff", b"\xa5\x5a"])
def test_a_frame_is_plain_data(sent: bytes) -> None:
    run = kept("a", frame(sent=sent)).result
    assert run is not None
    assert run.to_dict()["frame"] == frame(sent=sent).to_dict()
    assert "frame" not in dataclasses.replace(run, frame=None).to_dict()
