"""Waveform files: which wires they have, in which unit of time, and what becomes of them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import pywellen
from conftest import BOARD, Command
from test_spi_waveforms import CARDS
from waveforms import edges, read_of, unit_ps

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.observing import waveforms
from cyclescope.board.results import RunResult
from cyclescope.errors import EngineError, UsageError

Program = Callable[[str], Path]

WIRES = [f"spi0.{name}" for name in ("sck", "io0", "io1", "io2", "io3", "cs0")]
FIFOS = ("tx_fifo", "rx_fifo")
SIGNALS = [
    *WIRES,
    "spi0.shifting",
    *(f"spi0.{name}" for name in FIFOS),
    *(f"uart0.{name}" for name in ("character_sent", "character_received", *FIFOS)),
    "timer0.counting",
    "clint.counting",
    "dma0.dma_transfer",
    "dma1.dma_transfer",
    *(f"{name}.irq" for name in ("spi0", "uart0", "intc", "timer0", "clint")),
    "clint.irq_2",
    "dma0.irq",
    "dma1.irq",
    "flash0.busy",
    "cpu0.idle",
    "cpu0.held_in_reset",
]
BUSES = [f"{name}.bus_busy" for name in ("axi", "axi_lite", "cpu0", "dma0", "dma1")]
# An erased flash after a millisecond, and SCK at 50 MHz: edges are at whole 10 ns.
QUICK = {"flash0.cyclescope,bulk-erase-typical-ms": 1, "spi0.clock-frequency": 50_000_000}


@pytest.fixture(scope="module")
def throughput() -> Path:
    return firmware.build_app("quad_spi_throughput", BOARD, {"pages": 1})


def run(elf: Path, vcd: Path, **options: object) -> RunResult:
    return package.Board(BOARD, QUICK).load(elf).run(vcd=vcd, **options)


def changed(vcd: Path) -> list[tuple[int, str, int]]:
    """Time in picoseconds, wire and level of all changes on the flash's bus."""
    return [(edge.at_ps, edge.wire, edge.level) for edge in edges(vcd.read_text(), "spi0")]


@pytest.mark.parametrize(
    ("text", "ps", "shown"),
    [
        ("1ps", 1, "1 ps"),
        (" 10 ns", 10_000, "10 ns"),
        ("100us", 10**8, "100 us"),
        ("1s", 10**12, "1 s"),
        ("100 s", 10**14, "100 s"),
    ],
)
def test_units_of_time(text: str, ps: int, shown: str) -> None:
    assert waveforms.parse_timescale_ps(text) == ps
    assert waveforms.format_timescale(ps) == shown


@pytest.mark.parametrize("text", ["", "ns", "2ns", "1000ns", "1.0ns", "10 fs", "-1ns", "1 n s"])
def test_no_units_of_time(text: str) -> None:
    with pytest.raises(UsageError, match="expected 1, 10 or 100 and s, ms, us, ns or ps"):
        waveforms.parse_timescale_ps(text)


