"""A run that a Python program halts and continues: for tests and notebooks.

    debugger = cyclescope.Board("nucleo-f411re").load("app.elf").debug()
    debugger.run(until="main")
    core = debugger.core
    print(core.regs["pc"], debugger.mem.u32(0x2000_0000))

Halting costs no simulated time and changes nothing: the firmware takes as many cycles as in
`Board.run`. Reading memory, registers and states has no side effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from cyclescope._engine import Hold, Machine
from cyclescope.board.observing import triggers
from cyclescope.board.outcome.outcomes import run_result
from cyclescope.board.results import RunResult
from cyclescope.board.wiring.printed import Console, ConsoleSink, Streams
from cyclescope.errors import EngineError, UsageError
from cyclescope.similar_names import did_you_mean_or
from cyclescope.units import parse_time_ps

__all__ = ["Access", "Breakpoint", "Core", "Debugger", "Devices", "Halt", "Memory", "Registers"]

_LIMIT = "10s"
# longer than a user waits for a step
_MOST_PS = parse_time_ps("1000s")

State: TypeAlias = dict[str, Any] | list[Any] | int | bool | str | bytes | None
"""The state of a device: plain data, nested in dicts and lists."""


@dataclass(frozen=True)
class Halt:
    """Why a run halted, and where.

    `reason` is "break", "watch", "step", "condition" (those that became true are in `conditions`),
    "time" (the requested time was reached), "end" (the firmware ended, faulted, or reached the
    limit), "interrupted", or "begin" (the run was at its start already).
    """

    reason: str
    time_ps: int
    core: str
    pc: int
    function: str
    watched: int | None = None
    is_write: bool = False
    conditions: tuple[str, ...] = ()


# The run halts if the callback returns a true value.
Callback = Callable[["Halt"], object]


@dataclass(frozen=True)
class Access:
    """An access that was searched for: its time, the next instruction of `core`, and its initiator.

    `device` is the device that made the access, or None for the core: the instruction before `pc`.
    """

    time_ps: int
    core: str
    pc: int
    function: str
    instructions: int
    device: str | None


@dataclass
class Breakpoint:
    """A breakpoint: the run halts before the instruction at `addr`, on any core.

    With a `callback` the run halts only if that returns a true value; `hits` counts all hits.
    """

    addr: int
    callback: Callback | None = None
    hits: int = 0
    _remove: Callable[[Breakpoint], None] | None = field(default=None, init=False, repr=False)

    def remove(self) -> None:
        """Remove the breakpoint."""
        if self._remove is not None:
            self._remove(self)
            self._remove = None


class Registers(Mapping[str, int]):
    """A core's registers by their lower-case names; they can be set."""

    def __init__(self, hold: Hold, core: int) -> None:
        self._hold = hold
        self._core = core

    def _all(self) -> list[tuple[str, int, str, int]]:
        return self._hold.registers(self._core)

    def __getitem__(self, name: str) -> int:
        """A register's value; `KeyError` if there is no such register."""
        for known, _, _, value in self._all():
            if known == name:
                return value
        raise KeyError(name)

    def __setitem__(self, name: str, value: int) -> None:
        """Set a register; this takes no simulated time.

        Raises `KeyError` if there is no such register, `UsageError` if it can't be written.
        """
        for number, (known, bits, _, _) in enumerate(self._all()):
            if known == name:
                if not self._hold.set_register(self._core, number, value & (1 << bits) - 1):
                    raise UsageError(f"{name}: can't be written")
                return
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        """The registers' names, the general-purpose ones first."""
        return iter([name for name, *_ in self._all()])

    def __len__(self) -> int:
        """How many there are."""
        return len(self._all())


