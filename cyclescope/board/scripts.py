"""Scripts for serial lines and pins, in simulated time: steps that send, press and expect.

A script is a text of lines, or a sequence of steps made in Python:

expect "> " within 100ms
send "led on\\n"
wait 10ms
at 1s send "status\\n" pausing 2ms
press B1 for 50ms
expect led LD2 on within 10ms
pin gpioa.8 high
expect pin gpiob.6 falling
end
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cyclescope.board.wiring.pins import Pins
from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.units import MAX_PS, format_ps, parse_time_ps

# A step in the engine's form: place, kind, characters, number.
Item = tuple[str, str, bytes, int | None]

_MOST_SCRIPT_BYTES = 16 << 20
# The types of steps.
_MOST_PAUSES = 10_000
_MOST_STEPS = 200_000
_TOKEN = re.compile(r'\s*(?:(#.*)|("(?:[^"\\]|\\.)*")|([^\s"#]+))')
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "e": "\x1b", "0": "\0", "\\": "\\", '"': '"'}
_HOW = (
    'expected expect "TEXT" [within TIME], send "TEXT" [pausing TIME], wait TIME, '
    "at TIME [send ...], press KEY [for TIME], release KEY, pin PORT.NUMBER low|high|release, "
    "expect pin PORT.NUMBER low|high|rising|falling [within TIME], "
    "expect led NAME on|off [within TIME] or end [STATUS]"
)
_LEVELS = ("low", "high")
_CHANGES = {"rising": "rise", "falling": "fall"}


@dataclass(frozen=True)
class Expect:
    """Wait until the board has sent a text, after the last expected one.

    It fails after `within_ps` picoseconds (None: at the end of the run).
    """

    text: str | bytes
    within_ps: int | None = None


@dataclass(frozen=True)
class Send:
    """Send characters at the line's rate, and wait until the last has arrived."""

    text: str | bytes


@dataclass(frozen=True)
class Wait:
    """Wait for `time_ps` picoseconds."""

    time_ps: int


@dataclass(frozen=True)
class At:
    """Wait until `time_ps` picoseconds after the board's reset; fails if that time has passed."""

    time_ps: int


@dataclass(frozen=True)
class Press:
    """Press a button of the board, by its label.

    It is held for `for_ps` picoseconds, which the script waits; None: until a `Release`.
    """

    key: str
    for_ps: int | None = None


@dataclass(frozen=True)
class Release:
    """Let go of a button."""

    key: str


@dataclass(frozen=True)
class DrivePin:
    """Drive a pin from outside ("gpioc.13") low or high, or let go of it: "release"."""

    pin: str
    level: Literal["low", "high", "release"]


@dataclass(frozen=True)
class ExpectPin:
    """Wait until a pin is "low" or "high", or until it has gone there from the other: "rising".

    It fails after `within_ps` picoseconds (None: at the end of the run).
    """

    pin: str
    what: Literal["low", "high", "rising", "falling"]
    within_ps: int | None = None


@dataclass(frozen=True)
class ExpectLed:
    """Wait until an LED of the board, by its label, is on or off; like `ExpectPin`."""

    led: str
    is_on: bool = True
    within_ps: int | None = None


@dataclass(frozen=True)
class End:
    """End the run with an exit status."""

    status: int = 0


PinStep = Press | Release | DrivePin | ExpectPin | ExpectLed
Step = Expect | Send | Wait | At | End | PinStep


@dataclass(frozen=True)
class Script:
    """Steps, each with its place for messages."""

    steps: tuple[tuple[str, Step], ...]

    @staticmethod
    def of(script: Script | Iterable[Step]) -> Script:
        """A script of steps, with their numbers as places."""
        if isinstance(script, Script):
            return script
        return Script(tuple((f"step {number}", step) for number, step in enumerate(script, 1)))

    def items(self, pins: Pins | None = None) -> list[Item]:
        """The steps in the engine's form, for a board with these pins (default: no pins).

        Raises `UsageError` for an invalid step, and for pins, LEDs and buttons that the board
        lacks.
        """
        pins = pins or Pins()
        return [(place, *item) for place, step in self.steps for item in _items(place, step, pins)]

    @property
    def needs_line(self) -> bool:
        """Whether the script is for a serial line: false if all its steps are for pins."""
        steps = [step for _, step in self.steps]
        has_to_do_with_pins = any(isinstance(step, PinStep) for step in steps)
        return not has_to_do_with_pins or any(isinstance(step, Expect | Send) for step in steps)


