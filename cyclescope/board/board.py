"""A virtual board: found by name or path, changed by overrides, loaded with firmware, run.

board = cyclescope.Board("kc705-axi-quad-spi", overrides={"spi0.clock-frequency": 40_000_000})
result = board.load("app.elf").run(limit="10s")
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope._engine import Gdb, Machine, Stop
from cyclescope.board.description import interrupt_lines, parameters
from cyclescope.board.description.devicetree import refuse_host_files
from cyclescope.board.description.overrides import OverrideValue, apply_overrides
from cyclescope.board.description.parameters import Parameter
from cyclescope.board.description.trees import board_tree, find_board
from cyclescope.board.observing import timelines, triggers, waveforms
from cyclescope.board.observing.frames import Trigger
from cyclescope.board.observing.unmodelled import set_unmapped
from cyclescope.board.outcome.kept_calls import check_most
from cyclescope.board.outcome.outcomes import run_result
from cyclescope.board.results import CoreResult, HostWork, RunResult
from cyclescope.board.setup import snapshots, users_devices
from cyclescope.board.setup.programs import TABLE_BYTES, Program, meant_base, read_program
from cyclescope.board.setup.semihosting import Hosted, Stdin
from cyclescope.board.wiring.lines import Lines, Session, Terminal, Typed
from cyclescope.board.wiring.pin_uses import PinUse, pin_functions, pin_uses
from cyclescope.board.wiring.pins import Pins
from cyclescope.board.wiring.printed import Console, ConsoleSink, Streams, StreamSink, begin_anew
from cyclescope.errors import ElfError, EngineError, UsageError
from cyclescope.host import inputs, outputs
from cyclescope.similar_names import did_you_mean_or
from cyclescope.units import parse_time_ps

if TYPE_CHECKING:
    from cyclescope.board.can import CanNode
    from cyclescope.board.debugger import Debugger
    from cyclescope.board.wiring.lines import Scripts
    from cyclescope.devices.model import Model
    from cyclescope.profile.profile import Profile

NoteSink = Callable[[str], None]
PlaceFrame = tuple[str, str | None, int | None, int | None]


@dataclass(frozen=True)
class LoadedSegment:
    """A part of a core's program: its first address, bytes from the file, and bytes in memory."""

    core: str
    address: int
    file_bytes: int
    memory_bytes: int


