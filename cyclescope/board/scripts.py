"""Sessions at a serial line, in simulated time: what is sent when, and what is to come by when.

A script is a text of lines, or a sequence of steps made in Python:

expect "> " within 100ms
send "led on\\n"
wait 10ms
at 1s send "status\\n" pausing 2ms
end
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cyclescope.errors import UsageError
from cyclescope.host import inputs
from cyclescope.units import MAX_PS, format_ps, parse_time_ps

# What the engine takes: place, what, characters, number.
Item = tuple[str, str, bytes, int | None]

_MOST_SCRIPT_BYTES = 16 << 20
# Each is a step.
_MOST_PAUSES = 10_000
_MOST_STEPS = 200_000
_TOKEN = re.compile(r'\s*(?:(#.*)|("(?:[^"\\]|\\.)*")|([^\s"#]+))')
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "e": "\x1b", "0": "\0", "\\": "\\", '"': '"'}
_HOW = (
    'expected expect "TEXT" [within TIME], send "TEXT" [pausing TIME], wait TIME, '
    "at TIME [send ...] or end [STATUS]"
)


@dataclass(frozen=True)
class Expect:
    """Wait until the board has sent a text behind the last one that was expected.

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
    """Let so many picoseconds pass."""

    time_ps: int


@dataclass(frozen=True)
class At:
    """Wait until so many picoseconds after the board's reset; it fails if that has passed."""

    time_ps: int


@dataclass(frozen=True)
class End:
    """End the run with an exit status."""

    status: int = 0


Step = Expect | Send | Wait | At | End


@dataclass(frozen=True)
class Script:
    """Steps, each with the place that messages name."""

    steps: tuple[tuple[str, Step], ...]

    @staticmethod
    def of(script: Script | Iterable[Step]) -> Script:
        """A script of steps, whose places are their numbers."""
        if isinstance(script, Script):
            return script
        return Script(tuple((f"step {number}", step) for number, step in enumerate(script, 1)))

    def items(self) -> list[Item]:
        """The steps as the engine takes them. Raises `UsageError` for one that is none."""
        return [(place, *_item(place, step)) for place, step in self.steps]


def read_script(path: str | os.PathLike[str]) -> Script:
    """The script in a file. Raises `UsageError` with the line at fault, `OSError`."""
    data = inputs.read(Path(path), _MOST_SCRIPT_BYTES)
    return parse_script(data.decode("utf-8", "surrogateescape"), inputs.printable(path))


def parse_script(text: str, name: str = "script") -> Script:
    """The script that a text has, whose name is for messages. Raises `UsageError`."""
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
    """Words as they stand; a text with its quotes. Comments are left out."""
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


def _text(word: str, place: str) -> bytes:
    if not word.startswith('"'):
        raise UsageError(f'{place}: {inputs.printable(word)}: a text stands in quotes, as in "> "')
    out, at = bytearray(), 0
    body = word[1:-1]
    for match in _ESCAPE.finditer(body):
        escape = match[1]
        if len(escape) == 1 and escape not in _ESCAPED:
            told = r"there are \n \r \t \e \0 \\ \" and \x1b"
            raise UsageError(f"{place}: no escape {inputs.printable(match[0])}: {told}")
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


def _item(place: str, step: Step) -> tuple[str, bytes, int | None]:
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
    raise UsageError(f"{place}: {step!r} is no step of a script")


def _bytes(text: str | bytes) -> bytes:
    return _encoded(text) if isinstance(text, str) else bytes(text)


def _ps(place: str, time_ps: int) -> int:
    if not isinstance(time_ps, int) or not 0 <= time_ps <= MAX_PS:
        raise UsageError(f"{place}: a time is 0 to {format_ps(MAX_PS)}, in picoseconds")
    return time_ps
