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
from cyclescope.board.description.devicetree import Node, refuse_host_files
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
    """A virtual board; the constructor checks the whole description.

    The board has the Python devices that are registered when it is constructed
    (`cyclescope.device`).

    `name_or_path` is a shipped board's name or the path of a .dts; `overrides` maps paths such as
    "spi0.clock-frequency" to values. With `unmapped` "warn", accesses to unmapped addresses are
    answered with 0 and listed in the result; with "fault" they are bus faults; the default is the
    board's own choice. `svd` is a CMSIS-SVD file: each of its peripherals without a model on the
    board becomes a `cyclescope,stub` with the file's registers.

    Raises `UsageError` if there is no such board, `BoardError` with all errors of the description,
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
        self._program_files: dict[str, str] = {}
        self._images = [(label, str(image)) for label, image in self._machine.images()]
        self._sources = dict.fromkeys(users_devices.files(), "a device in Python")
        self._sources |= dict.fromkeys(tree.files, "the board")
        self._check_images(self._sources)

    def describe(self) -> dict[str, Any]:
        """Model, cores, clocks, memory map, devices and parameters, as plain data."""
        return copy.deepcopy(self._description)

    @property
    def serial_ports(self) -> tuple[list[str], str | None]:
        """Labels of the serial ports that can receive, and the console's label, if known."""
        return self._serial_ports

    @property
    def tree(self) -> Node:
        """The devicetree of the board, with the overrides; a copy."""
        return self._root.copied()

    @property
    def pins(self) -> Pins:
        """The board's GPIO ports, LEDs and buttons, by the names that scripts use."""
        return Pins.of(self._loaded_machine() if self._program else self._unloaded_machine())

    @property
    def pin_uses(self) -> tuple[PinUse, ...]:
        """Uses of the ports' pins: the parts and signals that are connected to them."""
        return pin_uses(self._tree, self.pins.ports)

    @property
    def pin_functions(self) -> dict[str, tuple[str, ...]]:
        """The peripheral signals that each pin can carry, with their alternate functions."""
        return pin_functions(self._tree)

    @property
    def interrupts(self) -> list[interrupt_lines.Line]:
        """The interrupts of devices: device, interrupt controller, and interrupt number."""
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
        """The Python device with this node label, in its state after the last run.

        Each run makes a new object. Raises `UsageError` if there is no Python device with that
        label.
        """
        if label not in self._devices:
            known = ", ".join(self._devices) or "none"
            raise UsageError(f"there is no device in Python called {label!r}: there is {known}")
        return self._devices[label]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the description: values that weaken the results, and probable mistakes.

        Warnings are for values without a source, for values outside their plausible range (one line
        for each of the two kinds), and for caches that no memory can use.
        """
        return (*parameters.warnings(self.parameters, self._path), *self._description["warnings"])

    @property
    def inputs(self) -> dict[str, str]:
        """The files that a run must not overwrite, each with a description.

        Inputs are the sources of the board, the loaded firmware, and the images of chips.
        """
        firmware = {} if self._elf is None else {self._elf: "the firmware"}
        firmware |= self._program_files
        images = {image: f"the image of {label}" for label, image in self._images}
        return self._sources | firmware | images

    def _check_images(self, inputs: Mapping[str, str]) -> None:
        """Raises `UsageError` if a chip would write its image over an input."""
        for label, image in self._images:
            for path, what in inputs.items():
                if outputs.is_same(image, path):
                    raise UsageError(f"{image}: this file is {what}: give {label} another image")

    def load(
        self,
        elf: str | os.PathLike[str] | bytes,
        base: int | None = None,
        entry: int | None = None,
        core: str | None = None,
    ) -> Board:
        """Load a program, from a path or from its bytes; returns the board itself.

        The program is an ELF, Intel HEX, S-record or UF2 file, or a raw binary for the address
        `base`. A Cortex-M starts at its reset vector, other cores at the file's entry point; a file
        without headers starts at `entry`, if given. The program runs on `core`, by default on the
        first core that it fits; if that is not the board's first core, it runs alone. Raises
        `ElfError` if the file is not an executable for this board; `UsageError` if it is not a
        regular file, is larger than 512 MiB or damaged, or is the image of a chip; `EngineError` if
        there is no such core; `OSError` if it can't be read.
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

    def load_program(
        self,
        program: Program,
        core: str | None = None,
        files: Mapping[str, str] | None = None,
    ) -> None:
        """Load a program that has been read. Raises `ElfError` and `EngineError` as `load` does.

        `files` are the files that it was made from, each with a description.
        """
        self._check_images(files or {})
        machine = self._unloaded_machine()
        program.load_into(machine, core)
        self._machine = machine
        self._program, self._core, self._elf = program, core, None
        self._program_files = dict(files or {})

    def _room(self, base: int) -> int:
        """The number of mapped bytes from an address on."""
        end = base
        for place in sorted(self._map(), key=lambda place: int(place["base"])):
            if place["base"] <= end < place["base"] + place["size"]:
                end = place["base"] + place["size"]
        return end - base

    def _meant_base(self, file: str | os.PathLike[str] | bytes) -> str:
        """A hint on a raw binary's load address; "" if unknown or if the file has addresses."""
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
        """The segments of the loaded firmware, and of the programs that it contains."""
        if self._machine is None:
            return ()
        names = [core["name"] for core in self._description["cores"]]
        segments = self._machine.loaded()
        return tuple(LoadedSegment(names[core], *segment) for core, *segment in segments)

    def places(self, core: str, addresses: Iterable[int]) -> list[list[PlaceFrame]]:
        """The source lines of addresses in the loaded firmware, from the ELF's debug information.

        Each address has a list of function, file, line and column: the innermost inlined function
        first. Raises `EngineError` if nothing is loaded, or there is no such core.
        """
        return self._loaded_machine().places(core, list(addresses))

    def functions(self, core: str) -> list[tuple[int, int, str]]:
        """The functions of a core's program, from the ELF: address, bytes, name.

        Names are demangled. Raises `EngineError` as `places` does.
        """
        return self._loaded_machine().functions(core)

    def _loaded_machine(self) -> Machine:
        """The machine for the next run, with firmware loaded."""
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
        `console` is called with each chunk of the console's text; the run waits until it returns.
        `console_errors` is the `errors` argument of `bytes.decode` for bytes that are not UTF-8:
        "surrogateescape" keeps them all. The result keeps the first 16 MiB of the console and of
        each stream. Each function named in `sections` gets its own cycle stack; "cm4:main" names a
        function of another core than the first. The result has a window for each call of the first
        core's functions named in `windows`. Without `skip_polling`, every iteration of polling
        loops is run: that takes longer and changes nothing else. `waves` is a file for waveforms of
        the board's wires (SPI buses, interrupt and control lines) and of the activity of its
        devices (busy, interrupts, transfers): a Value Change Dump (`.vcd`) or a Fast Signal Trace
        (`.fst`); `vcd` is a Value Change Dump with any file name. `vcd_signals` are patterns such
        as "spi0.*" of the signals to record, and `vcd_timescale` is the file's unit of time, such
        as "10ns" [default: the coarsest exact one]. `trace` is a file for a Perfetto timeline of
        devices and cores: from `trace_from` on, for `trace_for`, with the kinds of activity in
        `trace_kinds` (`timelines.KINDS`; "default" for all but "bus", "queue", "pin" and "reads in
        place"), and the most recent records that fit in `trace_memory` ("64MiB"). The result keeps
        the first frame on the SPI bus with the label `frame_on`, or the frame that a `Trigger`
        selects. `stream` is called with each whole line that is printed on a serial line other than
        the console: the device's label, then the line. `stop` ends the run early, from another
        thread or a signal handler: its outcome is then "interrupted". `note` is called during the
        run with those notes of the result that say why the run is slow. Code that ran
        `compile_after` times (0 to 65535; 0: never) is compiled for the host, and the run waits for
        the compiler; without a number, a thread compiles frequently executed code. The result is
        the same.

        Semihosting gives the firmware the files of `semihosting_dir`, the standard input `stdin`
        (bytes, or an open binary file), and a command line of its name and `arguments`.

        `typed` is sent on the console's serial line from time 0 on, at the line's rate; `script`
        sends and expects text at given times (`cyclescope.board.scripts`). A mapping from ports'
        labels names other serial lines as well. `terminals` connects lines to interactive terminals
        in the same way: simulated time then runs no faster than the host's unless `pace` is false,
        and `session` records the input. A script whose expected text does not arrive ends the run
        with the outcome "script". `can` maps the labels of controllers to nodes on CAN buses
        (`cyclescope.board.can`).

        With `profile` the result's `profile` has each cycle by call path, instruction and cause;
        profiling does not change the number of cycles. If `profile` names functions ("cm4:main" for
        another core than the first), it also has the time of each of their calls. With `call_sites`
        the profile distinguishes calls of a function by their call sites (`Profile.by_call_site`).
        With `waits` the time of each core, of each section and of each call path of a profile is
        also divided by the events that were waited for, and the result's `critical_path` shows
        which core waited for which. `waits` can make polling up to 4 times slower to simulate, and
        changes nothing else. Functions named in `calls` are watched like those of `sections`, with
        `waits`; the `longest_calls` (1 to 10000) of each function are kept with their waits,
        arguments and callers.

        `gdb` is a debugger (`cyclescope.host.gdb_port`) that controls the machine from reset on,
        until it detaches.

        `snapshot` is a file for the board's state at the time `snapshot_at`; `start_from` is such a
        file, or its bytes, of the same board and firmware: the run continues from there, with the
        same end as a run from reset. Recording starts there; functions that were watched before
        stay watched. A line whose other end had nothing connected in the snapshot's run may have
        `typed`, a `script` or a terminal, from the snapshot's time on.

        Conditions are described in docs/how-to/conditions.md. The result's `triggers` has, for each
        condition in `count_when`, how often it became true, when, and for how long. When a
        condition in `break_when` becomes true, the run halts for `gdb`. The timeline starts when
        `trace_when` becomes true, and the snapshot is taken when `snapshot_when` does.

        An exception in a callback also stops the run, and is raised after all files are written.
        Raises `EngineError` if no firmware is loaded, the firmware has no such function, or the
        board has no such bus; `UsageError` for invalid patterns, file endings, units and numbers;
        `OutputError` if a file can't be written; `BoardError` if another run uses an image of the
        board; `OSError` if there is no such folder. Files that could not be written at the end of
        the run are in the result's `failed_saves`.
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
            kept_files = {
                **self.inputs,
                os.fspath(start_from): "the snapshot that the run starts from",
            }
        outputs.check_outputs(written, kept_files)
        if taken is not None and terminals:
            raise UsageError("no snapshot can be taken while people type (--console)")
        machine = self.start()
        firmware = self._program_name()
        Hosted(semihosting_dir, stdin, arguments).give_to(machine, firmware)
        lines = Lines.of(typed, script, terminals, pace, session)
        has_begun = before is not None and not can and snapshots.has_restored(machine, before)
        attached = lines.attach(machine)
        if can:
            from cyclescope.board.can import attach  # few runs have one

            attach(machine, can)
        machine.skip_polling(skip_polling)
        if compile_after is not None:
            machine.compile_after(compile_after)
        if before is not None and not has_begun:
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
        """A debugger for the loaded firmware, halted at reset and controlled from Python.

        `start_from` is a snapshot of the same board and firmware, or its file: the run is halted at
        the snapshot's time. Raises `EngineError` if no firmware is loaded, or if the snapshot is
        from another board or firmware.
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
        """The name of the loaded program; a machine that has started always has one."""
        assert self._program is not None
        return self._program.name

    def _check_cores(self, sections: Iterable[str]) -> None:
        """Raises `EngineError` for a function of a core that the board has not."""
        cores = [core["name"] for core in self._description["cores"]]
        for core, colon, name in (section.partition(":") for section in sections):
            # two colons: a C++ name, without a core
            if colon and core and core not in cores and not name.startswith(":"):
                hint = did_you_mean_or(core, cores, f"it has {', '.join(cores)}")
                raise EngineError(f"the board has no core {core}{hint}")

    def start(self) -> Machine:
        """The machine itself at reset, with the loaded firmware, for callers that run it in steps.

        The next run uses another machine. Raises `EngineError` if no firmware is loaded.
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
        """A machine without firmware: the one that described the board, if it is unused."""
        machine = self._machine
        if self._program is not None or machine is None:
            return Machine(self._tree, self._models)
        # a program that fails to load may leave a part of itself in memory
        self._machine = None
        return machine


class _Sinks:
    """The callbacks for output: an exception in one stops the run, and keeps the result."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self._first: Exception | None = None

    def guarded(self, sink: Callable[..., None] | None) -> Callable[..., None] | None:
        """A sink that keeps an exception for `raise_first`, and is not called again after it."""

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
        """Raise the first exception of a sink, if any."""
        if self._first is not None:
            raise self._first


def _host_work(machine: Machine, cores: Sequence[CoreResult]) -> tuple[HostWork, ...]:
    facts = zip(cores, machine.compiled(), machine.skipped(), strict=True)
    return tuple(HostWork(core.name, *compiled, skipped) for core, compiled, skipped in facts)


def _profiled(profile: bool | Iterable[str]) -> list[str] | None:
    """The functions whose calls a profile keeps; None without a profile."""
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