def read_script(path: str | os.PathLike[str]) -> Script:
    """The script in a file. Raises `UsageError` with the faulty line, `OSError`."""
    data = inputs.read(Path(path), _MOST_SCRIPT_BYTES)
    return parse_script(data.decode("utf-8", "surrogateescape"), inputs.printable(path))


def parse_script(text: str, name: str = "script") -> Script:
    """The script in a text; `name` is for messages. Raises `UsageError`."""
    steps = tuple(itertools.islice(_steps(text, name), _MOST_STEPS + 1))
    if len(steps) > _MOST_STEPS:
        raise UsageError(f"{steps[-1][0]}: a script has at most {_MOST_STEPS:,} steps")
    return Script(steps)


def format_script(steps: Iterable[Step]) -> str:
    """Steps as the text of a script."""
    return "".join(f"{_line(step)}\n" for step in steps)


def _line(step: Step) -> str:
    match step:
        case Expect(text, within_ps):
            limit = "" if within_ps is None else f" within {within_ps}ps"
            return f"expect {_quoted(text)}{limit}"
        case Send(text):
            return f"send {_quoted(text)}"
        case Wait(time_ps):
            return f"wait {time_ps}ps"
        case At(time_ps):
            return f"at {time_ps}ps"
        case End(status):
            return f"end {status}"
        case _:
            return _pin_line(step)


def _pin_line(step: PinStep) -> str:
    match step:
        case Press(key, for_ps):
            return f"press {_quoted(key)}" + ("" if for_ps is None else f" for {for_ps}ps")
        case Release(key):
            return f"release {_quoted(key)}"
        case DrivePin(pin, level):
            return f"pin {pin} {level}"
        case ExpectPin(pin, what, within_ps):
            limit = "" if within_ps is None else f" within {within_ps}ps"
            return f"expect pin {pin} {what}{limit}"
        case ExpectLed(led, is_on, within_ps):
            limit = "" if within_ps is None else f" within {within_ps}ps"
            return f"expect led {_quoted(led)} {'on' if is_on else 'off'}{limit}"


def _quoted(text: str | bytes) -> str:
    names = {ord(character): f"\\{name}" for name, character in _ESCAPED.items()}
    shown = (
        names.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}")
        for byte in _bytes(text)
    )
    return '"' + "".join(shown) + '"'


def _steps(text: str, name: str) -> Iterator[tuple[str, Step]]:
    for number, line in enumerate(text.split("\n"), 1):
        place = f"{name}:{number}"
        words = _words(line, place)
        if words[:1] == ["at"] and len(words) > 2:
            yield place, At(_time_ps(words[1], place))
            words = words[2:]
        match words:
            case []:
                pass
            case ["send", text, "pausing", time]:
                pause = Wait(_time_ps(time, place))
                characters = _text(text, place)
                if len(characters) > _MOST_PAUSES:
                    most = f"at most {_MOST_PAUSES:,} one by one"
                    raise UsageError(f"{place}: {len(characters):,} characters: {most}")
                for character in characters:
                    yield from ((place, Send(bytes([character]))), (place, pause))
            case _:
                yield place, _step(words, place)


def _words(line: str, place: str) -> list[str]:
    """The words of a line; a text keeps its quotes. Comments are left out."""
    words: list[str] = []
    at, end = 0, len(line.rstrip())
    while at < end:
        match = _TOKEN.match(line, at)
        if match is None:
            raise UsageError(f"{place}: a text has no closing quote")
        at = match.end()
        if match[2] or match[3]:
            words.append(match[2] or match[3])
    return words


def _step(words: list[str], place: str) -> Step:
    step = _pin_step(words, place)
    if step is not None:
        return step
    match words:
        case ["expect", text]:
            return Expect(_text(text, place))
        case ["expect", text, "within", time]:
            return Expect(_text(text, place), _time_ps(time, place))
        case ["send", text]:
            return Send(_text(text, place))
        case ["wait", time]:
            return Wait(_time_ps(time, place))
        case ["at", time]:
            return At(_time_ps(time, place))
        case ["end"]:
            return End()
        case ["end", status] if status.isdecimal() and status.isascii() and len(status) <= 3:
            if int(status) <= 255:
                return End(int(status))
    raise UsageError(f"{place}: {inputs.printable(' '.join(words))}: {_HOW}")


