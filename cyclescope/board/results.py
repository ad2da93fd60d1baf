"""Results of a run: plain data, with units in the names.

A `RunResult` is one execution of one firmware on one board. This module does not depend on the
engine, on firmware builds or on experiments.

Host time (`wall_ns`) is never part of a comparison or a file: the same run gives the same data on
any machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cyclescope import reprs
from cyclescope.board.observing.critical_path import CriticalPath
from cyclescope.board.observing.frames import Frame
from cyclescope.board.observing.unmodelled import UnmodelledRegister
from cyclescope.board.outcome.kept_calls import FRAME_COLUMNS, Call, frame_row
from cyclescope.board.outcome.stack_entries import StackEntry, WaitEntry
from cyclescope.board.wiring.leds import Led
from cyclescope.dataframes import dataframe
from cyclescope.errors import UsageError

if TYPE_CHECKING:
    import pandas

    from cyclescope.profile.profile import Profile

INTERRUPTED = "interrupted"
"""The outcome of a run that was stopped."""
_METRIC_KEYS = ("metric", "unit", "value")
Value = int | float | str | bool
Settings = Mapping[str, Value]


@dataclass(frozen=True)
class Section:
    """A watched function: its completed calls, and the cycle stack of the time inside them.

    `waits` divides the same time by the events that were waited for, as in `CoreResult`. If the run
    kept the function's calls, `longest_calls` are the longest of them, and `shortest_ps` is the
    time of the shortest, if one has ended.
    """

    name: str
    calls: int
    instructions: int
    stack: tuple[StackEntry, ...]
    waits: tuple[WaitEntry, ...] | None = None
    shortest_ps: int | None = None
    longest_calls: tuple[Call, ...] | None = None

    def __repr__(self) -> str:
        """The section with its sums, for an interpreter."""
        return reprs.short(
            self,
            name=self.name,
            calls=self.calls,
            instructions=self.instructions,
            cycles=self.cycles,
            ps=self.ps,
        )

    @property
    def ps(self) -> int:
        """The time of all completed calls."""
        return sum(entry.ps for entry in self.stack)

    @property
    def cycles(self) -> int:
        """The cycles of all completed calls."""
        return sum(entry.cycles for entry in self.stack)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of a run."""
        return {
            "name": self.name,
            "calls": self.calls,
            "instructions": self.instructions,
            "stack": [vars(entry) for entry in self.stack],
            **_waits(self.waits),
            **self._kept_calls(),
        }

    def _kept_calls(self) -> dict[str, Any]:
        if self.longest_calls is None:
            return {}
        longest = [call.to_dict() for call in self.longest_calls]
        return {"shortest_ps": self.shortest_ps, "longest_calls": longest}


@dataclass(frozen=True)
class ClockRate:
    """A rate of a core's clock, with the cycles and the time at that rate."""

    hz: int
    cycles: int
    ps: int


@dataclass(frozen=True)
class CoreResult:
    """The results of one core in a run.

    `hz` is the rate of its clock at the end; `clock_rates` are all its rates, in order.

    The `ps` of `stack` sum exactly to the run's elapsed time; `sections` are the functions that the
    run was asked to watch. `never_compiled` counts those of its `instructions` that the simulator
    can't compile, and that are slow on the host; it does not depend on the code that was compiled
    in this run.

    `waits` divides the time of `stack` by the events that were waited for; None unless the run
    recorded waits. It has the devices' activities while the core polled or slept ("flash0: page
    program"), the longest first, then the time of other accesses ("access: ddr"), then the core's
    own work ("CPU"). Its `ps` sum exactly to the elapsed time; its `cycles` are each rounded down.
    """

    name: str
    hz: int
    instructions: int
    cycles: int
    stack: tuple[StackEntry, ...]
    sections: tuple[Section, ...] = ()
    never_compiled: int = 0
    clock_rates: tuple[ClockRate, ...] = ()
    waits: tuple[WaitEntry, ...] | None = None

    def __repr__(self) -> str:
        """The core with its sums and the names of its sections, for an interpreter."""
        return reprs.short(
            self,
            name=self.name,
            hz=self.hz,
            instructions=self.instructions,
            cycles=self.cycles,
            stack=reprs.names(entry.cause for entry in self.stack),
            sections=reprs.names(section.name for section in self.sections),
        )

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of a run.

        The clock rates are included only if there was more than one, `waits` only if the run
        recorded them.
        """
        rates = [vars(rate) for rate in self.clock_rates]
        return {
            "name": self.name,
            "hz": self.hz,
            "instructions": self.instructions,
            "cycles": self.cycles,
            "stack": [vars(entry) for entry in self.stack],
            "sections": [section.to_dict() for section in self.sections],
            "never_compiled": self.never_compiled,
            **({"clock_rates": rates} if len(rates) > 1 else {}),
            **_waits(self.waits),
        }


def _waits(waits: tuple[WaitEntry, ...] | None) -> dict[str, Any]:
    return {} if waits is None else {"waits": [vars(entry) for entry in waits]}


@dataclass(frozen=True)
class Window:
    """A call of a watched function, with the results of every core from its begin to its end.

    Times are simulated time in picoseconds. `sections` of `cores` count the calls that ended within
    the window. A core other than the caller may be counted with an error of up to the engine's
    quantum (1 us). If the run recorded waits, `waits` of cores and sections divide the same time: a
    wait across the window's begin or end is split there.
    """

    section: str
    begin_ps: int
    end_ps: int
    cores: tuple[CoreResult, ...]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of a run."""
        cores = [core.to_dict() for core in self.cores]
        return vars(self) | {"cores": cores}