class Board:
    """A virtual board, checked as a whole when it is made.

    It has the devices in Python that are registered by then (`cyclescope.device`).

    `name_or_path` is a shipped board's name or the path of a .dts; `overrides` maps paths such as
    "spi0.clock-frequency" to values. With `unmapped` "warn", accesses where nothing is on the board
    are answered, and the result tells of them; with "fault" they are bus faults; by default the
    board says which. `svd` is a CMSIS-SVD file: each peripheral of it that the board has no model
    of becomes a `cyclescope,stub` with the file's registers.

    Raises `UsageError` if there is no such board, `BoardError` with every fault of the description,
    `SettingError` for an override that does not fit.
    """

    def __init__(
        self,
        name_or_path: str | os.PathLike[str],
        overrides: Mapping[str, OverrideValue] | None = None,
        unmapped: str | None = None,
        svd: str | os.PathLike[str] | None = None,
    ) -> None:
        self._path = inputs.printable(os.fspath(name_or_path))
        self.name = inputs.printable(find_board(name_or_path).stem)
        tree = board_tree(name_or_path)
        refuse_host_files(tree)
        if svd is not None:
            from cyclescope.board.description.svd import add_stubs  # few boards have one

            add_stubs(tree, Path(svd))
        set_unmapped(tree, unmapped)
        apply_overrides(tree, overrides or {})
        self._root = tree
        self._tree = tree.to_dict()
        self._devices: dict[str, Model] = {}
        self._models = users_devices.models(self._devices)
        self._machine: Machine | None = Machine(self._tree, self._models)
        self._description = self._machine.describe()
        self._program: Program | None = None
        self._core: str | None = None
        self._serial_ports = self._machine.serial_ports()
        self._elf: str | None = None
        self._images = [(label, str(image)) for label, image in self._machine.images()]
        self._sources = dict.fromkeys(users_devices.files(), "a device in Python")
        self._sources |= dict.fromkeys(tree.files, "the board")
        self._check_images(self._sources)

    def describe(self) -> dict[str, Any]:
        """Model, cores, clocks, memory map, devices and parameters, as plain data."""
        return copy.deepcopy(self._description)

    @property
    def serial_ports(self) -> tuple[list[str], str | None]:
        """Labels of the serial ports that can receive, and that of the console's, if known."""
        return self._serial_ports

    @property
    def pins(self) -> Pins:
        """Its GPIO ports, lights and buttons, by the names that scripts have for them."""
        return Pins.of(self._loaded_machine() if self._program else self._unloaded_machine())

    @property
    def pin_uses(self) -> tuple[PinUse, ...]:
        """What hangs on the pins of its ports."""
        return pin_uses(self._tree, self.pins.ports)

    @property
    def pin_functions(self) -> dict[str, tuple[str, ...]]:
        """Which signals of peripherals its pins can carry, and by which alternate function."""
        return pin_functions(self._tree)

    @property
    def interrupts(self) -> list[interrupt_lines.Line]:
        """The interrupts of devices: the device, its controller, and the number there."""
        return interrupt_lines.lines(self._root)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Every timing parameter with its provenance."""
        return tuple(
            Parameter(
                property_name=parameter["property"],
                **{key: str(value) for key, value in parameter.items() if key != "property"},
            )
            for parameter in self._description["parameters"]
        )

    def device(self, label: str) -> Model:
        """A device in Python by the label of its node, as the last run has left it.

        Each run has a new one. Raises `UsageError` if there is none of that label.
        """
        if label not in self._devices:
            known = ", ".join(self._devices) or "none"
            raise UsageError(f"there is no device in Python called {label!r}: there is {known}")
        return self._devices[label]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its results would be less worth for, and what is hardly meant.

        Those are values without a source, or outside the range that it calls plausible: a line a
        kind, whatever their number; and caches that no memory can use.
        """
        return (*parameters.warnings(self.parameters, self._path), *self._description["warnings"])

    @property
    def inputs(self) -> dict[str, str]:
        """The files that a run must not take for results, each with what it is.

        Those are the sources of the board, the loaded firmware, and the images of chips.
        """
        firmware = {} if self._elf is None else {self._elf: "the firmware"}
        images = {image: f"the image of {label}" for label, image in self._images}
        return self._sources | firmware | images

    def _check_images(self, inputs: Mapping[str, str]) -> None:
        """Raises `UsageError` if a chip would write its image over an input."""
        for label, image in self._images:
            for path, what in inputs.items():
                if outputs.is_same(image, path):
                    raise UsageError(f"{image}: is {what}, and can't be the image of {label}")

    def load(
        self,
        elf: str | os.PathLike[str] | bytes,
        base: int | None = None,
        entry: int | None = None,
        core: str | None = None,
    ) -> Board:
        """Load a program, from a path or from its bytes; gives the board itself.

        An ELF, Intel HEX, S-record or UF2 file, or plain bytes that go to the address `base`. A
        Cortex-M starts at its reset vector, other cores at the file's entry point; a file without
        headers starts at `entry`, if that is given. It is for the first core that it fits, or for
        the one called `core`; other cores than the board's first run alone. Raises `ElfError` if it
        is not an executable for this board, `UsageError` if it is no file, larger than 512 MiB,
        damaged, or the image of a chip, `EngineError` if there is no such core, `OSError` if it
        can't be read.
        """
        if not isinstance(elf, bytes):
            self._check_images({os.fspath(elf): "the firmware"})
        room = None if base is None else self._room(base)
        try:
            self.load_program(read_program(elf, base, entry, room), core)
        except ElfError as error:
            meant = self._meant_base(elf)
            raise ElfError(f"{error}; {meant}" if meant else str(error)) from None
        self._elf = None if isinstance(elf, bytes) else os.fspath(elf)
        return self

    def load_program(self, program: Program, core: str | None = None) -> None:
        """Load a program that has been read. Raises `ElfError` and `EngineError` as `load` does."""
        machine = self._unloaded_machine()
        program.load_into(machine, core)
        self._machine = machine
        self._program, self._core, self._elf = program, core, None

    def _room(self, base: int) -> int:
        """How many bytes from an address on lie where the board has something."""
        end = base
        for place in sorted(self._map(), key=lambda place: int(place["base"])):
            if place["base"] <= end < place["base"] + place["size"]:
                end = place["base"] + place["size"]
        return end - base

    def _meant_base(self, file: str | os.PathLike[str] | bytes) -> str:
        """Where plain bytes seem to belong; "" if nobody can tell, and of what says it itself."""
        places = [(place["base"], place["base"] + place["size"] - 1) for place in self._map()]
        if isinstance(file, bytes):
            return meant_base(file[:TABLE_BYTES], len(file), places)
        words = inputs.begin(Path(file), TABLE_BYTES)
        return "" if words is None else meant_base(words, Path(file).stat().st_size, places)

    def _map(self) -> list[dict[str, Any]]:
        places: list[dict[str, Any]] = self._description["map"]
        return places

    @property
    def loaded(self) -> tuple[LoadedSegment, ...]:
        """Where the segments of the loaded firmware lie, and of programs that it carries."""
        if self._machine is None:
            return ()
        names = [core["name"] for core in self._description["cores"]]
        segments = self._machine.loaded()
        return tuple(LoadedSegment(names[core], *segment) for core, *segment in segments)

    def places(self, core: str, addresses: Iterable[int]) -> list[list[PlaceFrame]]:
        """Where addresses of the loaded firmware are in its sources, as the ELF tells.

        For each address function, file, line and column, of inlined functions the innermost first.
        Raises `EngineError` if nothing is loaded, or there is no such core.
        """
        return self._loaded_machine().places(core, list(addresses))

    def functions(self, core: str) -> list[tuple[int, int, str]]:
        """The functions of a core's program as its ELF names them: address, bytes, name.

        Names are as programmers write them. Raises `EngineError` as `places` does.
        """
        return self._loaded_machine().functions(core)

    def _loaded_machine(self) -> Machine:
        """The machine that the next run starts with."""
        if self._machine is None or self._program is None:
            self._machine = self.start()
        return self._machine

    def run(
        self,
        limit: str | int | None = "10s",
        console: ConsoleSink | None = None,
        sections: Iterable[str] = (),
        skip_polling: bool = True,
        vcd: str | os.PathLike[str] | None = None,
        frame_on: str | Trigger | None = None,
        stream: StreamSink | None = None,
        windows: Iterable[str] = (),
        vcd_signals: Iterable[str] = (),
        vcd_timescale: str | None = None,
        semihosting_dir: str | os.PathLike[str] | None = None,
        stdin: Stdin | None = None,
        arguments: Iterable[str] = (),
        stop: Stop | None = None,
        note: NoteSink | None = None,
        compile_after: int | None = None,
        typed: Typed | None = None,
        script: Scripts | None = None,
        terminals: Mapping[str | None, Terminal] | None = None,
        pace: bool = True,
        session: Session | None = None,
        can: Mapping[str, CanNode] | None = None,
        profile: bool | Iterable[str] = False,
        call_sites: bool = False,
        waves: str | os.PathLike[str] | None = None,
        trace: str | os.PathLike[str] | None = None,
        trace_from: str | int | None = None,
        trace_for: str | int | None = None,
        trace_memory: str | int | None = None,
        trace_kinds: Iterable[str] = (),
        waits: bool = False,
        calls: Iterable[str] = (),
        longest_calls: int = 10,
        gdb: Gdb | None = None,
        snapshot: str | os.PathLike[str] | None = None,
        snapshot_at: str | int | None = None,
        start_from: bytes | str | os.PathLike[str] | None = None,
        count_when: Iterable[str] = (),
        break_when: Iterable[str] = (),
        trace_when: str | None = None,
        snapshot_when: str | None = None,
        console_errors: str = "replace",
    ) -> RunResult:
        """Run the loaded firmware from reset, until it exits, faults or reaches the limit.

        `limit` bounds simulated time: a text such as "10s", picoseconds, or None for no bound.
        `console` gets the console's text in chunks as it comes; the run waits for it. Bytes that
        are no UTF-8 are in it as `console_errors` says, which is that of `bytes.decode`:
        "surrogateescape" keeps them all. The result
        keeps the first 16 MiB of the console and of each stream. Each function named in `sections`
        gets a cycle stack of its own; "cm4:main" is one of another core than the first. The result
        has a window for each call of each of the first core's functions named in `windows`. Without
        `skip_polling`, polling loops are run in full: that takes longer and changes nothing
        else. `waves` is a file for waveforms: of the board's wires (SPI buses, interrupt and
        control lines) and of what its devices do (busy, interrupts, transfers), as a Value Change
        Dump (`.vcd`) or a Fast Signal Trace (`.fst`); `vcd` is a Value Change Dump whatever it is
        called. `vcd_signals` are patterns such as "spi0.*" of the signals to record, and
        `vcd_timescale` is the file's unit of time, such as "10ns", in place of the coarsest that is
        exact. `trace` is a file for a timeline of what devices and cores did, as Perfetto reads it:
        from `trace_from` on, for `trace_for`, of `trace_kinds` (`timelines.KINDS`; "default" for
        all but "bus", "queue", "pin" and "reads in place"), with the last `trace_memory` of it
        ("64MiB"). The result keeps the first frame on the SPI bus that `frame_on` names by its
        label, or the one that a trigger is for. `stream` gets the whole lines that are printed on
        serial lines beside the console, each behind the device's label. `stop` ends the run early,
        from another thread or a signal handler: its outcome is then "interrupted".
        `note` gets those of the result's notes at once that tell what makes the run slow. Code that
        ran `compile_after` times (0 to 65535; 0: none) is compiled for the host, and waited for;
        without a number, a thread compiles what runs often. The result is the same.

        By semihosting the firmware gets the files of `semihosting_dir`, as its standard input
        `stdin` (bytes, or an open binary file), and its name and `arguments` as its command line.

        On the console's serial line `typed` is sent to it from time 0 on, as fast as the line is,
        or `script` says what is sent and expected when (`cyclescope.board.scripts`); a mapping has
        that for other lines, too, by their labels. `terminals` are there in the same way while
        people type, and then simulated time is held back to the host's unless `pace` is false;
        `session` learns what they type. A
        script that does not get what it expects ends the run with the outcome "script". `can` has
        nodes of CAN buses by the labels of controllers (`cyclescope.board.can`).

        With `profile` the result's `profile` has each cycle by call path, instruction and cause;
        the run itself stays the same to the last cycle. Of functions that are named there
        ("cm4:main" of another core than the first), each call is kept with its time. With
        `call_sites` the profile tells calls of a function apart by the places that they come from,
        too (`Profile.by_call_site`). With `waits`
        each core's time, each section's and each call path's of a profile is shared out by what was
        waited for, too, and the result's `critical_path` tells who held whom up. That takes up to
        some 4 times as long where a core polls, and changes nothing else. Functions named in
        `calls` are watched as those of `sections`, with `waits`, and of each the `longest_calls` (1
        to 10000) are kept by themselves: each one's time by what it waited for, its arguments and
        its caller.

        `gdb` is a debugger (`cyclescope.host.gdb_port`), who holds the machine from reset on, until
        it lets go.

        `snapshot` is a file for all that has changed on the board when the run has come to
        `snapshot_at`; `start_from` is such a file, or its bytes, of the same board and firmware:
        the run goes on from there, to the same end as without. What is recorded and watched begins
        there, beside what was watched before.

        Conditions are those of docs/how-to/conditions.md. The result's `triggers` tell how often
        each of `count_when` became true, when, and for how long it was; where one of `break_when`
        does, the run halts for `gdb`. With `trace_when` the timeline begins where that becomes
        true, with `snapshot_when` the snapshot is taken there.

        An exception of a sink stops the run too, and is raised when all else is written. Raises
        `EngineError` if nothing is loaded, or the firmware has no such function, or the board no
        such bus; `UsageError` for patterns, endings, units and numbers that are none, `OutputError`
        if a file can't be written, `BoardError` if another run has an image of the board, `OSError`
        if there is no such folder. What turns out to be impossible to write in the end is in the
        result's `failed_saves`.
        """
        kept = list(dict.fromkeys(calls))
        check_most(longest_calls)
        watched = list(dict.fromkeys(sections))
        profiled = _profiled(profile)
        self._check_cores([*watched, *kept, *(profiled or ())])
        dump = waveforms.dump_of(waves, vcd, vcd_signals, vcd_timescale)
        timeline = timelines.timeline_of(
            trace, trace_from, trace_for, trace_memory, trace_kinds, trace_when
        )
        limit_ps = parse_time_ps(limit) if isinstance(limit, str) else limit
        taken = snapshots.wanted(snapshot, snapshot_at, limit_ps, snapshot_when)
        written = {"waves": waves, "vcd": vcd, "trace": trace, "snapshot": snapshot}
        if isinstance(start_from, bytes | None):
            before, kept_files = start_from, self.inputs
        else:
            before = snapshots.read(start_from)
            kept_files = {**self.inputs, os.fspath(start_from): "the snapshot that the run is from"}
        outputs.check_outputs(written, kept_files)
        if taken is not None and terminals:
            raise UsageError("no snapshot can be taken while people type (--console)")
        machine = self.start()
        firmware = self._program_name()
        Hosted(semihosting_dir, stdin, arguments).give_to(machine, firmware)
        attached = Lines.of(typed, script, terminals, pace, session).attach(machine)
        if can:
            from cyclescope.board.can import attach  # few runs have one

            attach(machine, can)
        machine.skip_polling(skip_polling)
        if compile_after is not None:
            machine.compile_after(compile_after)
        if before is not None:
            machine.restore(before)
        waits = waits or bool(kept)
        if waits:
            machine.report_waits()
        machine.watch(watched)
        machine.keep_calls(kept, longest_calls)
        machine.watch_calls(list(dict.fromkeys(windows)))
        if profiled is not None:
            machine.profile_functions(profiled, call_sites)
        triggers.add_all(machine, count_when, triggers.COUNT)
        triggers.add_breaks(machine, break_when, gdb)
        snapshots.add_trigger(machine, taken)
        sinks = _Sinks(stop or Stop())
        text = Console(sinks.guarded(console), console_errors)
        streams = Streams(sinks.guarded(stream))
        with (
            timelines.recorded(machine, timeline) as traced,
            waveforms.recorded(machine, dump, frame_on) as recording,
        ):
            started_ns = time.perf_counter_ns()
            printed = (text.write, streams.write, sinks.stop, sinks.guarded(note))
            outcome: dict[str, Any] | None = None
            failed: list[str] = []
            if taken is not None:
                outcome, failed = snapshots.take(
                    machine, taken, lambda at_ps: machine.run_to(at_ps, *printed)
                )
            if outcome is None:
                outcome = attached.run(limit_ps, *printed, gdb, lambda: begin_anew(text, streams))
            failed += snapshots.write_triggered(machine, taken)
            wall_ns = time.perf_counter_ns() - started_ns
            recording.end_ps = outcome["elapsed_ps"]
        text.finish()
        result = run_result(outcome, self.name, firmware, text.text, wall_ns)
        beside = streams.finish()
        notes = (*text.notes("the console"), *streams.notes(), *recording.notes, *traced.notes)
        sinks.raise_first()
        return replace(
            result,
            frame=recording.frame,
            notes=(*result.notes, *notes),
            streams=beside,
            failed_saves=(
                *result.failed_saves,
                *failed,
                *recording.failed_saves,
                *traced.failed_saves,
            ),
            host_work=_host_work(machine, result.cores),
            triggers=triggers.results(machine, result.elapsed_ps),
            profile=(
                None if profiled is None else _profile(machine, result, profiled, waits, call_sites)
            ),
        )

    def debug(
        self,
        console: ConsoleSink | None = None,
        start_from: bytes | str | os.PathLike[str] | None = None,
    ) -> Debugger:
        """The loaded firmware, halted at reset, to be run as a program in Python wants.

        `start_from` is a snapshot of the same board and firmware, or its file: the run is halted
        where that was taken. Raises `EngineError` if nothing is loaded, or for another's snapshot.
        """
        from cyclescope.board.debugger import Debugger  # few runs have one

        before = start_from
        if not isinstance(before, bytes | None):
            before = snapshots.read(before)
        machine = self.start()
        if before is not None:
            machine.restore(before)
        return Debugger(machine, self.name, self._program_name(), console)

    def _program_name(self) -> str:
        """The name of the loaded program; a machine that has started has one."""
        assert self._program is not None
        return self._program.name

    def _check_cores(self, sections: Iterable[str]) -> None:
        """Raises `EngineError` for a function of a core that the board has not."""
        cores = [core["name"] for core in self._description["cores"]]
        for core, colon, name in (section.partition(":") for section in sections):
            # what has two colons is a name of C++
            if colon and core and core not in cores and not name.startswith(":"):
                hint = did_you_mean_or(core, cores, f"it has {', '.join(cores)}")
                raise EngineError(f"the board has no core {core}{hint}")

    def start(self) -> Machine:
        """The machine itself at reset, with the loaded firmware, for who runs it in steps.

        The next run has another one. Raises `EngineError` if nothing is loaded.
        """
        if self._program is None:
            raise EngineError("no firmware is loaded: call load() first")
        machine = self._machine
        if machine is None:
            machine = self._unloaded_machine()
            self._program.load_into(machine, self._core)
        self._machine = None  # a machine runs once; the next run starts from reset
        return machine

    def _unloaded_machine(self) -> Machine:
        """A machine without firmware: the one that described the board, if none went there yet."""
        machine = self._machine
        if self._program is not None or machine is None:
            return Machine(self._tree, self._models)
        # what can't be loaded may leave a part of itself there
        self._machine = None
        return machine