def _pin_step(words: list[str], place: str) -> PinStep | None:
    match words:
        case ["press", key]:
            return Press(_name(key, place))
        case ["press", key, "for", time]:
            return Press(_name(key, place), _time_ps(time, place))
        case ["release", key]:
            return Release(_name(key, place))
        case ["pin", pin, ("low" | "high" | "release") as level]:
            return DrivePin(_name(pin, place), level)
        case ["expect", "pin", pin, ("low" | "high" | "rising" | "falling") as what, *rest]:
            if len(rest) in (0, 2) and rest[:1] in ([], ["within"]):
                return ExpectPin(_name(pin, place), what, _within_ps(rest, place))
        case ["expect", "led", led, ("on" | "off") as state, *rest]:
            if len(rest) in (0, 2) and rest[:1] in ([], ["within"]):
                return ExpectLed(_name(led, place), state == "on", _within_ps(rest, place))
    return None


def _within_ps(rest: list[str], place: str) -> int | None:
    return _time_ps(rest[1], place) if rest else None


def _name(word: str, place: str) -> str:
    """A name, with or without quotes."""
    return _text(word, place).decode("utf-8", "replace") if word.startswith('"') else word


def _text(word: str, place: str) -> bytes:
    if not word.startswith('"'):
        raise UsageError(f'{place}: {inputs.printable(word)}: expected a quoted text such as "> "')
    out, at = bytearray(), 0
    body = word[1:-1]
    for match in _ESCAPE.finditer(body):
        escape = match[1]
        if len(escape) == 1 and escape not in _ESCAPED:
            known = r"expected \n \r \t \e \0 \\ \" or \x1b"
            raise UsageError(f"{place}: unknown escape {inputs.printable(match[0])}: {known}")
        byte = bytes([int(escape[1:], 16)]) if len(escape) > 1 else _ESCAPED[escape].encode()
        out += _encoded(body[at : match.start()]) + byte
        at = match.end()
    return bytes(out + _encoded(body[at:]))


def _time_ps(word: str, place: str) -> int:
    try:
        return parse_time_ps(word)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


_Work = tuple[str, bytes, int | None]


def _items(place: str, step: Step, pins: Pins) -> list[_Work]:
    """The engine's items for a step."""
    match step:
        case Press(key, for_ps):
            name = pins.key(key, place)
            press = _pin_item("key", name, "press")
            if for_ps is None:
                return [press]
            held = ("wait", b"", _ps(place, for_ps))
            return [press, held, _pin_item("key", name, "release")]
        case Release(key):
            return [_pin_item("key", pins.key(key, place), "release")]
        case DrivePin(pin, level) if level in (*_LEVELS, "release"):
            return [_pin_item("pin", pins.pin(pin, place), level)]
        case ExpectPin(pin, what, within_ps) if what in (*_LEVELS, *_CHANGES):
            within_ps = None if within_ps is None else _ps(place, within_ps)
            change = _CHANGES.get(what, what)
            return [_pin_item("expect pin", pins.pin(pin, place), change, within_ps)]
        case ExpectLed(led, is_on, within_ps):
            within_ps = None if within_ps is None else _ps(place, within_ps)
            state = "on" if is_on else "off"
            return [_pin_item("expect led", pins.led(led, place), state, within_ps)]
    return [_item(place, step)]


def _pin_item(what: str, name: str, how: str, number: int | None = None) -> _Work:
    return what, _encoded(f"{name} {how}"), number


def _item(place: str, step: Step) -> _Work:
    match step:
        case Expect(text, within_ps):
            if not text:
                raise UsageError(f"{place}: expect: the text is empty")
            return "expect", _bytes(text), None if within_ps is None else _ps(place, within_ps)
        case Send(text):
            return "send", _bytes(text), None
        case Wait(time_ps):
            return "wait", b"", _ps(place, time_ps)
        case At(time_ps):
            return "at", b"", _ps(place, time_ps)
        case End(status) if isinstance(status, int) and 0 <= status <= 255:
            return "end", b"", status
    raise UsageError(f"{place}: {step!r} is not a step of a script")


def _bytes(text: str | bytes) -> bytes:
    return _encoded(text) if isinstance(text, str) else bytes(text)


def _ps(place: str, time_ps: int) -> int:
    if not isinstance(time_ps, int) or not 0 <= time_ps <= MAX_PS:
        raise UsageError(f"{place}: a time is 0 to {format_ps(MAX_PS)}, in picoseconds")
    return time_ps
