"""The engine's Python module: machines made from a board's tree, run in one call."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Self

class EngineError(Exception):
    """The base of every error of the engine; its text is one line a fault."""

class BoardError(EngineError):
    """A board that can't be built.

    `faults` has one line a fault, `file:line: node: what`, sorted by file and line.
    """

    faults: list[str]

class ElfError(EngineError):
    """An ELF that can't be loaded; one line that names the file."""

class BusError(Exception):
    """Raised by a device in Python: it answers an access with a bus error."""

class DeviceBase:
    """What a device in Python has of the engine's: see `cyclescope.devices.model`."""

    def __new__(cls, *arguments: object, **named: object) -> Self: ...
    @property
    def now_ps(self) -> int:
        """The simulated time of the call, in picoseconds."""

    @property
    def range(self) -> int:
        """Which of the ranges of the node's `reg` is accessed, from 0."""

    def _schedule(self, due_ps: int, token: int) -> None: ...
    def _cancel(self, token: int) -> None: ...
    def _irq(self, index: int, level: bool) -> None: ...
    def _drive(self, index: int, level: bool | None) -> None: ...
    def _level(self, index: int) -> bool: ...
    def _note(self, text: str) -> None: ...
    def _print(self, text: str) -> None: ...
    def _exit(self, status: int) -> None: ...

