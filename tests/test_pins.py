"""Lights, buttons and pins: what scripts press and wait for, what results and waveforms show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT, Command

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.scripts import (
    DrivePin,
    End,
    ExpectLed,
    ExpectPin,
    Press,
    Release,
    Step,
    Wait,
    format_script,
    parse_script,
)
from cyclescope.errors import EngineError, UsageError

FOLDER = ROOT / "tests" / "firmware" / "stm32"
FLAGS = (
    *("-std=c11", "-O2", "-g", "-ffreestanding", "-fno-sanitize=undefined", "-mthumb"),
    *("-Wall", "-Wextra", "-Werror", "-nostdlib", "-static", "-Wl,--gc-sections"),
    "-Wl,--entry=reset",
)
MS = 10**9
# The light and the button: label, port, pin; what the button reads while it is pressed.
BOARDS = {
    "stm32f4-disco": (("LD4", 3, 12), (0, 0), 1, ()),
    "nucleo-f411re": (("LD2", 0, 5), (2, 13), 0, ()),
    "nucleo-l4r5zi": (("LD3", 1, 14), (2, 13), 1, ("-DSTM32L4=1",)),
}
# Ways of writing to a port: by registers, and as LL, HAL and libopencm3 do.
WAYS = 4
BLINKS = 4


def built(name: str, source: str, *flags: str) -> Path:
    recipe = firmware.Recipe(
        name=name,
        target="thumb-freestanding-eabihf",
        mcpu="cortex_m4+vfp4d16sp",
        linker_script=FOLDER / "parts.ld",
        include=(),
        flags=(*FLAGS, *flags),
        sources=(FOLDER / source,),
    )
    return firmware.build(recipe)


def blinky(board: str) -> Path:
    (_, led_port, led_pin), (key_port, key_pin), level, more = BOARDS[board]
    pins = {"LED_PORT": led_port, "LED_PIN": led_pin, "KEY_PORT": key_port, "KEY_PIN": key_pin}
    pins |= {"KEY_LEVEL": level}
    return built(
        f"blinky-{board}", "blinky.c", *(f"-D{name}={value}" for name, value in pins.items()), *more
    )


def pressing(led: str) -> list[Step]:
    """Presses the button for each way, and twice more for interrupts."""
    steps: list[Step] = []
    for way in range(WAYS):
        steps += [Wait((2 * BLINKS + 1) * (5 + way) * MS), ExpectLed(led, is_on=False)]
        steps += [Press("B1"), ExpectLed(led, within_ps=MS), Wait(3 * MS), Release("B1")]
        steps += [ExpectLed(led, is_on=False, within_ps=MS)]
    steps += [Wait(MS), Press("B1"), ExpectLed(led, within_ps=MS), Wait(MS), Release("B1")]
    return [*steps, ExpectLed(led, False, MS), Wait(MS), Press("B1", MS)]


@pytest.mark.parametrize("board", BOARDS)
def test_blinky_shows_its_light_and_takes_its_button(
    board: str, cyclescope: Command, tmp_path: Path
) -> None:
    label = BOARDS[board][0][0]
    elf = blinky(board)
    machine = package.Board(board).load(elf)
    done = machine.run("1s", script=pressing(label))
    assert (done.outcome, done.exit_code, done.notes) == ("exit", 0, ()), done.message
    led = done.led(label)
    # each way blinks, and is on while the button is pressed; interrupts toggle it four times
    assert (led.times_on, led.times_off) == (WAYS * (BLINKS + 1) + 2,) * 2
    assert not led.is_on
    assert [other.label for other in done.leds if other.moved] == [label]
    # the same from the command line, with the tables and files that people see
    script, result, waves = tmp_path / "s.txt", tmp_path / "r.json", tmp_path / "w.vcd"
    script.write_text(format_script(pressing(label)))
    shown = cyclescope(
        *("run", elf, "--board", board, "--script", script, "--json", result, "--vcd", waves),
        *("--limit", "1s"),
    )
    assert shown.status == 0, shown.stderr
    assert re.search(rf"│ {label} +│ {re.escape(led.pin)} +│ off │ +22 │ +22 │", shown.stdout)
    told = json.loads(result.read_text())
    assert next(one for one in told["leds"] if one["label"] == label) == led.to_dict()
    assert told["elapsed_ps"] == done.elapsed_ps
    assert f" {label} $end" in waves.read_text()


def test_a_light_that_blinks_has_a_period() -> None:
    board = package.Board("nucleo-f411re").load(blinky("nucleo-f411re"))
    done = board.run("39ms")
    led = done.led("LD2")
    # on for 5 ms of 10, by a tick of 1 ms
    assert led.period_ps == pytest.approx(10 * MS, abs=MS / 100)
    assert led.duty == pytest.approx(0.5, abs=0.001)
    assert (led.times_on, led.times_off, led.is_on, led.pin) == (4, 4, False, "gpioa.5")
    assert led.on_ps == pytest.approx(20 * MS, abs=MS / 10)


def test_pins_at_rest_are_what_the_boards_pull_them_to() -> None:
    """A button that nobody presses, and pulls of a board against those of the port."""
    for board, (_, (port, pin), level, _) in BOARDS.items():
        name = f"gpio{'abc'[port]}.{pin}"
        rest, pressed = ("low", "high") if level else ("high", "low")
        steps = [ExpectPin(name, rest, 0), Press("B1"), ExpectPin(name, pressed, 0)]
        steps += [Release("B1"), ExpectPin(name, rest, 0), End(5)]
        done = package.Board(board).load(blinky(board)).run("1ms", script=steps)
        assert (done.outcome, done.exit_code) == ("exit", 5), (board, done.message)


def test_a_script_drives_pins_and_waits_for_edges() -> None:
    board = package.Board("nucleo-f411re").load(blinky("nucleo-f411re"))
    text = """
        expect pin gpioa.5 rising within 20ms    # it blinks
        expect pin gpioa.5 falling within 6ms
        expect led LD2 on within 6ms
        expect led "green_led_2" off within 6ms
        expect pin gpiob.3 high within 1us       # nobody pulls it up
        end
    """
    script = parse_script(text, "s.txt")
    done = board.run("1s", script=script)
    assert (done.outcome, done.message) == (
        "script",
        "s.txt:6: gpiob.3 did not go high within 1.000 us, at " + str_ms(done.elapsed_ps) + "; it is low",
    )


def str_ms(ps: int) -> str:
    return f"{ps / MS:.3f} ms"
