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
    """The engine's part of a device in Python: see `cyclescope.devices.model`."""

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
    """The properties that models in Python declare for their nodes, one list a model.

    The models are those of `cyclescope.devices.registry.described`. Raises `EngineError`
    for one that can't be added to the engine's own.
    """

def snapshot_time_ps(snapshot: bytes) -> int:
    """When a snapshot was taken, in simulated picoseconds; `EngineError` if it is invalid."""

def disassemble(
    encoding: int,
    pc: int,
    instruction_set: Literal["riscv", "riscv-no-aliases", "a32", "t32", "t32-m", "mips"]
    | None = None,
) -> str:
    """The text of an instruction at `pc`, by default of RISC-V; without aliases, li is an addi.

    `encoding` is in the manual's notation: the first half of a T32 instruction with four bytes
    is the upper half.
    """

def hurry(soon: bool) -> None:
    """Make long work without simulation (reading debug information) end soon from now on.

    It returns what it has found by then. With False it takes the time that it needs again.
    """

def listing(elf: bytes) -> list[tuple[int, int, int, str, str | None, list[str]]]:
    """The code of an ELF file by address, in the file's own instruction set.

    Each instruction has the address, the encoding, its bytes (4, 2 or 1), the text, the target of
    a branch, and the functions that begin there; data between code is included.
    """

def function_meant(elf: bytes, name: str) -> int | None:
    """The address of the function of an ELF file that a name means, or None.

    Raises `EngineError` for an ambiguous name.
    """

def bindings() -> list[dict[str, Any]]:
    """All compatibles with models, with their properties."""

def common_properties() -> list[tuple[str, str]]:
    """Names and meanings of the properties that any node may have."""

def exercise(
    board: dict[str, Any],
    models: list[dict[str, Any]] | None = None,
    seed: int = 0,
    accesses: int = 10_000,
) -> list[str]:
    """Find state of a board's devices that snapshots lose, by random accesses: at most one line.

    Raises `BoardError`.
    """

def exercise_polls(
    board: dict[str, Any], seed: int = 0, loops: int = 1_000
) -> tuple[list[str], dict[str, int]]:
    """Compare polling loops that are skipped with loops that are run."""

def fat_add(path: Path, files: Sequence[tuple[str, bytes, int]]) -> None:
    """Add files to the root of a FAT volume: a name, a piece, and how often it is written.

    A file takes the first free clusters. The names have 8 and 3 characters.
    """

def fat_remove(path: Path, names: Sequence[str]) -> None:
    """Remove files from the root of a FAT volume."""

def fat_read(path: Path, name: str, most: int) -> bytes:
    """The first `most` bytes of a file of a FAT volume. The volume is not changed."""

def read_svd(
    text: str,
) -> tuple[
    str,
    tuple[str, int, int] | None,
    list[tuple[str, int, list[tuple[int, int]], list[str]]],
]:
    """Read a chip's description from a CMSIS-SVD file; `EngineError` if it is invalid.

    Returns the chip's name; the name of its core, the bits of an interrupt's priority, and the
    number of external interrupts; for each peripheral the name, the base address, its blocks
    (offset and size in bytes), and its registers as `cyclescope,registers` has them.
    """