class _Sinks:
    """Who gets what is printed: a sink that fails stops the run, and does not lose it."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self._first: Exception | None = None

    def guarded(self, sink: Callable[..., None] | None) -> Callable[..., None] | None:
        """The sink, of which nothing is raised; after a failure it gets no more."""

        def call(*printed: str) -> None:
            if self._first is not None or sink is None:
                return
            try:
                sink(*printed)
            except Exception as error:
                self._first = error
                self.stop.request()

        return call if sink else None

    def raise_first(self) -> None:
        """Raise what a sink has raised."""
        if self._first is not None:
            raise self._first


def _host_work(machine: Machine, cores: Sequence[CoreResult]) -> tuple[HostWork, ...]:
    facts = zip(cores, machine.compiled(), machine.skipped(), strict=True)
    return tuple(HostWork(core.name, *compiled, skipped) for core, compiled, skipped in facts)


def _profiled(profile: bool | Iterable[str]) -> list[str] | None:
    """The functions whose calls a profile keeps; None if there is to be no profile."""
    if isinstance(profile, bool):
        return [] if profile else None
    return list(dict.fromkeys(profile))


def _profile(
    machine: Machine, result: RunResult, functions: list[str], waits: bool, call_sites: bool
) -> Profile:
    from cyclescope.profile.building import core_profiles  # most runs have none
    from cyclescope.profile.profile import Profile

    cycles = {core.name: core.cycles for core in result.cores}
    found = machine.profile()
    of_cores = core_profiles(found, machine.places, cycles, functions, waits, call_sites)
    return Profile(result.board, result.firmware, result.elapsed_ps, *of_cores)
