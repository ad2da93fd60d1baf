"""Lights, buttons and pins: what scripts press and wait for, what results and waveforms show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import sama5d2
import timelines
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
from cyclescope.devices import Device, SpiChip, registry
from cyclescope.errors import EngineError, UsageError

FOLDER = ROOT / "tests" / "firmware" / "stm32"
FLAGS = (
    "-std=c11",
    "-O2",
    "-g",
    "-ffreestanding",
    "-fno-sanitize=undefined",
    "-mthumb",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-nostdlib",
    "-static",
    "-Wl,--gc-sections",
    "-Wl,--entry=reset",
)
MS = 10**9
# The light and the button: label, port, pin; what the button reads while it is pressed.
BOARDS = {
    "stm32f4-disco": (("LD4", 3, 12), ("B1", 0, 0), 1, ()),
    "nucleo-f411re": (("LD2", 0, 5), ("B1", 2, 13), 0, ()),
    "nucleo-l4r5zi": (("LD3", 1, 14), ("B1", 2, 13), 1, ("-DSTM32L4=1",)),
    "stm32mp157c-dk2": (("LD7", 7, 7), ("B3", 0, 14), 0, ("-DSTM32MP1=1",)),
}
# A light that has its pin in common with a button.
SHARED = {"B3": ("LD5",)}
# Ways of writing to a port: by registers, and as LL, HAL and libopencm3 do.
WAYS = 4
BLINKS = 4


def built(name: str, source: str, *flags: str, script: str = "parts.ld") -> Path:
    recipe = firmware.Recipe(
        name=name,
        target="thumb-freestanding-eabihf",
        mcpu="cortex_m4+vfp4d16sp",
        linker_script=FOLDER / script,
        include=(),
        flags=(*FLAGS, *flags),
        sources=(FOLDER / source,),
    )
    return firmware.build(recipe)


def blinky(board: str) -> Path:
    (_, led_port, led_pin), (_, key_port, key_pin), level, more = BOARDS[board]
    pins = {"LED_PORT": led_port, "LED_PIN": led_pin, "KEY_PORT": key_port, "KEY_PIN": key_pin}
    pins |= {"KEY_LEVEL": level}
    flags = *(f"-D{name}={value}" for name, value in pins.items()), *more
    script = "mcu.ld" if "-DSTM32MP1=1" in more else "parts.ld"
    return built(f"blinky-{board}", "blinky.c", *flags, script=script)


def pressing(led: str, key: str) -> list[Step]:
    """Presses the button for each way, and twice more for interrupts."""
    steps: list[Step] = []
    for way in range(WAYS):
        steps += [Wait((2 * BLINKS + 1) * (5 + way) * MS), ExpectLed(led, is_on=False)]
        steps += [Press(key), ExpectLed(led, within_ps=MS), Wait(3 * MS), Release(key)]
        steps += [ExpectLed(led, is_on=False, within_ps=MS)]
    steps += [Wait(MS), Press(key), ExpectLed(led, within_ps=MS), Wait(MS), Release(key)]
    return [*steps, ExpectLed(led, False, MS), Wait(MS), Press(key, MS)]


@pytest.mark.parametrize("board", BOARDS)
def test_blinky_shows_its_light_and_takes_its_button(
    board: str, cyclescope: Command, tmp_path: Path
) -> None:
    label, key = BOARDS[board][0][0], BOARDS[board][1][0]
    elf = blinky(board)
    machine = package.Board(board).load(elf)
    done = machine.run("1s", script=pressing(label, key))
    assert (done.outcome, done.exit_code) == ("exit", 0), done.message
    assert [note for note in done.notes if "which runs alone" not in note] == []
    led = done.led(label)
    # each way blinks, and is on while the button is pressed; interrupts toggle it four times
    assert (led.times_on, led.times_off) == (WAYS * (BLINKS + 1) + 2,) * 2
    assert not led.is_on
    assert {other.label for other in done.leds if other.moved} == {label, *SHARED.get(key, ())}
    # the same from the command line, with the tables and files that people see
    script, result, waves = tmp_path / "s.txt", tmp_path / "r.json", tmp_path / "w.vcd"
    script.write_text(format_script(pressing(label, key)))
    shown = cyclescope(
        "run",
        elf,
        "--board",
        board,
        "--script",
        script,
        "--json",
        result,
        "--vcd",
        waves,
        "--limit",
        "1s",
    )
    assert shown.status == 0, shown.stderr
    assert re.search(rf"│ {label} +│ {re.escape(led.pin)} +│ off │ +22 │ +22 │", shown.stdout)
    data = json.loads(result.read_text())
    assert next(one for one in data["leds"] if one["label"] == label) == led.to_dict()
    assert data["elapsed_ps"] == done.elapsed_ps
    assert f" {label} $end" in waves.read_text()


def test_the_sama5d2_shows_its_light_and_takes_its_button(
    cyclescope: Command, tmp_path: Path
) -> None:
    """The first of four blinks to the last, the button polled, and then by interrupts."""
    elf = sama5d2.build("button", {})
    board = package.Board(sama5d2.BOARD).load(elf)
    steps: list[Step] = [ExpectPin("pioA.38", "falling", 5 * MS), ExpectLed("red", True, 1)]
    steps += [Wait(20 * MS), ExpectLed("red", False, 1), ExpectPin("pioA.41", "high", 1)]
    for _ in range(3):
        steps += [Press("PB_USER"), ExpectLed("red", True, MS), Wait(3 * MS)]
        steps += [Release("PB_USER"), ExpectLed("red", False, MS), Wait(MS)]
    steps = steps[:-1]  # then the program ends
    done = board.run("1s", script=steps)
    assert (done.outcome, done.exit_code, done.notes) == ("exit", 0, ()), done.message
    led = done.led("red")
    assert (led.pin, led.times_on, led.times_off, led.is_on) == ("pioA.38", 7, 7, False)
    assert [other.label for other in done.leds] == ["red", "green", "blue"]
    assert [other.label for other in done.leds if other.moved] == ["red"]
    # polling loops that are skipped see each change at its time
    trace = tmp_path / "run.pftrace"
    whole = board.run("1s", script=steps, skip_polling=False, trace=trace, trace_kinds=["pin"])
    assert (whole.elapsed_ps, whole.cores, whole.leds) == (done.elapsed_ps, done.cores, done.leds)
    high = timelines.read(trace).on("pioA/pin 41")
    assert [one.length_ps >= MS for one in high[:2]] == [True, True]
    # the same from the command line, and which pins these are
    script, waves = tmp_path / "s.txt", tmp_path / "w.vcd"
    script.write_text(format_script(steps))
    shown = cyclescope(
        "run",
        elf,
        "--board",
        sama5d2.BOARD,
        "--script",
        script,
        "--vcd",
        waves,
        "--vcd-signals",
        "pioA.3?",
        "--vcd-signals",
        "leds.*",
    )
    assert shown.status == 0, shown.stderr
    assert re.search(r"│ red +│ pioA\.38 +│ off │ +7 │ +7 │", shown.stdout)
    text = waves.read_text()
    (code,) = re.findall(r"\$var wire 1 (\S+) 38 \$end", text)
    assert len(re.findall(rf"(?m)^0{re.escape(code)}$", text)) == led.times_on
    listed = cyclescope("board", sama5d2.BOARD, "--section", "pins")
    assert re.search(r"pioA\.41 +│ button PB_USER, low while pressed", listed.stdout)
    assert "pioA 128" in listed.stdout


def test_a_light_that_blinks_has_a_period() -> None:
    board = package.Board("nucleo-f411re").load(blinky("nucleo-f411re"))
    done = board.run("39ms")
    led = done.led("LD2")
    # on for 5 ms of 10, by a tick of 1 ms
    assert led.period_ps == pytest.approx(10 * MS, abs=MS / 100)
    assert led.duty == pytest.approx(0.5, abs=0.001)
    assert (led.times_on, led.times_off, led.is_on, led.pin) == (4, 4, False, "gpioa.5")
    assert led.on_ps == pytest.approx(20 * MS, abs=MS / 10)


def test_a_light_that_a_timer_dims_has_the_timers_period() -> None:
    done = package.Board("stm32f4-disco").load(built("dimmed", "dimmed.c")).run("1s")
    led = done.led("LD4")
    assert (done.exit_code, led.period_ps, led.on_in_period_ps) == (0, MS, MS // 4)
    assert led.times_on in (20, 21)
    assert led.duty == 0.25


def test_a_timeline_has_lights_and_pins_if_asked(tmp_path: Path) -> None:
    board = package.Board("nucleo-f411re").load(blinky("nucleo-f411re"))
    file = tmp_path / "run.pftrace"
    led = board.run("19ms", trace=file).led("LD2")
    found = timelines.read(file)
    assert len(found.on("LD2/on")) == led.times_on == 2
    assert sum(one.length_ps for one in found.on("LD2/on")) == led.on_ps
    assert not any(track.startswith("gpioa/pin") for track in found.tracks)
    board.run("19ms", trace=file, trace_kinds=["pin"])
    found = timelines.read(file)
    assert sum(one.length_ps for one in found.on("gpioa/pin 5")) == led.on_ps
    assert not found.on("LD2/on")


def test_pins_that_the_boot_loader_has_set_up_carry_signals_until_firmware_takes_them() -> None:
    done = package.Board("stm32mp157c-dk2").load(built("mcu_pins", "mcu_pins.c", script="mcu.ld"))
    result = done.run("10ms")
    assert (result.outcome, result.streams["uart7"]) == ("exit", "at PE8\nat PF7\n")
    notes = [note for note in result.notes if note.startswith("uart7")]
    assert len(notes) == 1
    assert notes[0].startswith("uart7: no pin carries its TX: a character was written, and nothing")
    assert "PE8 (alternate function 7; now analog)" in notes[0]


def test_lights_of_a_picosoc_are_bits_of_its_users_register(tmp_path: Path) -> None:
    source = tmp_path / "lights.c"
    source.write_text(
        """
        int main(void)
        {
            volatile unsigned *gpio = (volatile unsigned *)0x03000008u;
            for (unsigned i = 0; i < 4; i++)
                *gpio = i << 6;
            return 0;
        }
        """
    )
    for board, low, high in (
        ("picosoc-hx8k", "LED6", "LED7"),
        ("picosoc-icebreaker", "LEDR", "LEDG"),
    ):
        elf = firmware.build(firmware.board_recipe("lights", board, [source]))
        done = package.Board(board).load(elf).run("1s")
        assert (done.led(low).times_on, done.led(high).times_on) == (2, 1)


def test_pins_at_rest_are_what_the_boards_pull_them_to() -> None:
    """A button that nobody presses, and pulls of a board against those of the port."""
    for board, (_, (key, port, pin), level, _) in BOARDS.items():
        name = f"gpio{'abc'[port]}.{pin}"
        rest, pressed = ("low", "high") if level else ("high", "low")
        steps = [ExpectPin(name, rest, 0), Press(key), ExpectPin(name, pressed, 0)]
        steps += [Release(key), ExpectPin(name, rest, 0), End(5)]
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
    at = f"{done.elapsed_ps / MS:.3f} ms"
    assert (done.outcome, done.message) == (
        "script",
        f"s.txt:6: gpiob.3 did not go high within 1.000 us, at {at}; it is low",
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("press B2", "s:1: no button 'B2'; the board's buttons are B1"),
        ("expect led green on", "s:1: no light 'green'; the board's lights are LD2"),
        ("pin gpiox.1 low", "s:1: no pin 'gpiox.1': expected PORT.NUMBER; did you mean"),
        ("pin 7 low", "s:1: no pin '7': expected PORT.NUMBER; the board's GPIO ports are"),
        ("expect pin gpioa.16 high", "s:1: no pin 'gpioa.16': gpioa has the pins 0 to 15"),
        ("expect pin gpioa.1 up", "s:1: expect pin gpioa.1 up: expected expect"),
        ("expect led LD2 on within", "s:1: expect led LD2 on within: expected expect"),
        ("press B1 for soon", "s:1: time 'soon'"),
        ('press "B1', "s:1: a text has no closing quote"),
    ],
)
def test_an_impossible_step_is_reported_with_its_place(line: str, message: str) -> None:
    board = package.Board("nucleo-f411re").load(blinky("nucleo-f411re"))
    with pytest.raises(UsageError) as error:
        board.run("1ms", script=parse_script(line, "s"))
    assert str(error.value).startswith(message)


def test_a_pin_that_two_drive_is_low_with_a_note() -> None:
    """The firmware drives its light high, and somebody outside low; then it is let go of."""
    steps = [ExpectPin("gpioa.5", "rising", 20 * MS), DrivePin("gpioa.5", "low")]
    steps += [ExpectLed("LD2", False, 0), DrivePin("gpioa.5", "release"), ExpectLed("LD2", True, 0)]
    done = package.Board("nucleo-f411re").load(blinky("nucleo-f411re")).run(script=[*steps, End()])
    assert (done.outcome, done.exit_code) == ("exit", 0), done.message
    (note,) = done.notes
    assert "pin 5 and what is wired to it drive against each other: low wins" in note


def test_a_script_of_pins_leaves_the_line_to_others(cyclescope: Command, tmp_path: Path) -> None:
    """The script is at no line, so a user may type there; a run from a snapshot gives the same."""
    elf, script = blinky("nucleo-f411re"), tmp_path / "pins.txt"
    script.write_text("wait 1ms\npress B1 for 2ms\nexpect pin gpioa.5 falling within 20ms\nend 3\n")
    (tmp_path / "typed").write_text("x")
    run = ("run", elf, "--board", "nucleo-f411re", "--script", script, "--quiet")
    done = cyclescope(*run, "--console", f"file:{tmp_path / 'typed'}")
    assert (done.status, done.stderr) == (3, "")
    done = cyclescope(*run, "--script", script)
    assert done.status == 121
    assert "there can be only one script without serial steps" in done.stderr
    board = package.Board("nucleo-f411re").load(elf)
    steps = parse_script(script.read_text(), "s")
    whole = board.run(script=steps)
    taken = board.run(script=steps, snapshot=tmp_path / "s.snapshot", snapshot_at="2ms")
    later = board.run(script=steps, start_from=tmp_path / "s.snapshot")
    assert whole.exit_code == 3
    assert whole.leds == taken.leds == later.leds
    assert whole.cores == taken.cores == later.cores
    # without skipping polling loops, and without compiled code
    assert board.run(script=steps, skip_polling=False).cores == whole.cores
    assert board.run(script=steps, compile_after=0).leds == whole.leds


def test_pins_of_ports_are_in_waveforms_by_number(cyclescope: Command, tmp_path: Path) -> None:
    run = ("run", blinky("nucleo-f411re"), "--board", "nucleo-f411re", "--limit", "20ms")
    waves = tmp_path / "w.vcd"

    def signals(*options: str) -> set[str]:
        done = cyclescope(*run, "--vcd", waves, *options)
        assert done.status == 124, done.stderr
        scope, found = "", set()
        for line in waves.read_text().splitlines():
            if line.startswith("$scope"):
                scope = line.split()[2]
            elif line.startswith("$var"):
                found.add(f"{scope}.{line.split()[4]}")
        return found

    whole = signals()
    assert {"leds.LD2", "buttons.B1"} <= whole
    # the light's pin has a name; other pins do nothing
    assert not {name for name in whole if name.startswith("gpio")}
    assert signals("--vcd-signals", "gpioa*") == {f"gpioa.{number}" for number in range(16)}
    changes = [line for line in waves.read_text().splitlines() if line.startswith("#")]
    assert len(changes) >= 4
    assert signals("--vcd-signals", "gpioa.5", "--vcd-signals", "leds.*") == {"gpioa.5", "leds.LD2"}
    done = cyclescope(*run, "--vcd", waves, "--vcd-signals", "ports")
    assert "gpioa.0 to gpioa.15, gpiob.0 to gpiob.15" in done.stderr


def test_a_board_of_ones_own_has_lights_and_buttons(cyclescope: Command, tmp_path: Path) -> None:
    board = tmp_path / "own.dts"
    board.write_text("""