class Stop:
    """A request to stop any number of runs; any thread or a signal handler may make it."""

    def __init__(self) -> None: ...
    def request(self) -> None:
        """Request the stop of runs with this object, now and later."""

    @property
    def requested(self) -> bool:
        """Whether a stop was requested."""

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

        Returns the cause ("break", "watch", "stepped", "trigger", "time", "interrupted", "ended"),
        the core, the watched access (first and last byte, and whether it was a store), and the
        numbers of triggers.
        """

    def go_back(
        self, limit_ps: int, step: int | None = None
    ) -> tuple[str, int | None, tuple[int, int, bool] | None, list[int]]:
        """Go back by an instruction of a core, or to the last halt: its cause, or "begin".

        For a watched access, that is the moment before it. `EngineError` if the run can't go back.
        """

    def last_access(
        self, limit_ps: int, watched: tuple[int, int, bool, bool]
    ) -> tuple[int, int, int, int, str | None] | None:
        """The last access before now to physical addresses: first, last byte, loads, stores.

        Returns the core, its next address, its instructions so far, its time, and the device that
        made it. `EngineError` if the run can't go back, or if the addresses can't be watched.
        """

    def end(
        self,
        console: Callable[[bytes], None] | None = None,
        stream: Callable[[str, bytes], None] | None = None,
    ) -> dict[str, Any]:
        """The report of the run, as `Machine.run` gives it; nothing runs afterwards."""

    def set_breaks(self, addresses: list[int]) -> None:
        """Stop all cores before instructions at these addresses, and at no others."""

    def set_watches(self, watches: list[tuple[int, int, bool, bool]]) -> None:
        """Watch these physical addresses, and no others: first, last byte, loads, stores.

        `EngineError` for loads from memory, and for unmapped addresses.
        """

    def registers(self, core: int) -> list[tuple[str, int, str, int]]:
        """A core's registers: name, bits, "general", "float" or "system", value."""

    def set_register(self, core: int, number: int, value: int) -> bool:
        """Write a register by its place in `registers`; False if it can't be written."""

    def position(self, core: int) -> tuple[int, int, int, int]:
        """Next address, stack pointer, instructions so far, local time in picoseconds."""

    def read(self, core: int, addr: int, length: int) -> bytes:
        """Memory and registers of devices as a core sees them, without side effects.

        Returns the bytes up to the first unreadable one.
        """

    def write(self, core: int, addr: int, data: bytes) -> bool:
        """Write memory as a core sees it, without time; False if some of it can't be written."""

    def force_read(self, core: int, addr: int, bytes: int) -> int:
        """Load 1, 2 or 4 bytes like a core; `EngineError` if nothing answers."""

    def devices(self) -> list[str]:
        """Labels of devices, and of chips that are connected to them, for `device_state`."""

    def device_state(self, label: str) -> Any:
        """A device's or a chip's state by names; None if there is no such device."""

    def physical(self, core: int, addr: int) -> int | None:
        """The physical address for a core's address; None if it is not mapped for reads."""

class Gdb:
    """A client of GDB's remote protocol at a socket or pipes, which holds one run."""

    def __init__(self, input: int, output: int, console: bool = False) -> None:
        """Take file descriptors, which are duplicated.

        With `console`, output goes to the client alone.
        """

class Activities:
    """A recording of the activities of a machine's devices; it costs nothing while it is off."""

    def start(self, kinds: list[str] | None = None, most_bytes: int = 1 << 26) -> None:
        """Record activities of the given kinds (all, without a list) from now on.

        When they take more than `most_bytes`, the spans that were recorded first are dropped.
        """

    def tracks(self) -> list[tuple[str, str, str, int, str]]:
        """All tracks. Spans name them by index.

        Each is the label of a device, the name and kind of an activity, the number of the device's
        part, and where an interrupt line ends, or the master of transactions.
        """

    def instances(self, from_ps: int, to_ps: int, most: int) -> list[tuple[int, int, int, str]]:
        """The spans that overlap an interval, each repetition by itself: at most `most`.

        Each is the index of its track, begin and end in picoseconds, and a detail as a text.
        """

    def summary(self) -> tuple[int, int, int, int]:
        """The numbers of kept and dropped spans, the time from which none is missing, bytes."""

