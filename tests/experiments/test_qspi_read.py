"""The experiment `qspi-read` in short, and its frame on the wires."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Command
from tiers import ALL

from cyclescope import bench, firmware
from cyclescope.bench import planning
from cyclescope.bench.results import ExperimentResult
from cyclescope.board.results import Value
from cyclescope.experiments.qspi_read import EXPERIMENT
from cyclescope.experiments.rhealstone_widths import WIDTHS
from cyclescope.report import wires

BOARD = "sama5d2-xplained"
BYTES = 1024
MCK_MHZ = 166


@pytest.fixture(scope="module")
def result() -> ExperimentResult:
    runs = tuple(run.changed({"bytes": BYTES}) for run in EXPERIMENT.runs)
    jobs = planning.plan([replace(EXPERIMENT, runs=runs)])
    # nothing here looks at waits, which take a third of the time
    (table,) = bench.tabulate(jobs, bench.run_jobs(jobs, 2, recorded=bench.Recorded(waits=ALL)))
    assert [(run.label, run.error) for run in table.failures] == []
    return table


def rate(result: ExperimentResult, path: str, cache: str = "off", **other: Value) -> float:
    """MB/s: as is usual but for what is said."""
    usual = {"width": "quad-io", "continuous_read": "on", "scrambling": "off", "spck_divider": 3}
    if path.startswith(("spi", "registers")):
        usual["continuous_read"] = "off"
    if path.startswith("spi"):
        usual["width"] = "single-bit-spi"
    wanted = {"path": path, "cache": cache, **usual, **other}
    (row,) = (row for row in result.rows if wanted.items() <= row.settings.items())
    return row.simulated / 1e6


def test_bursts_of_dma_have_the_clocks_of_one_frame_each(result: ExperimentResult) -> None:
    # 64 bytes a frame: address, dummies with the option, data, and what is not SPCK's.
    for width, clocks in (("quad-io", 6 + 10 + 128), ("dual-io", 12 + 8 + 256)):
        most = 64 / (clocks * 3 / MCK_MHZ)
        assert 0.85 * most < rate(result, "window-dma", width=width) < most


def test_words_through_the_window_have_a_frame_each(result: ExperimentResult) -> None:
    for width, clocks in (("quad-io", 24), ("single-bit-spi", 24 + 8 + 32)):
        most = 4 / (clocks * 3 / MCK_MHZ)
        assert 0.55 * most < rate(result, "window", width=width) < most


def test_the_ways_are_in_order(result: ExperimentResult) -> None:
    ways = ("spi", "registers", "window", "spi-dma", "window-dma")
    rates = [rate(result, way) for way in ways]
    assert rates == sorted(rates)
    # Polled, the core is the limit and not the flash; with caches it polls faster.
    assert rate(result, "registers", spck_divider=8) > 0.98 * rate(result, "registers")
    assert rate(result, "registers", "on") > 2 * rate(result, "registers")
    assert rate(result, "window", "on") > 2 * rate(result, "window")


def test_the_baud_rate_changes_at_run_time(result: ExperimentResult) -> None:
    rates = [rate(result, "window-dma", spck_divider=divider) for divider in (2, 3, 4, 5, 6, 8)]
    assert rates == sorted(rates, reverse=True)
    # Of 4, what is not SPCK's takes a part.
    assert 3.2 < rates[0] / rates[-1] < 4


@pytest.mark.parametrize("width", WIDTHS)
def test_continuous_read_saves_the_instruction(result: ExperimentResult, width: str) -> None:
    for path, cache in (("window", "off"), ("window", "on"), ("window-dma", "off")):
        on, off = (
            rate(result, path, cache, width=width, continuous_read=state) for state in ("on", "off")
        )
        assert off < on < 1.3 * off


def test_scrambling_is_on_the_fly(result: ExperimentResult) -> None:
    for path in ("window", "window-dma"):
        assert rate(result, path, scrambling="on") == pytest.approx(rate(result, path), rel=0.005)


def test_the_findings_and_the_answer_have_their_numbers(result: ExperimentResult) -> None:
    assert len([*EXPERIMENT.findings(result.rows)]) == 4
    assert "At 55.3 MHz the window gives" in result.answer


def test_the_frame_is_divided_by_phases(result: ExperimentResult) -> None:
    (frame,) = (run.result.frame for run in result.runs if run.result and run.result.frame)
    assert EXPERIMENT.frames is not None
    spans = [*frame.spans(EXPERIMENT.frames.phases_of({}))]
    assert [(span.phase.name, span.value) for span in spans[:4]] == [
        ("instruction", 0xEB),
        ("address", 0x123450),
        ("option", 0),
        ("dummy", None),
    ]
    assert spans[4].phase.name == "data"
    # Each has its clocks, and begins where the one before has ended.
    period_ps = 3e6 / MCK_MHZ
    assert [round((span.end_ps - span.start_ps) / period_ps) for span in spans] == [8, 6, 1, 9, 8]
    for before, after in itertools.pairwise(spans):
        assert after.start_ps == pytest.approx(before.end_ps, abs=2)


def test_the_report_draws_the_phases_by_name(result: ExperimentResult) -> None:
    plot = wires.plot(result)
    assert plot is not None
    for words in ("instruction EB", "address 123450", "option 0", "dummy", "QIO3"):
        assert f">{words}</text>" in plot.svg.replace("\n", ""), words


def test_waveforms_have_the_flashs_wires_and_the_pins(cyclescope: Command, tmp_path: Path) -> None:
    """As the case study does it."""
    chosen: dict[str, Value] = {"operation": "task-switch", "loops": 1, "pins": "on"}
    elf = firmware.build_app("rhealstone", BOARD, chosen | {"memory": "sram", "cache": "on"})
    dump = tmp_path / "switch.vcd"
    only = ("--vcd-signals", "pioA.pd*")
    done = cyclescope("run", elf, "--board", BOARD, "--vcd", dump, *only)
    assert (done.status, done.stderr) == (0, "")
    text = dump.read_text()
    codes = dict(re.findall(r"\$var wire 1 (\S+) (pd\d+) \$end", text))
    assert sorted(codes.values()) == ["pd24", "pd25", "pd26", "pd27", "pd28"]
    body = text.partition("$enddefinitions")[2].partition("$end\n")[2]
    edges = [codes[code] for code in re.findall(r"^[01](\S+)$", body, re.MULTILINE)]
    # The measurement begins, one task stops and the other one starts, and it ends.
    measured = len(edges) - 1 - edges[::-1].index("pd24")
    assert edges[measured - 3 : measured + 1] == ["pd24", "pd25", "pd26", "pd24"]
