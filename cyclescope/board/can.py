"""CAN nodes that are not driven by firmware: they acknowledge frames, and follow a script.

A script is a text of lines; times are simulated. Frames are in the notation of can-utils, and a
line of `candump -L` is a line of a script, too:

bitrate 500000
expect 123#0102 within 20ms
321#DEADBEEF
(0.250000) can0 12345678#
wait 5ms
expect 124 within 1s
end
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cyclescope._engine import Machine
from cyclescope.board.scripts import At, End, Wait
from cyclescope.errors import EngineError, UsageError
from cyclescope.host import inputs
from cyclescope.units import MAX_PS, parse_time_ps

_MOST_SCRIPT_BYTES = 16 << 20
_MOST_STEPS = 200_000
_FRAME = re.compile(r"([0-9A-Fa-f]{3}|[0-9A-Fa-f]{8})(#.*)?")
_DATA = re.compile(r"#((?:[0-9A-Fa-f]{2}\.?){0,8})(?:_([9A-Fa-f]))?")
_REMOTE = re.compile(r"#[Rr]([0-8])?")
_STAMP = re.compile(r"\((\d{1,10})\.(\d{6})\)")
_HOW = (
    "expected FRAME, expect FRAME [within TIME], wait TIME, at TIME [FRAME or end [STATUS]], "
    "end [STATUS], bitrate RATE, or a line of candump -L; a frame is as in 123#DEADBEEF"
)
_RATES = range(10_000, 1_000_001)


@dataclass(frozen=True)
class Frame:
    """A frame: an identifier of 11 or 29 bits, and data, or the data length of a remote frame."""

    identifier: int
    data: bytes = b""
    extended: bool = False
    remote: bool = False
    length: int | None = None

    def item(self) -> tuple[int, bool, bool, int, bytes]:
        """The frame in the engine's form. Raises `UsageError` for an invalid frame."""
        length = len(self.data) if self.length is None else self.length
        bits = 29 if self.extended else 11
        if not 0 <= self.identifier < 1 << bits or not 0 <= length <= 15 or len(self.data) > 8:
            raise UsageError(f"{self!r}: expected an identifier of {bits} bits and up to 8 bytes")
        return self.identifier, self.extended, self.remote, length, self.data


@dataclass(frozen=True)
class SendFrame:
    """Send a frame, and wait until it has been acknowledged."""

    frame: Frame


@dataclass(frozen=True)
class ExpectFrame:
    """Wait until another node has sent a frame; with `any_data` only the identifier is compared.

    It fails after `within_ps` picoseconds (None: at the end of the run).
    """

    frame: Frame
    within_ps: int | None = None
    any_data: bool = False


Step = SendFrame | ExpectFrame | Wait | At | End
Item = tuple[str, str, tuple[int, bool, bool, int, bytes] | None, bool, int | None]


@dataclass(frozen=True)
class CanNode:
    """A node beside the board's controllers on a CAN bus.

    `steps` is a script, from lines (`read_can_script`) or made in Python; without steps the node
    only acknowledges, and with None it only listens. With `log` each frame on the bus is a line of
    `candump -L` in the result's `streams`. Without `bits_per_second` the node takes the rate of the
    first controller that joins the bus.
    """

    steps: Iterable[Step] | None = ()
    log: bool = False
    bits_per_second: int | None = None
    places: tuple[str, ...] = field(default=(), repr=False)

    def items(self) -> list[Item] | None:
        """The steps in the engine's form. Raises `UsageError` for an invalid step."""
        if self.steps is None:
            return None
        places = iter(self.places)
        return [
            (place, *_item(place, step))
            for number, step in enumerate(self.steps, 1)
            for place in (next(places, f"step {number}"),)
        ]


def read_can_script(path: str | os.PathLike[str], log: bool = False) -> CanNode:
    """The node that a file describes. Raises `UsageError` with the faulty line, `OSError`."""
    data = inputs.read(Path(path), _MOST_SCRIPT_BYTES)
    return parse_can_script(data.decode("utf-8", "surrogateescape"), inputs.printable(path), log)


def parse_can_script(text: str, name: str = "script", log: bool = False) -> CanNode:
    """The node that a text describes; `name` is for messages. Raises `UsageError`."""
    steps: list[tuple[str, Step]] = []
    rate = None
    for number, line in enumerate(text.split("\n"), 1):
        place = f"{name}:{number}"
        # within a frame, # does not start a comment
        words = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].split()
        if words[:1] == ["bitrate"] and len(words) == 2:
            rate = parse_rate(words[1], place)
        elif words:
            steps.extend((place, step) for step in _steps(words, place))
        if len(steps) > _MOST_STEPS:
            raise UsageError(f"{place}: a script has at most {_MOST_STEPS:,} steps")
    places = tuple(place for place, _ in steps)
    return CanNode([step for _, step in steps], log, rate, places)