def test_a_given_unit_takes_times_to_the_nearest(throughput: Path, tmp_path: Path) -> None:
    exact, fine, coarse = (tmp_path / f"{name}.vcd" for name in ("exact", "fine", "coarse"))
    assert run(throughput, exact).notes == ()
    assert run(throughput, fine, vcd_timescale="1 ps").notes == ()
    result = run(throughput, coarse, vcd_timescale="100ns")
    note = f"{coarse}: times are rounded to 100 ns; 10 ns is exact"
    assert result.notes == (note,)
    units = [unit_ps(vcd.read_text()) for vcd in (exact, fine, coarse)]
    assert units == [10_000, 1, 100_000]
    assert changed(exact) == changed(fine)
    rounded = [((at + 50_000) // 100_000 * 100_000, *what) for at, *what in changed(exact)]
    assert [(at, *what) for at, *what in changed(coarse)] == rounded


def test_chosen_wires_alone_are_recorded(throughput: Path, tmp_path: Path) -> None:
    every, some = tmp_path / "every.vcd", tmp_path / "some.vcd"
    run(throughput, every)
    run(throughput, some, vcd_signals=["spi0.[cs][sc]*", "*.io3"])
    names = [line.split()[4] for line in some.read_text().splitlines() if line.startswith("$var")]
    assert names == ["sck", "io3", "cs0"]
    assert changed(some) == [change for change in changed(every) if change[1] in names]


def test_a_pattern_that_fits_no_wire_is_an_error(
    cyclescope: Command, throughput: Path, tmp_path: Path
) -> None:
    vcd = tmp_path / "kept.vcd"
    vcd.write_text("what was here before")
    command = ("run", throughput, "--board", BOARD, "--vcd", vcd)
    done = cyclescope(*command, "--vcd-signals", "spi1.*", "--vcd-signals", "*.sck")
    assert done.status != 0
    said = f"no signal of the board is called 'spi1.*'; it has {', '.join(SIGNALS + BUSES)}"
    assert done.error == said
    assert vcd.read_text() == "what was here before"


@pytest.mark.parametrize("option", [("--vcd-signals", "*"), ("--vcd-timescale", "1ns")])
def test_options_without_a_file_are_an_error(
    option: tuple[str, str], cyclescope: Command, program: Program
) -> None:
    done = cyclescope("run", program("exit_main"), "--board", BOARD, *option)
    said = "--waves-signals and --waves-timescale need --waves FILE"
    assert done.error == said


def test_a_recording_without_a_change_is_a_note(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    wires = ("--vcd-signals", "spi0.*", "--vcd-signals", "*.busy")
    done = cyclescope("run", program("exit_main"), "--board", BOARD, "--vcd", "out.vcd", *wires)
    assert done.status == 7
    names = ", ".join([*WIRES, "spi0.shifting", "spi0.irq", "flash0.busy"])
    assert f"note: out.vcd: no signal changed; recorded are {names}\n" in done.stderr
    assert (tmp_path / "out.vcd").read_text().count("$var") == len(WIRES) + 3


def test_a_recording_is_saved_however_a_run_ends(throughput: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.vcd", tmp_path / "cut.vcd"
    result = run(throughput, whole)

    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(throughput, cut, console=interrupt)
    kept = changed(cut)
    assert kept == changed(whole)[: len(kept)]
    assert len(kept) > 8
    # the last time that the file has is the run's end, in whole units
    end = whole.read_text().splitlines()[-1]
    assert end == f"#{-(-result.elapsed_ps // 10_000)}"
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".vcd"]


def test_a_pipe_takes_a_waveform_too(cyclescope: Command, throughput: Path, tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file.vcd"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    sets = [word for path, value in QUICK.items() for word in ("--set", f"{path}={value}")]
    command = ("run", throughput, "--board", BOARD, *sets, "--vcd-signals", "*.cs0", "--vcd")
    assert cyclescope(*command, pipe).status == 0
    reader.join()
    assert cyclescope(*command, file).status == 0
    assert read == [file.read_text()]


def test_a_full_disk_is_reported_with_the_files_name(throughput: Path, tmp_path: Path) -> None:
    # the machine's writes go to a file that takes none
    full = tmp_path / "full.vcd"
    full.symlink_to("/dev/full")
    result = package.Board(BOARD).load(throughput).run(vcd=full)
    assert result.failed_saves == (f"{full}: can't be written: No space left on device",)


def test_a_frame_and_a_file_at_once(tmp_path: Path) -> None:
    board = "ben-nanonote-ssi"
    settings = {"stack": "spi-jz4740-ssi", "operation": "identify"}
    elf = firmware.build_app("bitbang_spi", board, settings)
    vcd = tmp_path / "out.vcd"
    both = package.Board(board).load(elf).run(frame_on="ssi", vcd=vcd, vcd_signals=["ssi.cs0"])
    alone = package.Board(board).load(elf).run(frame_on="ssi")
    assert both.frame == alone.frame is not None
    assert vcd.read_text().count("$var") == 1
    with pytest.raises(EngineError, match="no recordable SPI bus 'none'; it has ssi"):
        package.Board(board).load(elf).run(frame_on="none")


def test_the_machine_refuses_what_makes_no_sense(throughput: Path) -> None:
    machine = package.Board(BOARD).load(throughput).start()
    many = len(SIGNALS + BUSES)
    refused = f"the board has {many} signals to record, and no number {many}"
    with pytest.raises(EngineError, match=refused):
        machine.record_waves([0, many])
    machine.record_waves([])
    for unit in (0, 3, 10**15, 2**64 - 1):
        with pytest.raises(EngineError, match="no unit of time"):
            machine.vcd([0], unit, 1)
    with pytest.raises(OSError, match="No such file"):
        machine.record_waves([0], "no/such/file")


def test_a_result_has_its_notes_in_json(cyclescope: Command, program: Program) -> None:
    command = ("run", program("exit_main"), "--board", BOARD, "--vcd", "out.vcd", "--json", "-")
    (note,) = json.loads(cyclescope(*command, "--vcd-signals", "spi0.s*").stdout)["notes"]
    assert note == "out.vcd: no signal changed; recorded are spi0.sck, spi0.shifting"


# ---- what devices do, and Fast Signal Traces


def test_a_fast_signal_trace_has_what_a_dump_has(throughput: Path, tmp_path: Path) -> None:
    vcd, fst = tmp_path / "out.vcd", tmp_path / "out.fst"
    results = [
        package.Board(BOARD, QUICK).load(throughput).run(waves=file, vcd_timescale="10ns")
        for file in (vcd, fst)
    ]
    assert replace(results[0], wall_ns=0) == replace(results[1], wall_ns=0)
    assert read_of(vcd) == read_of(fst)
    assert set(read_of(fst)) == {one for one in SIGNALS if not one.endswith(FIFOS)}
    # a few bytes a change
    assert fst.stat().st_size < vcd.stat().st_size / 5
    assert pywellen.Waveform(str(fst)).timescale.factor == 10


def test_devices_show_what_they_do(throughput: Path, tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    result = run(throughput, vcd, vcd_signals=["flash0.busy", "dma?.*", "spi0.cs0", "uart0.*"])
    found = read_of(vcd)
    busy = [at for at, _ in found["flash0.busy"][1:]]
    lengths = [10_000 * (end - begin) for begin, end in zip(busy[::2], busy[1::2], strict=True)]
    # bulk erase, and a page of 256 bytes
    assert lengths == [10**9, 500_000_000]
    frames = [at for at, level in found["spi0.cs0"][1:] if level]
    assert {busy[0], busy[2]} <= set(frames)
    # 10 bits of a character, which follow each other without a pause
    (rise, fall), *_ = zip(
        *[[at for at, _ in found["uart0.character_sent"][1:]][first::2] for first in (0, 1)],
        strict=True,
    )
    assert (fall - rise) % 868 == 0
    assert result.counters["dma0.transfers"] > 0
    assert any(len(found[f"dma{index}.dma_transfer"]) > 1 for index in (0, 1))


def test_polling_is_skipped_while_signals_of_devices_are_recorded(tmp_path: Path) -> None:
    texts = []
    for skip in (True, False):
        vcd = tmp_path / f"{skip}.vcd"
        signals = ["*.shifting", "card?.busy", "*.irq*", "uart0.*"]
        board = package.Board(CARDS.board, dict(CARDS.overrides)).load(CARDS.elf())
        result = board.run(vcd=vcd, vcd_signals=signals, skip_polling=skip)
        texts.append(vcd.read_text())
        assert (result.host_work[0].skipped_cycles > 0) == skip
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"waves": "out.ghw"}, "out.ghw: expected a file that ends in .vcd or .fst"),
        ({"waves": "out.vcd", "vcd": "other.vcd"}, "--waves and --vcd exclude each other"),
    ],
)
def test_unknown_formats_and_windows_are_refused(
    given: dict[str, str], error: str, program: Program
) -> None:
    with pytest.raises(UsageError, match=error):
        package.Board(BOARD).load(program("exit_main")).run(**given)


def test_the_command_writes_both(cyclescope: Command, throughput: Path, tmp_path: Path) -> None:
    sets = [word for path, value in QUICK.items() for word in ("--set", f"{path}={value}")]
    command = ("run", throughput, "--board", BOARD, *sets, "--waves-signals", "flash0.*")
    for ending in ("vcd", "fst"):
        done = cyclescope(*command, "--waves", f"out.{ending}", "--waves-timescale", "1us")
        assert (done.status, "rounded to 1 us" in done.stderr) == (0, True)
    assert read_of(tmp_path / "out.vcd") == read_of(tmp_path / "out.fst")
    assert (
        cyclescope(*command, "--waves", "x.txt").error
        == "x.txt: expected a file that ends in .vcd or .fst"
    )