class Machine:
    """A board ready to be loaded and run, once.

    `EngineError` for an invalid argument, and for a call before another has returned.
    """

    def __init__(self, board: dict[str, Any], models: list[dict[str, Any]] | None = None) -> None:
        """Build a machine from a tree (`cyclescope.board.description.devicetree.Node.to_dict`).

        `models` in Python are those of `cyclescope.devices.registry.described`.
        """

    def describe(self) -> dict[str, Any]:
        """Model, cores, clocks, memory map, devices and parameters."""

    def load(self, data: bytes, name: str, core: str | None = None) -> None:
        """Load an ELF's segments for the first core that it fits, or for the named core.

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

        `entry` is the address of the first instruction from the file, `start` the one from the
        user.
        """

    def watch(self, functions: list[str]) -> None:
        """Keep a separate cycle stack for each function; `EngineError` for an unknown one."""

    def keep_calls(self, functions: list[str], most: int) -> None:
        """Keep the `most` longest calls of each function.

        Raises `EngineError` for a function that the firmware lacks.
        """

    def watch_calls(self, functions: list[str]) -> None:
        """Keep a window for each call of each function; `EngineError` for an unknown one."""

    def profile_functions(self, functions: list[str] = ..., by_site: bool = ...) -> None:
        """Profile all cores from now on; calls of the given functions are kept one by one.

        With `by_site`, call paths are distinguished by the places of the calls.
        """

    def report_waits(self) -> None:
        """Record from now on what each core waits for: `waits` of cores and sections in reports."""

    def profile(self) -> list[dict[str, Any]]:
        """The profiles so far, one a core: call paths, and the costs of instructions on each."""

    def places(
        self, core: str, addresses: list[int]
    ) -> list[list[tuple[str, str | None, int | None, int | None]]]:
        """Function, file, line and column of each address, the innermost inlined one first."""

    def functions(self, core: str) -> list[tuple[int, int, str]]:
        """The functions of a core's program: address, size, name."""

    def load_symbols(self, core: str, data: bytes, name: str) -> None:
        """Load the symbols of a program that another core loads; `name` is for messages."""

    def images(self) -> list[tuple[str, Path]]:
        """Files in which chips keep their contents: the chip's label, the path in the board."""

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

        `stream` gets the output of devices on lines of their own, with their labels. `stop` ends
        the run early, with a report: its outcome is "interrupted". `note` gets notes about a slow
        run at once. `BoardError` if another run uses an image of the board: only one run at a time
        may use it.
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
        """Let `gdb` hold the machine: the run's report as from `run`, or None if it detached.

        `anew` is called when the run is restarted: earlier output belongs to another run then.
        `typist` is asked for typed characters, with the time and the number of characters that
        each port has yet to send; it returns characters by labels of ports, or None when nobody can
        type any more. Where the client goes back, recorded characters are typed again.
        """

    def run_to(
        self,
        until_ps: int,
        console: Callable[[bytes], None] | None = None,
        stream: Callable[[str, bytes], None] | None = None,
        stop: Stop | None = None,
        note: Callable[[str], None] | None = None,
    ) -> dict[str, Any] | None:
        """Run to a time, or as soon afterwards as the cores return to the machine anyway.

        Returns None: the machine continues from there as if it had not stopped. If the run ends
        before, returns the report, as from `run`.
        """

    def snapshot(self) -> bytes:
        """All state that changes while the firmware runs, for `restore`.

        It can be taken before a run, and where `run_to` has stopped. `EngineError` if a part of it
        can't be saved, `BoardError` if another run uses an image of the board.
        """

    def restore(self, snapshot: bytes) -> None:
        """Restore the state of a machine with the same board and firmware from a snapshot.

        Recordings, watched functions and counts up to then are part of it. `EngineError` if it
        belongs to another board, firmware or build of the engine, if it is damaged, or if a part of
        it can't be restored, such as files of the host that the firmware had open.
        """

    def serial_ports(self) -> tuple[list[str], str | None]:
        """Labels of the serial ports that can receive, and the console's label, if known."""

    def attach(
        self,
        port: str | None,
        characters: bytes = b"",
        script: list[tuple[str, str, bytes, int | None]] | None = None,
    ) -> None:
        """Connect the other end of a serial port's line; once for each, before the run.

        It types these characters and those of `type_on`, or follows a script. Its steps are a place
        for messages, one of "expect", "send", "wait", "at", "end", "pin", "key", "expect pin" and
        "expect led", characters, and picoseconds or an exit status. A script that neither sends
        nor expects characters needs no port. `EngineError` if there is no such port, or if its
        line is connected already.
        """

    def pins(
        self,
    ) -> tuple[
        list[tuple[str, int]],
        list[tuple[tuple[str, str, str], str, bool]],
        list[tuple[tuple[str, str, str], str, bool]],
    ]:
        """The pins for scripts: labels of ports with the number of their pins, lights, and buttons.

        Lights and buttons have their names, their pin, and whether the pin is low while they are on
        or pressed.
        """

    def can_controllers(self) -> list[tuple[str, str]]:
        """Labels of the controllers that are on a CAN bus, each with the label of its bus."""

    def attach_can(
        self,
        label: str,
        steps: list[tuple[str, str, tuple[int, bool, bool, int, bytes] | None, bool, int | None]]
        | None = None,
        logs: bool = False,
        bits_per_second: int | None = None,
    ) -> None:
        """Connect a node without firmware to a CAN bus; once for each, before the run.

        It follows steps, prints a line of each frame on the stream of `label`, or both. A step is a
        place for messages, one of "expect", "send", "wait", "at", "end", a frame (identifier,
        whether that has 29 bits, whether it is remote, length code, data), whether any data
        matches, and picoseconds or an exit status. `EngineError` if there is no such bus, or if it
        has such a node already.
        """

    def type_on(self, port: str, characters: bytes) -> None:
        """Type on a serial line, at the current time of the board."""

    def untyped(self, port: str) -> int:
        """The number of characters that were typed on a serial line and have not passed it yet."""

    def run_until(
        self,
        until_ps: int,
        console: Callable[[bytes], None] | None = None,
        stream: Callable[[str, bytes], None] | None = None,
        stop: Stop | None = None,
        note: Callable[[str], None] | None = None,
    ) -> dict[str, Any] | None:
        """Like `run`, to a time at most: the report if the run ended, else None.

        A serial line has to be connected.
        """

    def pipe(self) -> str | None:
        """The label of the first device with a byte pipe to the host."""

    def feed(self, port: str, bytes: bytes) -> None:
        """Write to a pipe, at the current time of the board; `EngineError` without one."""

    def drain(self, port: str) -> bytes:
        """Bytes that the firmware sent to a pipe since the last call."""

    def piped(self, port: str) -> tuple[int, int]:
        """Totals of a pipe: bytes that the firmware has consumed, and bytes that it has sent."""

    def now(self) -> int:
        """The current time of the board, in picoseconds."""

    def advance(
        self,
        port: str,
        until_ps: int,
        goal: tuple[Literal["open", "taken", "sent"], int] | None = None,
        console: Callable[[bytes], None] | None = None,
        stream: Callable[[str, bytes], None] | None = None,
        stop: Stop | None = None,
    ) -> tuple[int | None, dict[str, Any] | None]:
        """Run until a pipe's goal is reached, or until a time.

        The firmware listens ("open"), has consumed a number of bytes ("taken"), or has sent them
        ("sent"). Returns when the goal was reached, in picoseconds (None: the time was up), and the
        report if the run ended.
        """

    def finish(self) -> list[str]:
        """End a run made by `advance`, unless it has ended: images are written.

        Returns a sentence for each image that could not be written.
        """

    def compile_after(self, runs: int) -> None:
        """Compile blocks to host code after this many runs; 0: never. Results do not change."""

    def loaded(self) -> list[tuple[int, int, int, int]]:
        """The segments of programs: the core's index, first address, bytes of file and memory."""

    def compiled(self) -> list[tuple[int, int]]:
        """By core, the numbers of compiled code regions, and of those that could not be compiled.

        Runs with equal results may differ in it.
        """

    def skip_polling(self, skip: bool) -> None:
        """Switch the skipping of polling loops. Results do not depend on it."""

    def wave_signals(self) -> list[tuple[str, str, bool]]:
        """The wires that can be recorded: scope, name, and level at rest."""

    def wave_signals_of(self, kinds: list[str]) -> list[int]:
        """Indices in `wave_signals` of the signals made of activities of the given kinds."""

    def wave_pins(self) -> list[tuple[int, bool]]:
        """Indices in `wave_signals` of ports' pins, and whether their wires have other names."""

    def wave_moved(self, signals: list[int]) -> list[bool]:
        """For each given index in `wave_signals`, whether a change of the signal was recorded."""

    def record_waves(self, signals: list[int], file: str | None = None) -> None:
        """Record changes of the given wires (indices in `wave_signals`) from now on.

        Changes that do not fit in memory go to `file`, which is empty and may be removed after the
        call; without a file there is a limit.
        """

    def wave_summary(self) -> tuple[int, int | None]:
        """The number of recorded changes, and the coarsest unit of time that is exact.

        The unit is a power of ten of picoseconds; None if no change came after time 0.
        """

    def wave_changes(self) -> Iterator[bytes]:
        """The recorded changes by time, in pieces.

        A change is 12 little-endian bytes: 8 of the time in picoseconds, 4 of twice the signal's
        index plus the new level.
        """

    def vcd(self, signals: list[int], unit_ps: int, end_ps: int) -> Iterator[bytes]:
        """The recorded changes of the given wires as a Value Change Dump's text, in pieces.

        Times are rounded to `unit_ps`, a power of ten.
        """

    def fst(self, signals: list[int], unit_ps: int, end_ps: int, file: str) -> Iterator[bytes]:
        """Like `vcd`, as a Fast Signal Trace, in pieces.

        It is made in `file`, which is empty and may be removed after the call.
        """

    def record_timeline(
        self, kinds: list[str], most_bytes: int, from_ps: int, to_ps: int, calls: int | None
    ) -> None:
        """Record activities of the given kinds, and totals, for a timeline.

        Activities take at most `most_bytes` of memory. If `calls` is given, that number of calls of
        functions is recorded, too.
        """

    def add_trigger(
        self,
        condition: str,
        action: str = "count",
        timeline: tuple[list[str], int, int | None, int] | None = None,
    ) -> int:
        """Add a trigger, which acts when a condition becomes true from now on: its number.

        The actions are "count", "snapshot", "halt" (for the holder of the machine), or "trace",
        which begins a timeline (kinds, bytes, calls, length in picoseconds). Raises EngineError for
        an invalid condition.
        """

    def triggers(self, now_ps: int) -> list[tuple[str, str, int, int | None, int | None, int]]:
        """Condition, action, times that it became true, first and last of them, how long it was."""

    def triggered_snapshot(self) -> bytes | None:
        """Take the snapshot that a trigger has made; None without one.

        Raises EngineError if it could not be made.
        """

    def timeline(self) -> Iterator[bytes]:
        """The timeline that was recorded, as Perfetto reads it, in pieces."""

    def function_slices(self) -> list[tuple[str, int, str, str, int, int]]:
        """The calls of functions that were recorded for a timeline.

        Each is core, number of its stack, task, function, and the times of call and return in
        picoseconds; callers come before the functions that they called.
        """

    def functions_complete_from_ps(self) -> int | None:
        """The time from which on no function is missing, if memory did not suffice for all.

        It belongs to the last call of `function_slices` or `timeline`.
        """

    def task_slices(self) -> list[tuple[str, str, int, int]]:
        """The time slices of tasks that were recorded for a timeline.

        Each is core, task, begin and end in picoseconds. Cores with one stack of calls have none.
        """

    def activities(self) -> Activities:
        """The recording of its devices' activities."""

    def skipped(self) -> list[int]:
        """Cycles of each core that were skipped."""

    def trace(self, count: int) -> bytes:
        """Run instructions one by one; 33 little-endian words after each: pc, x0 to x31."""

    def registers(self) -> list[int]:
        """pc, then x0 to x31, of the first core."""

    def read_memory(self, addr: int, length: int) -> bytes:
        """Bytes of memory, in no simulated time; `EngineError` where there is no memory."""