def declared(models: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """What models in Python say of the properties of their nodes, by their compatibles.

    The models are those of `cyclescope.devices.registry.described`. `EngineError` for one that
    can't be added to the engine's own.
    """

def snapshot_time_ps(snapshot: bytes) -> int:
    """When a snapshot was taken, in simulated picoseconds; `EngineError` if it is none."""

def disassemble(
    encoding: int,
    pc: int,
    instruction_set: Literal["riscv", "riscv-no-aliases", "a32", "t32", "t32-m", "mips"]
    | None = None,
) -> str:
    """The text of an instruction at `pc`, by default of RISC-V; without aliases li is an addi.

    `encoding` is as the manual writes it: of a T32 instruction with four bytes the first half is
    the upper.
    """

def hurry(soon: bool) -> None:
    """Have what takes long without simulating (reading debug information) end soon from now on.

    It gives what it has found by then. With False it takes the time that it needs again.
    """

def listing(elf: bytes) -> list[tuple[int, int, int, str, str | None, list[str]]]:
    """The code of an ELF file, which tells its instruction set, by address.

    Of each instruction the address, the encoding, its bytes (4, 2 or 1), the text, where a branch
    leads, and the functions that begin there; data between code is there as well.
    """

def function_meant(elf: bytes, name: str) -> int | None:
    """Where the function of an ELF file begins that a name means, or None.

    Raises `EngineError` for a name that may mean several.
    """

def bindings() -> list[dict[str, Any]]:
    """All compatibles that there are models of, with their properties."""

def common_properties() -> list[tuple[str, str]]:
    """Names and meanings of the properties that any node may have."""

def exercise(
    board: dict[str, Any],
    models: list[dict[str, Any]] | None = None,
    seed: int = 0,
    accesses: int = 10_000,
) -> list[str]:
    """What of a board's devices is lost in snapshots, as far as accesses at random show it.

    Raises `BoardError`.
    """

def fat_add(path: Path, files: Sequence[tuple[str, bytes, int]]) -> None:
    """Add files to the root of a FAT volume: each of a name, and of a piece so many times.

    A file takes the first free clusters. The names have 8 and 3 characters.
    """

def fat_remove(path: Path, names: Sequence[str]) -> None:
    """Remove files from the root of a FAT volume."""

def fat_read(path: Path, name: str, most: int) -> bytes:
    """The first bytes, so many at most, of a file of a FAT volume, which is only read."""

def read_svd(
    text: str,
) -> tuple[
    str,
    tuple[str, int, int] | None,
    list[tuple[str, int, list[tuple[int, int]], list[str]]],
]:
    """What a CMSIS-SVD file tells of a chip; `EngineError` if it is none.

    The chip's name; of its core, the name, the bits of an interrupt's priority, and the number of
    external interrupts; of each peripheral the name, the base address, its blocks (offset and size
    in bytes), and its registers as `cyclescope,registers` has them.
    """

class Stop:
    """A wish to stop, for any number of runs; any thread or a signal handler may ask for it."""

    def __init__(self) -> None: ...
    def request(self) -> None:
        """Have the runs that were given this stop, now and later."""

    @property
    def requested(self) -> bool:
        """Whether someone asked for it."""

    @property
    def reached_ps(self) -> int:
        """The simulated time that a run with this stop has reached, some tenths of a second ago."""

class Hold:
    """A debugger's hold on a machine that has been loaded, and not run."""

    def __init__(self, machine: Machine) -> None: ...
    def resume(
        self,
        limit_ps: int,
        until_ps: int | None = None,
        step: int | None = None,
        range: tuple[int, int] | None = None,
        into_handlers: bool = False,
        console: Callable[[bytes], None] | None = None,
        stream: Callable[[str, bytes], None] | None = None,
        stop: Stop | None = None,
    ) -> tuple[str, int | None, tuple[int, int, bool] | None, list[int]]:
        """Run on until something halts the machine, or step a core by its index.

        Gives why ("break", "watch", "stepped", "trigger", "time", "interrupted", "ended"), the
        core, the first and last byte that was watched for, with whether it was a store, and the
        numbers of triggers.
        """

    def go_back(
        self, limit_ps: int, step: int | None = None
    ) -> tuple[str, int | None, tuple[int, int, bool] | None, list[int]]:
        """Go back by an instruction of a core, or to the last halt: why it halted, or "begin".

        Of a watched access it is the moment before. `EngineError` where there is no way back.
        """

    def last_access(
        self, limit_ps: int, watched: tuple[int, int, bool, bool]
    ) -> tuple[int, int, int, int, str | None] | None:
        """The last access before now to physical addresses: first, last byte, loads, stores.

        The core, its next address, its instructions so far, its time, and the device that made it.
        `EngineError` where there is no way back, or that can't be watched.
        """

    def end(
        self,
        console: Callable[[bytes], None] | None = None,
        stream: Callable[[str, bytes], None] | None = None,
    ) -> dict[str, Any]:
        """The report of the run, as `Machine.run` gives it; nothing runs afterwards."""

    def set_breaks(self, addresses: list[int]) -> None:
        """Have all cores stop before instructions at these addresses, and at no others."""

    def set_watches(self, watches: list[tuple[int, int, bool, bool]]) -> None:
        """Watch these physical addresses, and no others: first, last byte, loads, stores.

        `EngineError` for loads from memory, and for what is nowhere.
        """

    def registers(self, core: int) -> list[tuple[str, int, str, int]]:
        """A core's registers: name, bits, "general", "float" or "system", value."""

    def set_register(self, core: int, number: int, value: int) -> bool:
        """Write a register by its place in `registers`; False if it can't be written."""

    def position(self, core: int) -> tuple[int, int, int, int]:
        """Next address, stack pointer, instructions so far, local time in picoseconds."""

    def read(self, core: int, addr: int, length: int) -> bytes:
        """Memory and registers of devices as a core sees them, without any change.

        As many bytes as can be read so.
        """

    def write(self, core: int, addr: int, data: bytes) -> bool:
        """Write memory as a core sees it, without time; False if some of it can't be written."""

    def force_read(self, core: int, addr: int, bytes: int) -> int:
        """Load 1, 2 or 4 bytes as a core does; `EngineError` where nothing answers."""

    def devices(self) -> list[str]:
        """Labels of all that `device_state` knows: devices, and chips that hang on them."""

    def device_state(self, label: str) -> Any:
        """A device's or a chip's state by names; None if there is none of that label."""

    def physical(self, core: int, addr: int) -> int | None:
        """The physical address of what a core has at `addr`; None where nothing is."""

class Gdb:
    """A client of GDB's remote protocol at a socket or pipes, who holds one run."""

    def __init__(self, input: int, output: int, console: bool = False) -> None:
        """Take file descriptors, which are duplicated.

        With `console`, what is printed goes to the client alone.
        """

class Activities:
    """What the devices of a machine do: recorded if that is asked for, and free if not."""

    def start(self, kinds: list[str] | None = None, most_bytes: int = 1 << 26) -> None:
        """Record from now on activities of these kinds (all, without any), in so much memory.

        What is too much drops what was told first.
        """

    def tracks(self) -> list[tuple[str, str, str, int, str]]:
        """All tracks, of which spans name the places.

        Each is the label of a device, the name and kind of an activity, which of the device's parts
        does it, and, of an interrupt line, where that ends; of transactions, whose they are.
        """

    def instances(self, from_ps: int, to_ps: int, most: int) -> list[tuple[int, int, int, str]]:
        """What was done in a span of time, each time by itself: at most `most` of it.

        Each is the place of its track, begin and end in picoseconds, and a detail as a text.
        """

    def summary(self) -> tuple[int, int, int, int]:
        """Spans that are kept and those that were dropped, from when on none is missing, bytes."""

class Machine:
    """A board ready to be loaded and run, once.

    What an argument can't be is an `EngineError`, as is a call before another has returned.
    """

    def __init__(self, board: dict[str, Any], models: list[dict[str, Any]] | None = None) -> None:
        """Build a machine from a tree (`cyclescope.board.description.devicetree.Node.to_dict`).

        `models` in Python are those of `cyclescope.devices.registry.described`.
        """

    def describe(self) -> dict[str, Any]:
        """Model, cores, clocks, memory map, devices and parameters."""

    def load(self, data: bytes, name: str, core: str | None = None) -> None:
        """Load an ELF's segments for the first core that it fits, or for the one of that name.

        `name` is for messages.
        """

    def load_raw(
        self,
        parts: Sequence[tuple[int, bytes]],
        entry: int | None,
        start: int | None,
        name: str,
        core: str | None = None,
    ) -> None:
        """Load a program in parts: addresses, and the bytes from there on.

        `entry` is the address of the first instruction as the file has it, `start` as the user
        wants it.
        """

    def watch(self, functions: list[str]) -> None:
        """Keep a cycle stack of its own for each function; `EngineError` for one that is not."""

    def keep_calls(self, functions: list[str], most: int) -> None:
        """Keep the longest calls of each of these functions by themselves, as many as are named.

        Raises `EngineError` for a function that the firmware lacks.
        """

    def watch_calls(self, functions: list[str]) -> None:
        """Keep a window for each call of each function; `EngineError` for one that is not."""

    def profile_functions(self, functions: list[str] = ..., by_site: bool = ...) -> None:
        """Profile all cores from now on; the calls of these functions are kept one by one.

        Call paths may be apart by where functions are called from.
        """

    def report_waits(self) -> None:
        """Tell from now on what each core waits for: `waits` of cores and sections in reports."""

    def profile(self) -> list[dict[str, Any]]:
        """The profiles so far, one a core: call paths, and what instructions cost on each."""

    def places(
        self, core: str, addresses: list[int]
    ) -> list[list[tuple[str, str | None, int | None, int | None]]]:
        """Function, file, line and column of each address, the innermost inlined one first."""

    def functions(self, core: str) -> list[tuple[int, int, str]]:
        """The functions of a core's program: address, size, name."""

    def load_symbols(self, core: str, data: bytes, name: str) -> None:
        """Tell what runs on a core whose program another's loads; `name` is for messages."""

    def images(self) -> list[tuple[str, Path]]:
        """Files in which chips keep what they store: the chip's label, the path in the board."""

    def semihosting(
        self,
        folder: int | None = None,
        stdin: int | bytes | None = None,
        arguments: list[bytes] = ...,
    ) -> None:
        """Give the firmware a folder's files, a standard input, and its command line.

        Numbers are file descriptors, which are duplicated.
        """

    def run(
        self,
        limit_ps: int | None,
        console: Callable[[bytes], None] | None,
        stream: Callable[[str, bytes], None] | None = None,
        stop: Stop | None = None,
        note: Callable[[str], None] | None = None,
    ) -> dict[str, Any]:
        """Run until exit, fault or limit (simulated picoseconds); the GIL is released.

        `stream` gets what devices print on lines of their own, with their labels. `stop` ends the
        run early, with a report: its outcome is "interrupted". `note` gets at once those notes that
        tell what makes a run slow. `BoardError` if another run has an image of the board: it is
        this run's alone until it ends.
        """

    def hold(
        self,
        gdb: Gdb,
        limit_ps: int | None = None,
        console: Callable[[bytes], None] | None = None,
        stream: Callable[[str, bytes], None] | None = None,
        stop: Stop | None = None,
        note: Callable[[str], None] | None = None,
        anew: Callable[[], None] | None = None,
        typist: Callable[[int, list[tuple[str, int]]], list[tuple[str, bytes]] | None]
        | None = None,
    ) -> dict[str, Any] | None:
        """Have `gdb` hold the machine: its report as `run` gives it, or None if it has let go.

        `anew` hears that the run begins anew: what was printed before is of another one. `typist`
        is asked what people have typed, with the time and how many characters of each port's are
        still to come; it gives characters by labels of ports, or None once nobody can type any
        more. Where the client goes back, what is on record is typed again at the same times.
        """

    def run_to(
        self,
        until_ps: int,
        console: Callable[[bytes], None] | None = None,
        stream: Callable[[str, bytes], None] | None = None,
        stop: Stop | None = None,
        note: Callable[[str], None] | None = None,
    ) -> dict[str, Any] | None:
        """Run on to a time, or as soon afterwards as the cores come back to the machine anyway.

        None: the machine goes on from there as if it had not stopped. What `run` gives, if the run
        ends before.
        """

    def snapshot(self) -> bytes:
        """All that changes while the firmware runs, for `restore`.

        It can be taken before a run, and where `run_to` has stopped. `EngineError` if something of
        it can't be saved, `BoardError` if another run has an image of the board.
        """

    def restore(self, snapshot: bytes) -> None:
        """Become what a machine of the same board and firmware was when the snapshot was taken.

        What was recorded, watched and counted up to then is part of it. `EngineError` if it is of
        another board, firmware or build of the engine, if it is damaged, or if something of it
        can't be had again, as the host's files that the firmware had open.
        """

    def serial_ports(self) -> tuple[list[str], str | None]:
        """Labels of the serial ports that can receive, and that of the console's, if known."""

    def attach(
        self,
        port: str | None,
        characters: bytes = b"",
        script: list[tuple[str, str, bytes, int | None]] | None = None,
    ) -> None:
        """Put somebody at the other end of a serial port's line; once for each, before the run.

        Types these characters and what `type_on` gets, or follows a script. Its steps are a place
        for messages, one of "expect", "send", "wait", "at", "end", "pin", "key", "expect pin" and
        "expect led", characters, and picoseconds or an exit status. A script that neither sends
        nor expects characters needs no port. `EngineError` if there is no such port, or somebody is
        there.
        """

    def pins(
        self,
    ) -> tuple[
        list[tuple[str, int]],
        list[tuple[tuple[str, str, str], str, bool]],
        list[tuple[tuple[str, str, str], str, bool]],
    ]:
        """What scripts find: labels of ports with how many pins each has, lights, and buttons.

        Lights and buttons have the names that they are found by, their pin, and whether that is low
        while they are on or pressed.
        """

    def can_controllers(self) -> list[tuple[str, str]]:
        """Labels of the controllers that are on a CAN bus, each with that of its bus."""

    def attach_can(
        self,
        label: str,
        steps: list[tuple[str, str, tuple[int, bool, bool, int, bytes] | None, bool, int | None]]
        | None = None,
        logs: bool = False,
        bits_per_second: int | None = None,
    ) -> None:
        """Put a node without firmware on a CAN bus; once for each, before the run.

        It follows steps, prints a line of each frame on the stream of `label`, or both. A step is a
        place for messages, one of "expect", "send", "wait", "at", "end", a frame (identifier,
        whether that has 29 bits, whether it is remote, length code, data), whether any data will
        do, and picoseconds or an exit status. `EngineError` if there is no such bus, or it has such
        a node.
        """

    def type_on(self, port: str, characters: bytes) -> None:
        """Type on a serial line, at the time that the board has reached."""

    def untyped(self, port: str) -> int:
        """Characters that were typed on a serial line and have not passed it."""

    def run_until(
        self,
        until_ps: int,
        console: Callable[[bytes], None] | None = None,
        stream: Callable[[str, bytes], None] | None = None,
        stop: Stop | None = None,
        note: Callable[[str], None] | None = None,
    ) -> dict[str, Any] | None:
        """As `run`, up to a time only: what `run` gives if the run ended, else None.

        Somebody has to be at a serial line.
        """

    def pipe(self) -> str | None:
        """The label of the first device with a byte pipe to the host."""

    def feed(self, port: str, bytes: bytes) -> None:
        """Write to a pipe, at the time that the board has reached; `EngineError` without one."""

    def drain(self, port: str) -> bytes:
        """What the firmware sent to a pipe since the last call."""

    def piped(self, port: str) -> tuple[int, int]:
        """Totals of a pipe: bytes that the firmware is done with, and that it has sent."""

    def now(self) -> int:
        """The time that the board has reached, in picoseconds."""

    def advance(
        self,
        port: str,
        until_ps: int,
        goal: tuple[Literal["open", "taken", "sent"], int] | None = None,
        console: Callable[[bytes], None] | None = None,
        stream: Callable[[str, bytes], None] | None = None,
        stop: Stop | None = None,
    ) -> tuple[int | None, dict[str, Any] | None]:
        """Run on until a pipe's goal is reached, or until a time comes.

        The firmware listens ("open"), is done with so many bytes ("taken"), or sent them ("sent").
        Gives when the goal was reached, in picoseconds (None: the time was up), and what `run`
        gives if the run ended.
        """

    def finish(self) -> list[str]:
        """End a run made by `advance`, if it has not ended: images are written.

        Gives those that can't be, a sentence each.
        """

    def compile_after(self, runs: int) -> None:
        """Blocks become host code after this many runs; 0: never. Results do not depend on it."""

    def loaded(self) -> list[tuple[int, int, int, int]]:
        """The segments of programs: the core's index, first address, bytes of file and memory."""

    def compiled(self) -> list[tuple[int, int]]:
        """Regions of each core's code that have become host code, and regions that could not.

        No two runs have to compile the same.
        """

    def skip_polling(self, skip: bool) -> None:
        """Iterations of polling loops are skipped, or not. Results do not depend on it."""

    def wave_signals(self) -> list[tuple[str, str, bool]]:
        """The wires that can be recorded: scope, name, and level at rest."""

    def wave_signals_of(self, kinds: list[str]) -> list[int]:
        """Places in `wave_signals` of what is made of activities of these kinds."""

    def wave_pins(self) -> list[tuple[int, bool]]:
        """Places in `wave_signals` of pins of ports, and whether their wires have other names."""

    def wave_moved(self, signals: list[int]) -> list[bool]:
        """Whether a change was recorded of each of these signals, by places in `wave_signals`."""

    def record_waves(self, signals: list[int], file: str | None = None) -> None:
        """Changes of these wires, by their places in `wave_signals`, are recorded from now on.

        What memory should not hold goes to `file`, which is empty and may be removed after the
        call; without one there is a limit.
        """

    def wave_summary(self) -> tuple[int, int | None]:
        """How many changes were recorded, and the coarsest unit of time that is exact.

        The unit is a power of ten of picoseconds; None if no change came after time 0.
        """

    def wave_changes(self) -> Iterator[bytes]:
        """The recorded changes by time, in pieces.

        A change is 12 little-endian bytes: 8 of the time in picoseconds, 4 of twice the signal's
        index plus the new level.
        """

    def vcd(self, signals: list[int], unit_ps: int, end_ps: int) -> Iterator[bytes]:
        """The recorded changes of these wires as a Value Change Dump's text, in pieces.

        Times are rounded to `unit_ps`, a power of ten.
        """

    def fst(self, signals: list[int], unit_ps: int, end_ps: int, file: str) -> Iterator[bytes]:
        """The same as a Fast Signal Trace, in pieces.

        It is made in `file`, which is empty and may be removed after the call.
        """

    def record_timeline(
        self, kinds: list[str], most_bytes: int, from_ps: int, to_ps: int, calls: int | None
    ) -> None:
        """Record activities of these kinds, in so much memory, and totals for a timeline.

        So many calls of functions, too, if any.
        """

    def add_trigger(
        self,
        condition: str,
        action: str = "count",
        timeline: tuple[list[str], int, int | None, int] | None = None,
    ) -> int:
        """Have something done when a condition becomes true, from now on: its number.

        "count", "snapshot", "halt" (for who holds the machine), or "trace", which begins a
        timeline (kinds, bytes, calls, length in picoseconds). Raises EngineError for what is no
        condition over what the board has.
        """

    def triggers(self, now_ps: int) -> list[tuple[str, str, int, int | None, int | None, int]]:
        """Condition, action, how often it became true, when first and last, how long up to then."""

    def triggered_snapshot(self) -> bytes | None:
        """The snapshot that a trigger had taken, once.

        Raises EngineError if none could be taken.
        """

    def timeline(self) -> Iterator[bytes]:
        """The timeline that was recorded, as Perfetto reads it, in pieces."""

    def function_slices(self) -> list[tuple[str, int, str, str, int, int]]:
        """The functions that cores were in, as far as that was recorded for a timeline.

        Each is core, number of its stack, task, function, and in picoseconds when it was called and
        when it returned; callers come before what they called.
        """

    def functions_complete_from_ps(self) -> int | None:
        """From when on no function is missing, if there was no room for all of them.

        It is that of the last call of `function_slices` or `timeline`.
        """

    def task_turns(self) -> list[tuple[str, str, int, int]]:
        """Which task each core ran, as far as that was recorded for a timeline.

        Each is core, task, and in picoseconds from when to when; there is nothing of cores that
        have one stack of calls.
        """

    def activities(self) -> Activities:
        """What its devices do, to be recorded."""

    def skipped(self) -> list[int]:
        """Cycles of each core that were skipped."""

    def trace(self, count: int) -> bytes:
        """Run instructions one by one; 33 little-endian words after each: pc, x0 to x31."""

    def registers(self) -> list[int]:
        """pc, then x0 to x31, of the first core."""

    def read_memory(self, addr: int, length: int) -> bytes:
        """Bytes of memory, without time; `EngineError` where there is none."""
