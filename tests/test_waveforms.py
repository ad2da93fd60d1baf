"""Waveform files: which wires they have, in which unit of time, and what becomes of them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, Command
from waveforms import edges, unit_ps

import cyclescope as package
from cyclescope import firmware
from cyclescope.board import waveforms
from cyclescope.board.results import RunResult
from cyclescope.errors import EngineError, UsageError

Program = Callable[[str], Path]

WIRES = [f"spi0.{name}" for name in ("sck", "io0", "io1", "io2", "io3", "cs0")]
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
    run(throughput, some, vcd_signals=["spi0.[cs]*", "*.io3"])
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
    assert done.error == (f"no wire of the board is called 'spi1.*'; it has {', '.join(WIRES)}")
    assert vcd.read_text() == "what was here before"


@pytest.mark.parametrize("option", [("--vcd-signals", "*"), ("--vcd-timescale", "1ns")])
def test_options_without_a_file_are_an_error(
    option: tuple[str, str], cyclescope: Command, program: Program
) -> None:
    done = cyclescope("run", program("exit_main"), "--board", BOARD, *option)
    assert done.error == "--vcd-signals and --vcd-timescale are of use with --vcd FILE only"


def test_a_recording_without_a_change_is_a_note(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    elf = program("exit_main")
    done = cyclescope("run", elf, "--board", BOARD, "--vcd", "out.vcd")
    assert done.status == 7
    assert f"note: out.vcd: no wire changed; recorded are {', '.join(WIRES)}\n" in done.stderr
    assert (tmp_path / "out.vcd").read_text().count("$var") == len(WIRES)
    result = package.Board("minimal-rv32").load(elf_of("minimal-rv32")).run(vcd=tmp_path / "no.vcd")
    assert f"{tmp_path / 'no.vcd'}: the board has no wires to record" in result.notes


def elf_of(board: str) -> Path:
    return firmware.build_app("hello", board, {})


def test_what_was_recorded_is_there_however_a_run_ends(throughput: Path, tmp_path: Path) -> None:
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


def test_a_full_disk_is_told_with_the_files_name(throughput: Path, tmp_path: Path) -> None:
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
    with pytest.raises(EngineError, match="no SPI bus 'none' that can be recorded; it has ssi"):
        package.Board(board).load(elf).run(frame_on="none")


def test_the_machine_refuses_what_makes_no_sense(throughput: Path) -> None:
    machine = package.Board(BOARD).load(throughput).start()
    with pytest.raises(EngineError, match="the board has 6 wires to record, and no number 6"):
        machine.record_waves([0, 6])
    machine.record_waves([])
    for unit in (0, 3, 10**15, 2**64 - 1):
        with pytest.raises(EngineError, match="no unit of time"):
            machine.vcd([0], unit, 1)
    with pytest.raises(OSError, match="No such file"):
        machine.record_waves([0], "no/such/file")


def test_a_result_has_its_notes_in_json(cyclescope: Command, program: Program) -> None:
    command = ("run", program("exit_main"), "--board", BOARD, "--vcd", "out.vcd", "--json", "-")
    (note,) = json.loads(cyclescope(*command).stdout)["notes"]
    assert note.startswith("out.vcd: no wire changed; recorded are spi0.sck, ")