def attach(machine: Machine, nodes: Mapping[str, CanNode]) -> None:
    """Put nodes on buses, by the label of a controller or the bus. Raises `UsageError`."""
    if not nodes:
        return
    buses = dict(machine.can_controllers())
    taken: dict[str, str] = {}
    for label, node in nodes.items():
        bus = bus_of(label, buses)
        if bus in taken:
            raise UsageError(f"{label} and {taken[bus]} are on the same CAN bus: give one node")
        taken[bus] = label
        try:
            machine.attach_can(label, node.items(), node.log, node.bits_per_second)
        except EngineError as error:
            raise UsageError(f"{label}: {error}") from None


def bus_of(label: str, buses: Mapping[str, str]) -> str:
    """The bus that a label means. Raises `UsageError`."""
    if label in buses.values():
        return label
    if label not in buses:
        there = f"the board's are {', '.join(buses)}" if buses else "the board has none"
        raise UsageError(f"no CAN controller {label!r}: {there}")
    return buses[label]


def parse_frame(word: str, place: str = "frame") -> tuple[Frame, bool]:
    """A frame in the notation of can-utils, and whether it is an identifier alone.

    Raises `UsageError`.
    """
    match = _FRAME.fullmatch(word)
    if match is None:
        raise UsageError(f"{place}: {inputs.printable(word)}: a frame is as in 123#DEADBEEF")
    extended, body = len(match[1]) == 8, match[2]
    identifier = int(match[1], 16)
    if identifier >= 1 << (29 if extended else 11):
        bits = "29 bits, 1FFFFFFF at most" if extended else "11 bits, 7FF at most"
        raise UsageError(f"{place}: {match[1]}: an identifier of {len(match[1])} digits has {bits}")
    if body is None:
        return Frame(identifier, extended=extended), True
    if remote := _REMOTE.fullmatch(body):
        length = int(remote[1] or 0)
        return Frame(identifier, extended=extended, remote=True, length=length), False
    data = _DATA.fullmatch(body)
    if data is None:
        what = "CAN FD is not modelled" if body.startswith("##") else "up to 8 bytes follow #"
        raise UsageError(f"{place}: {inputs.printable(word)}: {what}")
    values = bytes.fromhex(data[1].replace(".", ""))
    long = int(data[2], 16) if data[2] and len(values) == 8 else None
    return Frame(identifier, values, extended, length=long), False


def parse_rate(word: str, place: str) -> int:
    """A bit rate. Raises `UsageError`."""
    if word.isascii() and word.isdecimal() and len(word) <= 7 and int(word) in _RATES:
        return int(word)
    allowed = f"expected a bit rate of {_RATES.start} to {_RATES.stop - 1} bit/s"
    raise UsageError(f"{place}: {inputs.printable(word)}: {allowed}")


def _steps(words: list[str], place: str) -> Iterator[Step]:
    if stamp := _STAMP.fullmatch(words[0]):
        # after a frame, candump adds its direction: R or T
        if len(words) not in (3, 4):
            raise UsageError(f"{place}: {inputs.printable(' '.join(words))}: {_HOW}")
        yield At((int(stamp[1]) * 10**6 + int(stamp[2])) * 10**6)
        words = words[2:3]
    elif words[0] == "at" and len(words) > 1:
        yield At(_time_ps(words[1], place))
        words = words[2:]
    if words:
        yield _step(words, place)


def _step(words: list[str], place: str) -> Step:
    match words:
        case ["expect", word]:
            return _expect(word, None, place)
        case ["expect", word, "within", time]:
            return _expect(word, _time_ps(time, place), place)
        case ["wait", time]:
            return Wait(_time_ps(time, place))
        case ["end"]:
            return End()
        case ["end", status] if status.isdecimal() and status.isascii() and len(status) <= 3:
            return End(int(status))
        case ["send", word] | [word]:
            frame, is_alone = parse_frame(word, place)
            if is_alone:
                raise UsageError(f"{place}: {word}: a frame without data is {word}#")
            return SendFrame(frame)
    raise UsageError(f"{place}: {inputs.printable(' '.join(words))}: {_HOW}")


def _expect(word: str, within_ps: int | None, place: str) -> ExpectFrame:
    frame, is_alone = parse_frame(word, place)
    return ExpectFrame(frame, within_ps, is_alone)


def _time_ps(word: str, place: str) -> int:
    try:
        return parse_time_ps(word)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _item(
    place: str, step: Step
) -> tuple[str, tuple[int, bool, bool, int, bytes] | None, bool, int | None]:
    match step:
        case ExpectFrame(frame, within_ps, any_data):
            within = None if within_ps is None else _ps(place, within_ps)
            return "expect", frame.item(), any_data, within
        case SendFrame(frame):
            return "send", frame.item(), False, None
        case Wait(time_ps):
            return "wait", None, False, _ps(place, time_ps)
        case At(time_ps):
            return "at", None, False, _ps(place, time_ps)
        case End(status) if isinstance(status, int) and 0 <= status <= 255:
            return "end", None, False, status
    raise UsageError(f"{place}: {step!r} is not a step of a CAN script")


def _ps(place: str, time_ps: int) -> int:
    if not isinstance(time_ps, int) or not 0 <= time_ps <= MAX_PS:
        raise UsageError(f"{place}: a time is 0 to {MAX_PS} ps")
    return time_ps