/dts-v1/;
/include/ "nucleo-f411re.dts"
/ {
	leds {
		compatible = "gpio-leds";
		alarm { gpios = <&gpioa 5 1>; label = "Alarm: low"; color = <2>; function = "status"; };
	};
	gpio_keys {
		compatible = "gpio-keys";
		stop { gpios = <&gpiob 1 0x11>; linux,code = <2>; };
	};
};
&gpiob {
	cyclescope,board-pull-ups = <1 4700>;
	cyclescope,board-pull-downs = <2 100>, <3 1000000>;
};
""")
    shown = cyclescope("board", board, "--section", "pins")
    rows = [line.split("│")[1:3] for line in shown.stdout.splitlines() if line.startswith("│")]
    table = {pin.strip(): what.strip() for pin, what in rows if pin.strip()}
    assert (table["gpioa.2"], table["gpioa.3"]) == ("usart2: tx", "usart2: rx")
    assert re.search(r"│ gpioa.5 +│ LED LD2; LED Alarm: low.*│ .*timers2 ch1 \(1\)", shown.stdout)
    uses: dict[str, list[str]] = {}
    for use in package.Board(board).pin_uses:
        uses.setdefault(use.pin, []).append(use.what)
    assert table.keys() == uses.keys()
    assert uses["gpioa.5"] == ["LED LD2", "LED Alarm: low, on while low"]
    pulled = "a resistor of the board pulls it"
    assert uses["gpiob.1"] == ["button stop, low while pressed", f"{pulled} up (4,700 ohms)"]
    assert uses["gpiob.2"] == [f"{pulled} down (100 ohms)"]
    assert uses["gpiob.3"] == [f"{pulled} down (1,000,000 ohms)"]
    assert uses["gpioc.13"] == ["button B1, low while pressed", f"{pulled} up (4,700 ohms)"]
    script = [ExpectPin("gpiob.1", "high", 0), Press("stop"), ExpectPin("gpiob.1", "low", 0)]
    script += [ExpectLed("alarm", True, 20 * MS), ExpectLed("LD2", True, 20 * MS)]
    script += [ExpectLed("Alarm: low", False, 0), End()]
    done = package.Board(board).load(blinky("nucleo-f411re")).run(script=script)
    assert (done.outcome, done.exit_code) == ("exit", 0), done.message
    # two lights at one pin, lit by the two levels
    assert [led.is_on for led in done.leds] == [True, False]
    bad = tmp_path / "bad.dts"
    for text, message in (
        ("&gpiob { cyclescope,board-pull-ups = <16 47>, <40 47>; };", "a port has pins 0 to 31"),
        (
            "&gpiob { cyclescope,board-pull-ups = <1 5>; cyclescope,board-pull-downs = <1 5>; };",
            "side",
        ),
        ('/ { leds { other { label = "x"; }; }; };', "gpios"),
    ):
        bad.write_text(board.read_text() + text)
        with pytest.raises(EngineError, match=message):
            package.Board(bad)


def test_a_board_counts_pins_through_the_banks_of_a_port(tmp_path: Path) -> None:
    head = '/dts-v1/;\n/include/ "sama5d2-xplained.dts"\n'
    board = tmp_path / "own.dts"

    def light(pin: int) -> package.Board:
        leds = (
            f'/ {{ more {{ compatible = "gpio-leds"; last {{ gpios = <&pioA {pin} 0>; }}; }}; }};'
        )
        board.write_text(f"{head}{leds}\n&pioA {{ cyclescope,board-pull-downs = <127 100>; }};\n")
        return package.Board(board)

    steps = [ExpectPin("pioA.127", "low", 1), ExpectLed("last", False, 1)]
    steps += [
        DrivePin("pioA.127", "high"),
        ExpectLed("last", True, 1),
        ExpectPin("pioA.31", "high", 1),
    ]
    done = light(127).load(sama5d2.build("button", {})).run(script=[*steps, End()])
    assert (done.outcome, done.exit_code) == ("exit", 0), done.message
    with pytest.raises(EngineError, match="pin 128 of pioA; a port has pins 0 to 127"):
        light(128)
    board.write_text(f"{head}&pioA {{ cyclescope,board-pull-ups = <128 47>; }};\n")
    with pytest.raises(EngineError, match="a port has pins 0 to 127"):
        package.Board(board)


def test_a_device_in_python_drives_and_watches_pins(tmp_path: Path) -> None:
    """Drives a pin with the inverted level of the light's pin."""
    text = '/ { inverter0: inverter { compatible = "test,inverter"; in-gpios = <&gpioa 5 0>;'
    board = tmp_path / "own.dts"
    board.write_text(
        f'/dts-v1/;\n/include/ "nucleo-f411re.dts"\n{text} out-gpios = <&gpiob 1 0>; }}; }};\n'
    )

    @package.device(
        "test,inverter", ranges=0, pins={"in-gpios": "the input", "out-gpios": "the output"}
    )
    class Inverter(Device):
        def reset(self) -> None:
            self.seen: list[tuple[int, str, bool]] = []
            self.drive("out", not self.level("in"))

        def pin_changed(self, pin: str, level: bool) -> None:
            self.seen.append((self.now_ps, pin, level))
            assert self.level("in") == level
            self.drive("out", not level)
            assert self.level("out") != level
            if len(self.seen) == 3:
                self.drive("aux", True)

    try:
        machine = package.Board(board).load(blinky("nucleo-f411re"))
        steps = [ExpectPin("gpiob.1", "high", 0), ExpectPin("gpiob.1", "falling", 9 * MS)]
        steps += [ExpectPin("gpioa.5", "high", 0), ExpectPin("gpiob.1", "rising", 9 * MS)]
        waves = tmp_path / "w.vcd"
        done = machine.run("20ms", script=steps, vcd=waves, vcd_signals=["inverter0.*"])
        # the device's own mistake ends the run, with what it has
        assert done.outcome == "fault"
        assert "Inverter has no pin 'aux'; it has in, out" in str(done.message)
        seen = machine.device("inverter0").seen  # type: ignore[attr-defined]
        assert [(pin, level) for _, pin, level in seen] == [
            ("in", True),
            ("in", False),
            ("in", True),
        ]
        assert {" in $end", " out $end"} <= {
            line[line.rindex(" ", 0, -5) :]
            for line in waves.read_text().splitlines()
            if "$var" in line
        }
    finally:
        registry.forget(__file__)
    for pins, message in (({"in": "x"}, "end with -gpios"), ({"-gpios": "x"}, "must end")):
        with pytest.raises(UsageError, match=message):
            package.device("test,inverter", pins=pins)(Inverter)
    with pytest.raises(UsageError, match="a chip can't have pins of ports"):

        @package.device("test,chip", pins={"in-gpios": "x"})
        class Chip(SpiChip):
            pass
