"""The other ends of a board's serial lines: files, scripts and interactive terminals.

Files and scripts are simulated with the board. With a terminal, the board runs in steps: typed
input arrives between two steps, and simulated time does not run ahead of the host's time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cyclescope._engine import Gdb, Machine, Stop
from cyclescope.board.wiring.pins import Pins
from cyclescope.errors import UsageError

if TYPE_CHECKING:
    from cyclescope.board.scripts import Script, Step

    Scripts = Script | Iterable[Step] | Mapping[str | None, Script | Iterable[Step]]

# Simulated time between two polls of the typed input.
STEP_PS = 4 * 10**9
# Once the terminals are closed, a run without a limit of its own continues for this time.
LAST_PS = 10 * 10**12
# A board that lags real time by more than this does not catch up.
_MOST_LAG_NS = 100 * 10**6
_NAP_S = 0.005
# The most characters that wait for a line; further input waits on the host.
_MOST_UNTYPED = 1 << 12

Typed = bytes | Mapping[str | None, bytes]
_Characters = list[tuple[str, bytes]]
ConsoleBytes = Callable[[bytes], None]
StreamBytes = Callable[[str, bytes], None]


class Terminal(Protocol):
    """An interactive terminal; `cyclescope.host.consoles` has the implementations."""

    is_over: bool
    wants_end: bool
    takes_output: bool

    def read(self) -> bytes:
        """The input since the last call; does not wait."""

    def write(self, data: bytes) -> None:
        """Write output of the board."""

    def flush(self) -> bool:
        """False while a reader has not read all output."""


class Session:
    """Typed input with its times, as scripts that reproduce the run to the cycle."""

    def __init__(self) -> None:
        self._chunks: dict[str, list[tuple[int, bytes]]] = {}

    def add(self, port: str, now_ps: int, data: bytes, is_line_free: bool) -> None:
        """Record input for a port; `is_line_free` if all earlier input was transferred."""
        chunks = self._chunks.setdefault(port, [])
        if is_line_free or not chunks:
            chunks.append((now_ps, data))
        else:
            # it follows the earlier input directly, whenever it was typed
            chunks[-1] = (chunks[-1][0], chunks[-1][1] + data)

    def steps(self, port: str) -> list[Step]:
        """The recorded input of a port."""
        from cyclescope.board.scripts import At, Send  # few runs have a session

        steps: list[Step] = []
        for at_ps, data in self._chunks.get(port, []):
            steps += [At(at_ps), Send(data)]
        return steps


def _whole(
    scripts: Mapping[str | None, Script | Iterable[Step]],
) -> Mapping[str | None, Script]:
    if not scripts:
        return {}
    from cyclescope.board.scripts import Script  # most runs have none

    return {label: Script.of(steps) for label, steps in scripts.items()}


@dataclass(frozen=True)
class Lines:
    """The inputs of serial lines, by the label of the port; None is the console's.

    Without `pace`, simulated time also runs as fast as possible with a terminal at a line.
    """

    typed: Mapping[str | None, bytes] = field(default_factory=dict)
    scripts: Mapping[str | None, Script] = field(default_factory=dict)
    terminals: Mapping[str | None, Terminal] = field(default_factory=dict)
    pace: bool = True
    session: Session = field(default_factory=Session)

    @staticmethod
    def of(
        typed: Typed | None,
        script: Scripts | None,
        terminals: Mapping[str | None, Terminal] | None,
        pace: bool,
        session: Session | None,
    ) -> Lines:
        """The lines from the arguments of `Board.run`."""
        texts: dict[str | None, bytes] = {}
        if isinstance(typed, Mapping):
            texts = dict(typed)
        elif typed is not None:
            texts = {None: typed}
        scripts: Mapping[str | None, Script | Iterable[Step]] = {}
        if isinstance(script, Mapping):
            scripts = script
        elif script is not None:
            scripts = {None: script}
        return Lines(
            texts,
            _whole(scripts),
            dict(terminals or {}),
            pace,
            session or Session(),
        )

    def attach(self, machine: Machine) -> Attached:
        """Connect the inputs. Raises `UsageError` for an unknown line, or two inputs for one."""
        ports, console = machine.serial_ports()
        taken: set[str] = set()

        def port(label: str | None) -> str:
            name = port_of(label, ports, console)
            if name in taken:
                raise UsageError(f"{name}: two inputs for one serial line")
            taken.add(name)
            return name

        for label, text in self.typed.items():
            machine.attach(port(label), text)
        for label, script in self.scripts.items():
            at = port(label) if script.needs_line or label is not None else None
            machine.attach(at, script=script.items(Pins.of(machine)))
        terminals = {port(label): terminal for label, terminal in self.terminals.items()}
        for name in terminals:
            machine.attach(name)
        return Attached(machine, terminals, console, self.pace, self.session)


def port_of(label: str | None, ports: list[str], console: str | None) -> str:
    """The serial port of a label; None is the console's. Raises `UsageError`."""
    there = f"the board's serial ports are {', '.join(ports)}" if ports else "the board has none"
    if label is not None and label not in ports:
        raise UsageError(f"no serial port {label!r}: {there}")
    if label is None and console is None:
        say = "; say which, as in LABEL=..." if ports else ""
        raise UsageError(f"the board does not say which serial port is its console: {there}{say}")
    return label if label is not None else str(console)


