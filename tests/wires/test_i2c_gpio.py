"""I2C by hand: a Ben NanoNote with an LM75 on two pins of a port."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import ben_nanonote
import pytest
from conftest import Command
from waveforms import NEEDS_SIGROK, annotations, edges, only_scope, without_pauses

import cyclescope as package
from cyclescope.board.results import RunResult
from cyclescope.statuses import Status

BOARD = """\
/dts-v1/;
/include/ "ben-nanonote.dtsi"

/ {
	i2c0: i2c {
		compatible = "i2c-gpio";
		#address-cells = <1>;
		#size-cells = <0>;
		scl-gpios = <&gpd 11 6>;
		sda-gpios = <&gpd 8 6>;

		lm75: temperature-sensor@48 {
			/include/ "lm75.dtsi"
			reg = <0x48>;
			cyclescope,temperature-millicelsius = <23500>;
		};
	};
};
"""
STEP_PS = 5_000_000


@pytest.fixture
def board(tmp_path: Path) -> Path:
    path = tmp_path / "board.dts"
    path.write_text(BOARD)
    return path


def run(board: Path, vcd: Path | None = None) -> RunResult:
    elf = ben_nanonote.build("i2c_bitbang")
    signals = ["i2c0.*"] if vcd else []
    return package.Board(board).load(elf).run(vcd=vcd, vcd_signals=signals)


def test_firmware_reads_a_chip_over_two_pins(board: Path, tmp_path: Path) -> None:
    vcd = tmp_path / "out.vcd"
    result = run(board, vcd)
    assert (result.outcome, result.exit_code, result.notes) == ("exit", 0, ())
    assert result.console == "read 23.5 C\n"
    counts = {"frames": 2, "bytes": 5, "lm75.conversions": 1}
    assert {name: result.counters[f"i2c0.{name}"] for name in counts} == counts
    # 45 clocks, each with a rising edge, and one more in front of the second START and the STOP
    found = edges(vcd.read_text(), "i2c0")
    rises = [edge.at_ps for edge in found if (edge.wire, edge.level) == ("scl", 1)]
    assert len(rises) == 45 + 2
    # between two of them are three steps of the program: SCL low, SDA, SCL high
    assert all(after - before >= 3 * STEP_PS for before, after in pairwise(rises))


@NEEDS_SIGROK
def test_sigrok_reads_the_frames(board: Path, tmp_path: Path) -> None:
    vcd, alone = tmp_path / "out.vcd", tmp_path / "alone.vcd"
    run(board, vcd)
    alone.write_text(without_pauses(only_scope(vcd.read_text(), "i2c0")))
    said = annotations(alone, "i2c:scl=scl:sda=sda", "i2c=addr-data", step_ps=10_000)
    assert [line.partition(": ")[2] for line in said] == [
        "Start",
        "Write",
        "Address write: 48",
        "ACK",
        "Data write: 00",
        "ACK",
        "Start repeat",
        "Read",
        "Address read: 48",
        "ACK",
        "Data read: 17",
        "ACK",
        "Data read: 80",
        "NACK",
        "Stop",
    ]


def test_a_chip_at_another_address_does_not_answer(board: Path) -> None:
    board.write_text(BOARD.replace("reg = <0x48>", "reg = <0x4f>"))
    result = run(board)
    assert result.console == "no answer 255.5 C\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("reg = <0x48>", "reg = <0x7f>", "7 bits"),
        ("&gpd 11 6", "&gpd 32 6", "scl-gpios"),
        ('/include/ "lm75.dtsi"', 'compatible = "national,lm57";', "national,lm75"),
        ("scl-gpios", "sck-gpios", "scl-gpios"),
    ],
)
def test_faults_are_reported_with_their_place(
    cyclescope: Command, board: Path, old: str, new: str, said: str
) -> None:
    board.write_text(BOARD.replace(old, new))
    done = cyclescope("board", board)
    assert done.status == Status.USAGE
    assert "board.dts:" in done.stderr
    assert said in done.stderr
