"""A device in Python and the same in the engine: cycles, stacks, notes and waveforms are equal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command
from tiers import mostly_long
from waveforms import read_of

from cyclescope import firmware, resources

BOARD = "nios2-mmc"
PORTS = ROOT / "tests" / "python_devices"
# In the place of the second card.
ACCELEROMETER = """
/delete-node/ &card1;
&spi0 {
	clock-frequency = <8000000>;

	accelerometer0: accelerometer@0 {
		/include/ "lis3dh.dtsi"
		reg = <0>;
		interrupts-extended = <&cpu0_intc 20>;
	};
};
"""


def program(name: str) -> Path:
    source = ROOT / "tests" / "firmware" / f"{name}.c"
    return firmware.build(firmware.board_recipe(name, BOARD, [source]))


Waves = dict[str, list[tuple[int, int]]]
# Activities that only the engine's models record.
OF_ENGINE = {"timer0.counting", "lm75.conversion"}


def run(cyclescope: Command, folder: Path, *arguments: object) -> tuple[dict[str, Any], Waves, str]:
    """The whole result, the waveforms, and what the firmware printed."""
    written = ("--json", folder / "run.json", "--vcd", folder / "run.vcd")
    finished = cyclescope("run", *arguments, *written)
    assert finished.status == 0, finished.stderr
    console = finished.stdout.partition("instructions ")[0]
    result = json.loads((folder / "run.json").read_text())
    waves = read_of(folder / "run.vcd")
    return result, {name: waves[name] for name in waves if name not in OF_ENGINE}, console


def same_result(cyclescope: Command, folder: Path, port: str, *arguments: object) -> dict[str, Any]:
    """Runs both, and gives the result that they have in common."""
    engines = run(cyclescope, folder, *arguments)
    python = run(cyclescope, folder, *arguments, "--devices", PORTS / f"{port}.py")
    assert python == engines
    return engines[0]


@pytest.mark.parametrize("compile_after", mostly_long([0, 1], short={1}))
def test_a_timer_with_events_and_interrupts(
    cyclescope: Command, tmp_path: Path, compile_after: int
) -> None:
    tier = ("--compile-after", compile_after)
    elf = program("interval_timer")
    result = same_result(cyclescope, tmp_path, "altr_timer", elf, "--board", BOARD, *tier)
    assert result["exit_code"] == 0
    causes = {entry["cause"] for core in result["cores"] for entry in core["stack"]}
    assert {"load: timer0", "wait for interrupt"} <= causes


def test_a_chip_on_spi_with_an_interrupt(cyclescope: Command, tmp_path: Path) -> None:
    board = tmp_path / "accelerometer.dts"
    shipped = resources.boards().resolve() / f"{BOARD}.dts"
    board.write_text(f'/dts-v1/;\n/include/ "{shipped}"\n{ACCELEROMETER}', encoding="utf-8")
    result = same_result(cyclescope, tmp_path, "lis3dh", program("accelerometer"), "--board", board)
    assert "accelerometer0" in "".join(result["notes"])


@pytest.mark.parametrize(
    ("bus_khz", "millicelsius"),
    [pytest.param("100", 21_500, marks=pytest.mark.long, id="100 kHz"), ("400", 90_000)],
    ids=[None, "400 kHz"],
)
def test_a_chip_on_i2c(
    cyclescope: Command, tmp_path: Path, bus_khz: str, millicelsius: int
) -> None:
    elf = firmware.build_app("i2c_thermometer", "stm32mp157c-dk2", {"bus_khz": bus_khz})
    board = ("--board", "stm32mp157c-dk2-lm75")
    warm = ("--set", f"lm75.cyclescope,temperature-millicelsius={millicelsius}")
    result = same_result(cyclescope, tmp_path, "lm75", elf, *board, *warm)
    assert any(name.endswith("lm75.conversions") for name in result["counters"])


def test_the_ports_are_what_runs(cyclescope: Command, tmp_path: Path) -> None:
    """A port that errs shows: else both runs would be the engine's own."""
    wrong = tmp_path / "wrong.py"
    text = (PORTS / "altr_timer.py").read_text(encoding="utf-8")
    wrong.write_text(text.replace("// (self.period + 1) + 1)", "// (self.period + 1) + 2)"))
    elf = program("timer_ticks")
    finished = cyclescope("run", elf, "--board", BOARD, "--devices", wrong)
    assert finished.status != 0