@dataclass(frozen=True)
class Metric:
    """One result that the firmware printed on its console as a JSON line.

    `settings` are the settings of this measurement, if one run measures with several.
    """

    name: str
    unit: str
    value: int | float
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class HostWork:
    """The simulator's work for a core on this host; it may differ from run to run.

    `compiled` counts regions of code that were compiled to host code, `refused` regions that could
    not be. `skipped_cycles` are cycles of the core in iterations of polling loops that were
    fast-forwarded.
    """

    core: str
    compiled: int
    refused: int
    skipped_cycles: int


@dataclass(frozen=True)
class TriggerResult:
    """The results of a condition in a run.

    The condition became true `count` times, at `first_ps` first and at `last_ps` last, and was true
    for `true_ps` in all. `action` is "count", "snapshot" or "trace".
    """

    condition: str
    action: str
    count: int
    first_ps: int | None
    last_ps: int | None
    true_ps: int

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of a run."""
        return dict(vars(self))


@dataclass(frozen=True)
class RunResult:
    """One execution of one firmware on one virtual board.

    `outcome` is "exit" (the firmware ended by itself, with `exit_code`), "limit" (the limit on
    simulated time was reached), "asleep" (all cores sleep, and no event is left that would wake
    one), "fault" (a fault of the firmware ended the run), "script" (a script did not receive the
    text that it expected) or "interrupted" (the run was stopped); `message` is one line for all but
    the first. `elapsed_ps` is simulated time in picoseconds, `wall_ns` the host's time in
    nanoseconds. `results` has the words that the firmware wrote to each `cyclescope,result-port`,
    in order, by the device's label. `streams` has the output of serial lines other than the
    console, by the device's label. `frame` is the frame that the run kept on request. `windows` are
    the recorded calls of functions, in the order of their ends. `failed_saves` has one sentence for
    each file on the host that could not be written: images of chips, waveforms. `unmodelled` are
    the registers without a model that the firmware used. `host_work` has the amounts of each core's
    code that were compiled or skipped on this host. `profile` is present if the run recorded it;
    `to_dict` leaves it out. `critical_path` shows which core waited for which, if the run recorded
    waits. `triggers` are the results of conditions. `leds` are the board's LEDs, with their
    activity.
    """

    board: str
    firmware: str
    outcome: str
    exit_code: int | None
    message: str | None
    elapsed_ps: int
    console: str
    cores: tuple[CoreResult, ...]
    counters: Mapping[str, int]
    notes: tuple[str, ...] = ()
    wall_ns: int = field(default=0, compare=False)
    results: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    frame: Frame | None = None
    streams: Mapping[str, str] = field(default_factory=dict)
    windows: tuple[Window, ...] = ()
    failed_saves: tuple[str, ...] = ()
    unmodelled: tuple[UnmodelledRegister, ...] = ()
    host_work: tuple[HostWork, ...] = field(default=(), compare=False)
    profile: Profile | None = None
    critical_path: CriticalPath | None = None
    triggers: tuple[TriggerResult, ...] = ()
    leds: tuple[Led, ...] = ()

    def __repr__(self) -> str:
        """The outcome and a summary, in a few lines."""
        return reprs.short(
            self,
            board=self.board,
            firmware=self.firmware,
            outcome=self.outcome,
            exit_code=self.exit_code,
            message=self.message,
            elapsed_ps=self.elapsed_ps,
            cycles=self.cycles,
            instructions=self.instructions,
            cores=[core.name for core in self.cores],
            sections=reprs.names(one.name for core in self.cores for one in core.sections),
            metrics=reprs.names(metric.name for metric in self.metrics),
            console=f"{len(self.console.splitlines()):,} lines",
            notes=len(self.notes),
        )

    @property
    def instructions(self) -> int:
        """Instructions retired by all cores."""
        return sum(core.instructions for core in self.cores)

    @property
    def cycles(self) -> int:
        """Clock cycles of all cores."""
        return sum(core.cycles for core in self.cores)

    @property
    def cycle_stack(self) -> dict[str, tuple[StackEntry, ...]]:
        """The cycle stack of each core, by the core's name."""
        return {core.name: core.stack for core in self.cores}

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The results that the firmware printed, in order."""
        return tuple(parse_metrics(self.console))

    def core(self, name: str) -> CoreResult:
        """The core of this name. Raises `UsageError`, with the names of the run's cores."""
        return _named(name, "core", {core.name: core for core in self.cores})

    def section(self, name: str) -> Section:
        """The watched function of this name; "cm4:main" names the core, too.

        Raises `UsageError`, with the watched functions.
        """
        found: dict[str, Section] = {}
        for core in self.cores:
            for section in core.sections:
                found[f"{core.name}:{section.name}"] = section
                found.setdefault(section.name, section)
        hint = "; sections=[...] of the run names those that it watches"
        return _named(name, "section", found, "" if found else hint)

    def led(self, name: str) -> Led:
        """The LED with this label. Raises `UsageError`, with the board's LEDs."""
        return _named(name, "light", {led.label: led for led in self.leds})

    def metric(self, name: str, **settings: Value) -> Metric:
        """The first printed metric of this name, with these settings.

        Raises `UsageError`, with the metrics that the firmware printed.
        """
        for metric in self.metrics:
            if metric.name == name and settings.items() <= metric.settings.items():
                return metric
        known = {_label(metric.name, metric.settings): metric for metric in self.metrics}
        return _named(_label(name, settings), "metric", known)

    def to_dict(self) -> dict[str, Any]:
        """Everything but host time and the console, ready for JSON, in a stable order.

        `frame`, `windows`, `triggers` and `critical_path` are included only if they were requested;
        `streams`, `failed_saves` and `unmodelled` only if they are not empty; `leds` only if one
        went on or off.
        """
        leds = [led.to_dict() for led in self.leds] if any(led.moved for led in self.leds) else []
        frame = {"frame": self.frame.to_dict()} if self.frame else {}
        windows = {"windows": [window.to_dict() for window in self.windows]} if self.windows else {}
        streams = {"streams": dict(self.streams)} if self.streams else {}
        unmodelled = [one.to_dict() for one in self.unmodelled]
        found = [one.to_dict() for one in self.triggers]
        failed = {"failed_saves": list(self.failed_saves)} if self.failed_saves else {}
        path = {"critical_path": self.critical_path.to_dict()} if self.critical_path else {}
        return {
            "board": self.board,
            "firmware": self.firmware,
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "message": self.message,
            "elapsed_ps": self.elapsed_ps,
            "cores": [core.to_dict() for core in self.cores],
            "counters": dict(sorted(self.counters.items())),
            "results": {name: list(words) for name, words in self.results.items()},
            "metrics": [vars(metric) for metric in self.metrics],
            "notes": list(self.notes),
            **({"leds": leds} if leds else {}),
            **({"unmodelled": unmodelled} if unmodelled else {}),
            **failed,
            **streams,
            **frame,
            **windows,
            **path,
            **({"triggers": found} if found else {}),
        }

    def calls(self) -> pandas.DataFrame:
        """The single calls that the run kept, as a pandas DataFrame with one row for each call.

        `call` is its number among its function's calls. After `ps`, the call's time, there is a
        column for each kind of wait, in picoseconds. Raises `ImportError` as `to_dataframe` does.
        """
        rows = [
            {"core": core.name, "function": section.name} | frame_row(call)
            for core in self.cores
            for section in core.sections
            for call in section.longest_calls or ()
        ]
        return dataframe(rows, FRAME_COLUMNS)

    def to_dataframe(self) -> pandas.DataFrame:
        """The cycle stacks as a pandas DataFrame, with one row for each core and cause.

        Raises `ImportError`, with the command to install it, if pandas is not installed.
        """
        rows = [
            {"core": core.name, "cause": entry.cause, "cycles": entry.cycles, "ps": entry.ps}
            for core in self.cores
            for entry in core.stack
        ]
        return dataframe(rows, ["core", "cause", "cycles", "ps"])


def _label(name: str, settings: Settings) -> str:
    return " ".join([name, *(f"{key}={value}" for key, value in settings.items())])


def _named(name: str, what: str, known: Mapping[str, Any], hint: str = "") -> Any:
    """The item of this name. Raises `UsageError`, with the known names."""
    if name not in known:
        raise UsageError(f"the run has no {what} {name}; it has {', '.join(known) or 'none'}{hint}")
    return known[name]


def parse_metrics(console: str) -> Iterator[Metric]:
    """The metrics among a console's lines: JSON objects with metric, unit and value.

    All other members of an object are settings of that measurement.
    """
    for line in console.splitlines():
        if not line.startswith("{"):
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        value = found.get("value")
        if isinstance(found.get("metric"), str) and _is_number(value):
            settings = {
                name: setting
                for name, setting in found.items()
                if name not in _METRIC_KEYS and isinstance(setting, int | float | str)
            }
            yield Metric(found["metric"], str(found.get("unit", "")), value, settings)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
