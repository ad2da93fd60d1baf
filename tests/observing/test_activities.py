"""Activities of devices: equal however a run is simulated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
import tiers
from activities import IN_PLACE, KINDS, OF_CORES, Recorded, Span, record, record_job, record_program
from conftest import ROOT
from sama5d2 import build as build_sama5d2
from test_spi_waveforms import cards
from test_stm32_sensors import CASES as SENSORS
from test_stm32_sensors import build as build_sensors

from cyclescope import firmware
from cyclescope.bench import planning
from cyclescope.board import Board
from cyclescope.board.description.devicetree_bindings import bindings
from cyclescope.board.results import Value

Sets = dict[str, Value]
# Short forms: an experiment, and what is set.
SHORT: dict[str, tuple[str, Sets]] = {
    "page-programs": ("quad_spi_throughput", {}),
    "card-by-controller": ("fat_write", {"port": "mmc", "file_bytes": 4096, "gap_s": 0}),
    "card-by-altera-spi": ("fat_write", {"port": "spi", "file_bytes": 4096, "gap_s": 0}),
    "rtos": ("rhealstone", {}),
    "pins": ("bitbang_spi", {}),
    "two-cores": ("rpmsg_tty", {}),
    "picorv32": ("picosoc_xip", {}),
    "rtos-of-cortex-m4": ("thread_metric", {}),
}
QUICK_CARDS = {f"card{number}.cyclescope,initialisation-us": 1000 for number in (0, 1)}
# A card's bytes are many: the first writes are enough.
LIMITS = {"card-by-controller": "1500ms", "card-by-altera-spi": "1500ms"}
# Overrides that make less to wait for.
SOON_READY = {
    "page-programs": {"flash0.cyclescope,bulk-erase-typical-ms": 3},
    "card-by-controller": QUICK_CARDS,
    "card-by-altera-spi": QUICK_CARDS,
}


def of_stm32(name: str) -> Path:
    source = ROOT / "tests" / "firmware" / "stm32" / f"{name}.c"
    return firmware.build(firmware.board_recipe(name, "nucleo-l4r5zi", [source]))


def run_experiment(name: str, **how: object) -> Recorded:
    module, sets = SHORT[name]
    experiment = import_module(f"cyclescope.experiments.{module}").EXPERIMENT
    app = experiment.runs[0].app
    chosen = [(f"{app}.{setting}", str(value)) for setting, value in sets.items()]
    job = planning.plan([experiment], chosen, quick=True)[0]
    job = replace(job, extra=SOON_READY.get(name, {}))
    return record_job(job, experiment.short_form(job.run), LIMITS.get(name), **how)


def run_program(name: str, **how: object) -> Recorded:
    match name:
        case "adc":
            return record_program("nucleo-l4r5zi", of_stm32("adc_l4"), **how)
        case "octospi":
            return record_program("nucleo-l4r5zi-n25q128a", of_stm32("ospi"), **how)
        case "cards":
            return record_program("nios2-mmc", cards(), QUICK_CARDS, **how)
        case "qspi":
            elf = build_sama5d2("memory_mode", {"continuous_read": "off"})
            return record(Board("sama5d2-xplained"), elf, LIMITS.get(name, "10s"), **how)
        case _:
            return record_program(name, build_sensors(SENSORS[name]), **how)


PROGRAMS = ("adc", "octospi", "cards", "qspi", *SENSORS)
# Run in `make test`: each kind of core, flashes, cards, both cores of a board, sensors.
IN_SHORT = (
    "page-programs",
    "two-cores",
    "picorv32",
    "adc",
    "octospi",
    "cards",
    "qspi",
    "nucleo-l4r5zi-sensors",
)
# Where some end there: much has happened by then.
ENDS = {"two-cores": "20ms", "qspi": "4ms"}


def run(name: str, **how: object) -> Recorded:
    return run_experiment(name, **how) if name in SHORT else run_program(name, **how)


@dataclass(frozen=True)
class Simulated:
    """A program or experiment by its name, and the recording of its usual run."""

    name: str
    usual: Recorded

    def again(self, **how: object) -> Recorded:
        return run(self.name, **how)


# pytest has all tests of one of them in a row, so each is run once as it is usually.
@pytest.fixture(scope="module", params=tiers.mostly_long([*SHORT, *PROGRAMS], IN_SHORT))
def simulated(request: pytest.FixtureRequest) -> Iterator[Simulated]:
    with pytest.MonkeyPatch.context() as patch:
        if not tiers.ALL and request.param in ENDS:
            patch.setitem(LIMITS, request.param, ENDS[request.param])
        yield Simulated(request.param, run(request.param))


def test_how_a_run_is_simulated_changes_nothing(simulated: Simulated) -> None:
    recorded = simulated.usual
    assert recorded.spans
    assert recorded.outcome == simulated.again(kinds=None).outcome
    for how in ({"skip_polling": False}, {"compile_after": 0}, {"compile_after": 1}):
        other = simulated.again(**how)
        assert other.outcome == recorded.outcome, how
        different = next(
            (pair for pair in zip(recorded.spans, other.spans, strict=False) if pair[0] != pair[1]),
            None,
        )
        assert (different, len(other.spans)) == (None, len(recorded.spans)), how


@pytest.mark.parametrize("simulated", ["qspi", "octospi", "picorv32"], indirect=True)
def test_reads_in_place_are_recorded_on_request(simulated: Simulated) -> None:
    kinds = (*KINDS, *OF_CORES, IN_PLACE)
    recorded, without = simulated.again(kinds=kinds), simulated.usual
    assert recorded.outcome == without.outcome
    frames = {span.name for span in recorded.spans} - {span.name for span in without.spans}
    assert "read in place" in frames
    assert simulated.again(kinds=kinds, skip_polling=False).spans == recorded.spans
    assert simulated.again(kinds=kinds, compile_after=0).spans == recorded.spans


def test_the_reference_has_all_recorded_activities(simulated: Simulated) -> None:
    known = {activity[0] for entry in bindings() for activity in entry.activities} | {"interrupt"}
    assert {span.name for span in simulated.usual.spans} <= known


@pytest.mark.parametrize(
    "simulated",
    tiers.mostly_long(["card-by-controller", "octospi", "two-cores"], IN_SHORT),
    indirect=True,
)
def test_spans_of_a_track_do_not_overlap(simulated: Simulated) -> None:
    tracks: dict[tuple[str, str, int], list[Span]] = {}
    for span in simulated.usual.spans:
        tracks.setdefault((span.scope, span.name, span.part), []).append(span)
    assert len(tracks) > 5
    for spans in tracks.values():
        assert all(one.end_ps <= next_one.begin_ps for one, next_one in pairwise(spans))


@pytest.mark.parametrize("simulated", ["octospi"], indirect=True)
def test_a_flash_is_busy_as_long_as_its_board_says(simulated: Simulated) -> None:
    recorded = simulated.usual
    # A subsector in 250 ms, 64 of 256 bytes in a fourth of 500 us.
    (erase,) = recorded.of("flash0", "subsector erase")
    assert (erase.length_ps, erase.detail) == (250_000_000_000, "0x0, 4096 bytes")
    assert [span.length_ps for span in recorded.of("flash0", "page program")] == [125_000_000]


@pytest.mark.parametrize("simulated", ["octospi"], indirect=True)
def test_frames_have_the_bytes_that_passed(simulated: Simulated) -> None:
    recorded = simulated.usual
    identification = recorded.of("octospi1", "frame")[0]
    assert identification.detail == "sent 9f; received ff 20 ba 18"
    shifting = [
        span
        for span in recorded.of("octospi1", "shifting")
        if identification.begin_ps <= span.begin_ps < identification.end_ps
    ]
    # 32 clocks of 4 MHz
    assert sum(span.length_ps for span in shifting) == 32 * 250_000


def test_a_ring_keeps_what_came_last() -> None:
    elf = of_stm32("ospi")
    machine = Board("nucleo-l4r5zi-n25q128a").load(str(elf)).start()
    recorded = machine.activities()
    recorded.start(None, 4096)
    machine.run(10**12, lambda *_: None, lambda *_: None)
    kept, dropped, complete_from_ps, used = recorded.summary()
    assert 0 < kept < 100 < dropped
    assert used <= 4096
    whole = run("octospi", kinds=(*KINDS, *OF_CORES, IN_PLACE)).spans
    later = [span for span in whole if span.begin_ps >= complete_from_ps]
    tracks = recorded.tracks()
    ring = recorded.instances(complete_from_ps, 1 << 62, 1000)
    found = [
        (tracks[track][0], tracks[track][1], *rest)
        for track, *rest in ring
        # the ring has the bus's transactions, too
        if rest[0] >= complete_from_ps and tracks[track][1] != "transactions"
    ]
    assert found == [(s.scope, s.name, s.begin_ps, s.end_ps, s.detail) for s in later]