class Attached:
    """A machine with inputs at its lines, before its run."""

    def __init__(
        self,
        machine: Machine,
        terminals: Mapping[str, Terminal],
        console: str | None,
        pace: bool,
        session: Session,
    ) -> None:
        self._machine = machine
        self._terminals = dict(terminals)
        self._console = console
        self._pace = pace
        self._session = session

    def run(
        self,
        limit_ps: int | None,
        console: ConsoleBytes,
        stream: StreamBytes,
        stop: Stop,
        note: Callable[[str], None] | None,
        gdb: Gdb | None = None,
        anew: Callable[[], None] | None = None,
    ) -> dict[str, Any]:
        """Run from reset to the end, like `Machine.run`."""
        machine = self._machine
        if self._terminals:
            console, stream = self._beside(console), self._beside_named(stream)
        if gdb is not None:
            typist = self._typist(stop) if self._terminals else None
            held = machine.hold(gdb, limit_ps, console, stream, stop, note, anew, typist)
            if held is not None:
                return self._finish(held, stop)
        if not self._terminals:
            return machine.run(limit_ps, console, stream, stop, note)
        return self._finish(self._run_typed(limit_ps, console, stream, stop, note), stop)

    def _run_typed(
        self,
        limit_ps: int | None,
        console: ConsoleBytes,
        stream: StreamBytes,
        stop: Stop,
        note: Callable[[str], None] | None,
    ) -> dict[str, Any]:
        """Run in steps, with typed input between them."""
        machine = self._machine
        pacer = _Pacer(machine.now()) if self._pace else None
        while True:
            now_ps = machine.now()
            if limit_ps is not None and now_ps >= limit_ps:
                return machine.run(limit_ps, console, stream, stop, note)
            for port, data in self._typed(now_ps, machine.untyped, stop):
                machine.type_on(port, data)
            if self._is_over():
                limit_ps = now_ps + LAST_PS if limit_ps is None else limit_ps
                return machine.run(limit_ps, console, stream, stop, note)
            until_ps = now_ps + STEP_PS if limit_ps is None else min(now_ps + STEP_PS, limit_ps)
            ended = machine.run_until(until_ps, console, stream, stop, note)
            if ended is not None:
                return ended
            self._wait_for_readers(stop)
            if pacer is not None:
                pacer.wait(machine.now(), stop)

    def _typed(
        self, now_ps: int, untyped_at: Callable[[str], int], stop: Stop
    ) -> Iterator[tuple[str, bytes]]:
        """The typed input by the labels of ports; `untyped` counts a port's waiting characters."""
        for port, terminal in self._terminals.items():
            untyped = untyped_at(port)
            if untyped < _MOST_UNTYPED and (data := terminal.read()):
                self._session.add(port, now_ps, data, is_line_free=untyped == 0)
                yield port, data
            if terminal.wants_end:
                stop.request()

    def _is_over(self) -> bool:
        return all(terminal.is_over for terminal in self._terminals.values())

    def _typist(self, stop: Stop) -> Callable[[int, list[tuple[str, int]]], _Characters | None]:
        """Gives a debugger\'s run the typed input, and paces the run to the host\'s time."""
        pacer = _Pacer(self._machine.now()) if self._pace else None

        def typed(now_ps: int, untyped: list[tuple[str, int]]) -> _Characters | None:
            self._wait_for_readers(stop)
            if pacer is not None:
                pacer.wait(now_ps, stop)
            if self._is_over():
                return None
            return list(self._typed(now_ps, dict(untyped).__getitem__, stop))

        return typed

    def _beside(self, console: ConsoleBytes) -> ConsoleBytes:
        """The console's sink, followed by the terminal at its line."""
        terminal = self._terminals.get(self._console or "")
        if terminal is None or not terminal.takes_output:
            return console

        def write(chunk: bytes) -> None:
            console(chunk)
            terminal.write(chunk)

        return write

    def _beside_named(self, stream: StreamBytes) -> StreamBytes:
        def write(name: str, chunk: bytes) -> None:
            stream(name, chunk)
            if (terminal := self._terminals.get(name)) is not None:
                terminal.write(chunk)

        return write

    def _wait_for_readers(self, stop: Stop) -> None:
        """Wait until readers have received all output, before the board continues."""
        waiting = list(self._terminals.values())
        while waiting := [terminal for terminal in waiting if not terminal.flush()]:
            if stop.requested:
                return
            time.sleep(_NAP_S)

    def _finish(self, outcome: dict[str, Any], stop: Stop) -> dict[str, Any]:
        self._wait_for_readers(stop)
        return outcome


class _Pacer:
    """Paces simulated time to the host's time."""

    def __init__(self, now_ps: int) -> None:
        self._begun_ns = time.monotonic_ns() - now_ps // 1000

    def wait(self, now_ps: int, stop: Stop) -> None:
        """Wait until the host's time has reached the simulated time."""
        ahead_ns = self._begun_ns + now_ps // 1000 - time.monotonic_ns()
        if ahead_ns < -_MOST_LAG_NS:
            self._begun_ns -= ahead_ns
        elif ahead_ns > 0 and not stop.requested:
            time.sleep(ahead_ns / 10**9)