class Memory:
    """Memory as a core sees it: `mem[0x2000_0000]`, `mem[0x2000_0000:0x2000_0010]`, `mem.u32(a)`.

    Reading a device's register gives the value that the core would read now, without the side
    effects of a read. `load` reads with these side effects. Raises `EngineError` for an unmapped
    address, for a bus error, or if the board's state can't be restored after the read.
    """

    def __init__(self, hold: Hold, core: int) -> None:
        self._hold = hold
        self._core = core

    def __getitem__(self, at: int | slice) -> Any:
        """The byte at an address, or the bytes of a slice."""
        if isinstance(at, slice):
            return self.read(at.start, at.stop - at.start)
        return self.read(at, 1)[0]

    def __setitem__(self, at: int | slice, value: int | bytes) -> None:
        """Set a byte, or all bytes of a slice; this takes no simulated time."""
        if isinstance(at, slice):
            data = bytes(value)
            if len(data) != at.stop - at.start:
                raise UsageError(f"{len(data)} bytes for a slice of {at.stop - at.start}")
            self.write(at.start, data)
        else:
            self.write(at, bytes([value]))  # type: ignore[list-item]

    def read(self, addr: int, length: int) -> bytes:
        """Read `length` bytes."""
        data = self._hold.read(self._core, addr, length)
        if len(data) < length:
            raise EngineError(f"{addr + len(data):#010x}: the debugger can't read this address")
        return data

    def write(self, addr: int, data: bytes) -> None:
        """Write bytes, also to flash whose model allows it; this takes no simulated time."""
        if not self._hold.write(self._core, addr, data):
            raise EngineError(f"{addr:#010x}: the debugger can't write memory at this address")

    def u8(self, addr: int) -> int:
        """A byte."""
        return self.read(addr, 1)[0]

    def u16(self, addr: int) -> int:
        """A half-word, little-endian."""
        return int.from_bytes(self.read(addr, 2), "little")

    def u32(self, addr: int) -> int:
        """A word, little-endian."""
        return int.from_bytes(self.read(addr, 4), "little")

    def load(self, addr: int, length: int = 4) -> int:
        """Load 1, 2 or 4 bytes as the core does, with the side effects on a device."""
        return self._hold.force_read(self._core, addr, length)


class Devices(Mapping[str, State]):
    """States of devices, and of chips connected to them, by their labels: `devices["usart2"]`.

    A state has the model's variables under the model's own names, which may change between
    versions. A variant with fields is a dict with the variant's name as its key; a time is in
    picoseconds. The state is from the device's last activity: a value that depends on time alone,
    such as a counter, is calculated only when its register is read, for example with `mem.u32`.
    Reading a state changes nothing.
    """

    def __init__(self, hold: Hold) -> None:
        self._hold = hold

    def __getitem__(self, label: str) -> State:
        """The state of a device or a chip; `KeyError` if there is no such label."""
        state: State = self._hold.device_state(label)
        if state is None and label not in self._hold.devices():
            raise KeyError(label)
        return state

    def __iter__(self) -> Iterator[str]:
        """Labels of the devices, each followed by the labels of its chips."""
        return iter(self._hold.devices())

    def __len__(self) -> int:
        """How many there are."""
        return len(self._hold.devices())


class Core:
    """A core of a halted run: `name`, registers `regs`, and its view of memory `mem`."""

    def __init__(self, debugger: Debugger, index: int, name: str) -> None:
        self.name = name
        self.regs = Registers(debugger.hold, index)
        self.mem = Memory(debugger.hold, index)
        self._debugger = debugger
        self._index = index

    @property
    def pc(self) -> int:
        """The address of the next instruction."""
        return self._debugger.hold.position(self._index)[0]

    @property
    def instructions(self) -> int:
        """Number of instructions that the core has run."""
        return self._debugger.hold.position(self._index)[2]

    @property
    def time_ps(self) -> int:
        """The core's local time in picoseconds: cores may be a microsecond apart."""
        return self._debugger.hold.position(self._index)[3]

    @property
    def function(self) -> str:
        """The function at the PC, by its name in the ELF; empty if unknown."""
        return self._debugger.function_at(self.name, self.pc)

    def step(self, count: int = 1, into_handlers: bool = False) -> Halt:
        """Run `count` instructions of this core; the other cores run beside it.

        An interrupt that is taken first runs its handler to the end, which is not counted; with
        `into_handlers` the step stops in the handler. A breakpoint on the way halts the run.
        """
        halt = None
        for _ in range(count):
            halt = self._debugger._step(self._index, into_handlers)
            if halt.reason != "step":
                break
        if halt is None:
            raise UsageError(f"{count} steps: expected 1 or more")
        return halt

    def step_back(self, count: int = 1) -> Halt:
        """Go back by `count` instructions of this core: the board has its state of that time.

        Instructions of interrupt handlers are counted. Raises `EngineError` if the run can't go
        back.
        """
        halt = None
        for _ in range(count):
            halt = self._debugger._go_back(self._index)
            if halt.reason != "step":
                break
        if halt is None:
            raise UsageError(f"{count} steps: expected 1 or more")
        return halt


class Debugger:
    """A loaded board's run, halted at reset: `Board.debug` makes one.

    `cores` are the cores by name, `core` is the one that runs the program, `mem` is its view of
    memory, and `devices` are states of devices by their labels.
    """

    def __init__(
        self, machine: Machine, board: str, firmware: str, console: ConsoleSink | None
    ) -> None:
        self.hold = Hold(machine)
        self._machine = machine
        self._names = (board, firmware)
        self._console, self._streams = Console(console), Streams(None)
        self._breakpoints: list[Breakpoint] = []
        self._watches: list[tuple[int, int, bool, bool]] = []
        self._conditions: dict[int, tuple[str, Callback | None]] = {}
        self._functions: dict[str, list[tuple[int, int, str]]] = {}
        self._result: RunResult | None = None
        names = [core["name"] for core in machine.describe()["cores"]]
        self.cores = {name: Core(self, index, name) for index, name in enumerate(names)}
        main = next((name for name in names if self._functions_of(name)), names[0])
        self.core = self.cores[main]
        self.mem = self.core.mem
        self.devices = Devices(self.hold)

    @property
    def time_ps(self) -> int:
        """The simulated time of the program's core."""
        return self.core.time_ps

    def run(
        self, until: str | int | None = None, limit: str | int = _LIMIT, core: str | None = None
    ) -> Halt:
        """Continue to a breakpoint, or `until` a function, an address or a time is reached.

        A text such as "1.5ms" is a time since reset; any other text is a function of `core`'s
        program. `limit` is a limit of simulated time since reset.
        """
        limit_ps = parse_time_ps(limit) if isinstance(limit, str) else limit
        until_ps = _time_of(until)
        place = None if until is None or until_ps is not None else self.address(until, core)
        while True:
            halt = self._resume(limit_ps, place, until_ps)
            if halt.reason == "condition":
                if self._halts_on(halt):
                    return halt
            elif halt.reason != "break" or halt.pc == place or self._halts_at(halt):
                return halt

    def run_back(self) -> Halt:
        """Go back to the last breakpoint, watched access or condition.

        The board has its state of that time. For an access the run halts just before it. Callbacks
        are not called. Output stays printed, and is not printed again. The run can't go back to
        before this program set memory or a register, as that is not part of the firmware's run.
        Raises `EngineError` if the run can't go back.
        """
        return self._go_back(None)

    def last_store(self, addr: int, length: int = 4) -> Access | None:
        """The last store to memory or to a device's register; the run does not move.

        None if there was no store since reset, or since this program set memory or a register.
        Raises `EngineError` if the run can't be searched backwards.
        """
        self._check_runs()
        first = self._physical(addr)
        found = self.hold.last_access(_MOST_PS, (first, first + length - 1, False, True))
        if found is None:
            return None
        index, pc, instructions, time_ps, device = found
        core = list(self.cores)[index]
        return Access(time_ps, core, pc, self.function_at(core, pc), instructions, device)

    def break_at(
        self, place: str | int, callback: Callback | None = None, core: str | None = None
    ) -> Breakpoint:
        """Halt at the start of a function or at an address, or call `callback` there."""
        breakpoint = Breakpoint(self.address(place, core), callback)
        breakpoint._remove = self._breakpoints.remove
        self._breakpoints.append(breakpoint)
        return breakpoint

    def break_when(self, condition: str, callback: Callback | None = None) -> None:
        """Halt when a condition becomes true, or call `callback`: docs/how-to/conditions.md.

        Raises `UsageError` for an invalid condition.
        """
        number = triggers.add(self._machine, condition, triggers.HALT)
        self._conditions[number] = (condition, callback)

    def watch(self, addr: int, length: int = 4, loads: bool = False, stores: bool = True) -> None:
        """Halt after accesses to memory or to a device's register.

        Loads are watched on devices only. Raises `EngineError` if the range can't be watched.
        """
        physical = self._physical(addr)
        watches = [*self._watches, (physical, physical + length - 1, loads, stores)]
        self.hold.set_watches(watches)
        self._watches = watches

    def unwatch(self) -> None:
        """Stop watching accesses."""
        self._watches = []
        self.hold.set_watches([])

    def address(self, place: str | int, core: str | None = None) -> int:
        """The address of a function, by its name; an address is returned unchanged.

        Raises `UsageError` if there is no such function.
        """
        if isinstance(place, int):
            return place
        functions = self._functions_of(core or self.core.name)
        for addr, _, name in functions:
            if place in (name, name.partition("(")[0]):
                return addr
        hint = did_you_mean_or(place, [name for _, _, name in functions], "its ELF names no other")
        raise UsageError(f"the firmware has no function {place}{hint}")

    def function_at(self, core: str, addr: int) -> str:
        """The function of a core's program that contains an address; empty if unknown."""
        for begin, size, name in self._functions_of(core):
            if begin <= addr < begin + max(size, 1):
                return name
        return ""

    def snapshot(self) -> bytes:
        """A snapshot of the board's state, for `start_from` of `Board.run` or `Board.debug`.

        Raises `EngineError` if a part of the state can't be saved.
        """
        self._check_runs()
        return self._machine.snapshot()

    def result(self) -> RunResult:
        """End the run here and return its result, as `Board.run` does; it can't continue then."""
        if self._result is None:
            outcome = self.hold.end(self._console.write, self._streams.write)
            self._console.finish()
            streams = self._streams.finish()
            notes = (*self._console.notes("the console"), *self._streams.notes())
            result = run_result(outcome, *self._names, self._console.text, wall_ns=0)
            self._result = replace(result, notes=(*result.notes, *notes), streams=streams)
        return self._result

    @property
    def console(self) -> str:
        """The console's text up to now, up to the last whole character."""
        return self._console.text

    def _step(self, core: int, into_handlers: bool) -> Halt:
        """Run one instruction of a core: `Core.step`."""
        return self._resume(_MOST_PS, step=core, into_handlers=into_handlers)

    def _go_back(self, core: int | None) -> Halt:
        """Go back by an instruction of a core (`Core.step_back`), or to the last halt."""
        self._check_runs()
        self.hold.set_breaks(sorted({breakpoint.addr for breakpoint in self._breakpoints}))
        return self._halt(*self.hold.go_back(_MOST_PS, core))

    def _functions_of(self, core: str) -> list[tuple[int, int, str]]:
        if core not in self._functions:
            self._functions[core] = self._machine.functions(core)
        return self._functions[core]

    def _resume(
        self,
        limit_ps: int,
        place: int | None = None,
        until_ps: int | None = None,
        step: int | None = None,
        into_handlers: bool = False,
    ) -> Halt:
        self._check_runs()
        addresses = {breakpoint.addr for breakpoint in self._breakpoints}
        self.hold.set_breaks(sorted(addresses | ({place} if place is not None else set())))
        halted = self.hold.resume(
            limit_ps,
            until_ps,
            step,
            into_handlers=into_handlers,
            console=self._console.write,
            stream=self._streams.write,
        )
        return self._halt(*halted)

    def _halt(
        self,
        reason: str,
        index: int | None,
        watched: tuple[int, int, bool] | None,
        numbers: list[int],
    ) -> Halt:
        core = self.core if index is None else list(self.cores.values())[index]
        names = {"stepped": "step", "ended": "end", "trigger": "condition"}
        return Halt(
            names.get(reason, reason),
            core.time_ps,
            core.name,
            core.pc,
            core.function,
            None if watched is None else watched[0],
            watched is not None and watched[2],
            tuple(self._conditions[number][0] for number in numbers),
        )

    def _check_runs(self) -> None:
        if self._result is not None:
            raise UsageError("this run has ended: its result was taken")

    def _physical(self, addr: int) -> int:
        """The physical address of an address of the program's core."""
        physical = self.hold.physical(self.core._index, addr)
        if physical is None:
            raise EngineError(f"{addr:#010x}: this address is not mapped")
        return physical

    def _halts_on(self, halt: Halt) -> bool:
        here = [callback for text, callback in self._conditions.values() if text in halt.conditions]
        # every callback is called
        answers = [callback is None or bool(callback(halt)) for callback in here]
        return any(answers)

    def _halts_at(self, halt: Halt) -> bool:
        here = [breakpoint for breakpoint in self._breakpoints if breakpoint.addr == halt.pc]
        halts = not here
        for breakpoint in here:
            breakpoint.hits += 1
            halts |= breakpoint.callback is None or bool(breakpoint.callback(halt))
        return halts


def _time_of(until: str | int | None) -> int | None:
    """A time in picoseconds, if it is one."""
    if not isinstance(until, str):
        return None
    try:
        return parse_time_ps(until)
    except UsageError:
        return None
