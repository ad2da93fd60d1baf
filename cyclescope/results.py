"""What a run and an experiment give back: plain data, with units in the names.

A `RunResult` is one execution of one firmware on one board. An `ExperimentResult` is a table of
`Row`s made from the metrics that the firmware printed, beside the published numbers. Nothing here
knows how the engine works, how firmware is built or how a report looks.

Host time (`wall_ns`) never takes part in a comparison or in a file: the same run gives the same
data on any machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cyclescope.frames import Frame

if TYPE_CHECKING:
    import pandas

    from cyclescope.views import Frames, Pivot, Sweep

PREDICTED = "predicted"
CALIBRATED = "calibrated"
ASSUMED = "assumed"
UNSTATED = "unstated"
UNPUBLISHED = "unpublished"
DERIVED = "derived"

INTERRUPTED = "interrupted"
"""The outcome of a run that was stopped."""

_METRIC_KEYS = ("metric", "unit", "value")

Value = int | float | str | bool
Settings = Mapping[str, Value]


@dataclass(frozen=True)
class StackEntry:
    """One cause of a cycle stack and the time charged to it."""

    cause: str
    cycles: int
    ps: int


@dataclass(frozen=True)
class Section:
    """A watched function: its completed calls, and the cycle stack of the time inside them."""

    name: str
    calls: int
    instructions: int
    stack: tuple[StackEntry, ...]


@dataclass(frozen=True)
class CoreResult:
    """What one core did in a run.

    The `ps` of `stack` sum exactly to the run's elapsed time; `sections` are the functions that
    the run was asked to watch.
    """

    name: str
    hz: int
    instructions: int
    cycles: int
    stack: tuple[StackEntry, ...]
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True)
class Window:
    """A call of a watched function, and what every core did from its begin to its end.

    Times are simulated time in picoseconds. `sections` of `cores` count the calls that ended within
    the window. A core other than the caller may be counted up to the engine's quantum (1 us) off.
    """

    section: str
    begin_ps: int
    end_ps: int
    cores: tuple[CoreResult, ...]


@dataclass(frozen=True)
class Metric:
    """One result that the firmware printed on its console as a JSON line.

    `settings` are the settings that it was measured in, where one run measures in several.
    """

    name: str
    unit: str
    value: int | float
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class RunResult:
    """One execution of one firmware on one virtual board.

    `outcome` is "exit" (the firmware ended by itself, with `exit_code`), "limit" (the limit on
    simulated time was reached), "fault" (the firmware did what can't go on) or "interrupted" (it
    was stopped); `message` is one line for all but the first. `elapsed_ps` is simulated time in
    picoseconds, `wall_ns` the host's time in nanoseconds. `results` has the words that the firmware
    wrote to each device that takes results (a `cyclescope,result-port`), in order, by the device's
    label. `streams` has what was printed on serial lines beside the console, by the device's label.
    `frame` is the first one on an SPI bus if the run was asked to keep it. `windows` are the calls
    of functions that it was asked to keep, in the order of their ends. `failed_saves` says, in a
    sentence each, which files on the host could not be written: images of chips, waveforms.
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

    def to_dict(self) -> dict[str, Any]:
        """Everything but host time and the console, ready for JSON, in a stable order.

        There are a `frame` and `windows` only if the run was asked for them, and there are
        `streams` only if something was printed there, `failed_saves` only if there are some.
        """
        frame = {"frame": self.frame.to_dict()} if self.frame else {}
        windows = {"windows": [asdict(window) for window in self.windows]} if self.windows else {}
        streams = {"streams": dict(self.streams)} if self.streams else {}
        failed = {"failed_saves": list(self.failed_saves)} if self.failed_saves else {}
        return {
            "board": self.board,
            "firmware": self.firmware,
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "message": self.message,
            "elapsed_ps": self.elapsed_ps,
            "cores": [
                {
                    "name": core.name,
                    "hz": core.hz,
                    "instructions": core.instructions,
                    "cycles": core.cycles,
                    "stack": [vars(entry) for entry in core.stack],
                    "sections": [asdict(section) for section in core.sections],
                }
                for core in self.cores
            ],
            "counters": dict(sorted(self.counters.items())),
            "results": {name: list(words) for name, words in self.results.items()},
            "metrics": [vars(metric) for metric in self.metrics],
            "notes": list(self.notes),
            **failed,
            **streams,
            **frame,
            **windows,
        }

    def to_dataframe(self) -> pandas.DataFrame:
        """The cycle stacks as a pandas DataFrame, a line a core and cause.

        Raises `ImportError`, saying what to install, where pandas is absent.
        """
        rows = [
            {"core": core.name, "cause": entry.cause, "cycles": entry.cycles, "ps": entry.ps}
            for core in self.cores
            for entry in core.stack
        ]
        return _dataframe(rows, ["core", "cause", "cycles", "ps"])


@dataclass(frozen=True)
class Parameter:
    """A timing parameter of a board, with where its value comes from; or a choice of an experiment.

    `basis` is "documented" (a document about this very part gives the number), "derived" (worked
    out from documents; `source` shows the sum), "assumed" (estimated, chosen, or as of a sibling;
    `plausible` has the values that it may have), "calibrated" (chosen or kept because published
    cells came out; `source` names one), "override" for a value that the user set, or "unstated".
    `plausible` is "2 to 8" or "4 or 8", in `unit`; empty where the board doesn't say, and "or X"
    for a choice whose alternative is X. `at` is where the board has the value, FILE:LINE.
    """

    node: str
    label: str
    property: str
    value: str
    unit: str
    source: str
    basis: str
    plausible: str = ""
    at: str = field(default="", compare=False)

    @property
    def is_span(self) -> bool:
        """Whether all values between the plausible ones are plausible, too."""
        return " to " in self.plausible

    @property
    def plausible_values(self) -> tuple[int, ...]:
        """The ends of the plausible span, or the alternatives; empty where none are stated."""
        words = self.plausible.replace(" to ", " or ").split(" or ")
        return tuple(map(int, words)) if self.plausible else ()

    @property
    def has_plausible_value(self) -> bool:
        """Whether its value is one that its own source calls plausible, or the source says none."""
        named = self.plausible_values
        if not named:
            return True
        value = int(self.value)
        return named[0] <= value <= named[1] if self.is_span else value in named

    @property
    def owner(self) -> str:
        """What people call the node that it belongs to."""
        return self.label or self.node


@dataclass(frozen=True)
class Omission:
    """What the model leaves out, and why it may matter.

    `effect_pct` is by how much it may move the `cells` (in words), in percent; `estimate` says how
    that was found: a sum, or an experiment.
    """

    what: str
    why: str
    effect_pct: float
    cells: str
    estimate: str


@dataclass(frozen=True)
class RunRecord:
    """A run of an experiment: its configuration, and its result or the reason it has none.

    `settings` holds app settings by name and board overrides by path; those that are `implied` just
    have their app's default.
    """

    label: str
    app: str
    board: str
    settings: Settings
    result: RunResult | None
    error: str | None = None
    implied: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One line of an experiment's table.

    `label` names the cell in words ("quad write"); `published` is None where the document has no
    such number, and `error_pct` then too; `basis` is "predicted", "calibrated" or "unpublished", or
    "derived" where the row follows from others (a ratio of two) and is no cell of its own.
    A cell is calibrated if it rests on anything calibrated (`influence`), which `calibrated_by`
    names. `interval_pct` is how far the plausible values of what is assumed move it, down and up,
    in percent of the simulated value. `counts_as` names the independent number that a published
    cell stands for; it is empty for a cell that follows from others.
    `timed` names the functions whose time the metric holds; none stands for the whole run.
    `pivot` and `sweeps` say how it is shown where it is one of many. `digits` is how many
    significant digits the document prints of `published`, if it rounds ("2E+05"); None for all.
    `parts` tells the measured time apart by what the cores did, where the experiment asks for that.
    """

    experiment: str
    board: str
    settings: Settings
    metric: str
    unit: str
    simulated: int | float
    published: int | float | None
    basis: str
    label: str
    run: RunRecord = field(repr=False)
    timed: tuple[str, ...] = ()
    pivot: Pivot | None = field(default=None, repr=False)
    sweeps: tuple[Sweep, ...] = field(default=(), repr=False)
    digits: int | None = None
    parts: tuple[StackEntry, ...] = field(default=(), repr=False)
    calibrated_by: tuple[str, ...] = ()
    interval_pct: tuple[float, float] | None = None
    counts_as: str = ""

    def following(self, **changes: Any) -> Row:
        """A row that is made of this one: it neither counts nor rests on anything as this does."""
        own = {"calibrated_by": (), "interval_pct": None, "counts_as": ""}
        return replace(self, **(own | changes))

    @property
    def interval(self) -> tuple[float, float] | None:
        """What the simulated value may be, for all that is assumed: from, to."""
        if self.interval_pct is None:
            return None
        low, high = (self.simulated * (1 + pct / 100) for pct in self.interval_pct)
        return _rounded(low), _rounded(high)

    @property
    def is_inside(self) -> bool | None:
        """Whether the published number lies in the interval; None where there is none of either."""
        if self.published is None or self.interval is None:
            return None
        low, high = self.interval
        half = 0.0 if self.digits is None else _half_of_last_digit(self.published, self.digits)
        return low - half <= self.published <= high + half

    @property
    def is_exact(self) -> bool:
        """Whether the simulated value is the published one, to the last digit that was printed."""
        if self.digits is None or self.published is None:
            return self.simulated == self.published
        return _to_digits(self.simulated, self.digits) == _to_digits(self.published, self.digits)

    @property
    def told_settings(self) -> Settings:
        """The settings that people are told: not those that just have their app's default."""
        implied = self.run.implied
        return {name: value for name, value in self.settings.items() if name not in implied}

    @property
    def printed(self) -> str:
        """The published value as the document prints it."""
        if self.digits is None or self.published is None:
            return "" if self.published is None else str(self.published)
        return _to_digits(self.published, self.digits)

    @property
    def stack(self) -> tuple[StackEntry, ...]:
        """Its parts, or else the cycle stack of what its metric times, on the first core.

        A row that follows from others times nothing.
        """
        if self.parts:
            return self.parts
        if self.run.result is None or self.basis == DERIVED:
            return ()
        core = self.run.result.cores[0]
        if not self.timed:
            return core.stack
        return _sum(section.stack for section in core.sections if section.name in self.timed)

    @property
    def error_pct(self) -> float | None:
        """The simulated value's deviation from the published one, in percent of the latter."""
        if not self.published:
            return None
        if self.digits is not None:
            return self._rounded_error_pct(self.published, self.digits)
        return round((self.simulated - self.published) / self.published * 100, 3)

    def _rounded_error_pct(self, published: float, digits: int) -> float:
        """How far the simulated value is from those that the document would print alike."""
        half = _half_of_last_digit(published, digits)
        nearest = min(max(self.simulated, published - half), published + half)
        return round((self.simulated - nearest) / nearest * 100, 3)

    def to_dict(self) -> dict[str, Any]:
        """The row as the JSON of `cyclescope bench` has it."""
        low, high = self.interval or (None, None)
        return {
            "experiment": self.experiment,
            "board": self.board,
            "label": self.label,
            "settings": dict(self.settings),
            "metric": self.metric,
            "unit": self.unit,
            "simulated": self.simulated,
            "published": self.published,
            "error_pct": self.error_pct,
            "basis": self.basis,
            "calibrated_by": list(self.calibrated_by),
            "interval_low": low,
            "interval_high": high,
        }


@dataclass(frozen=True)
class Parts:
    """How the time of a metric is told apart by functions, over all cores.

    `call` is the function of the first core whose calls were measured, one for each result in
    turn. `functions` are pairs of a function ("cm4:main" is another core's) and what people call
    its part; no two of them run at the same time. What is in none of them is the `rest`.
    """

    call: str
    functions: tuple[tuple[str, str], ...]
    rest: str

    def of(self, window: Window) -> tuple[StackEntry, ...]:
        """The parts of a call, in picoseconds and the first core's cycles; they sum to its time."""
        whole_ps, hz = window.end_ps - window.begin_ps, window.cores[0].hz
        found = [(words, self._ps(window, function)) for function, words in self.functions]
        rest = (self.rest, whole_ps - sum(ps for _, ps in found))
        return tuple(StackEntry(words, ps * hz // 10**12, ps) for words, ps in (*found, rest))

    def _ps(self, window: Window, function: str) -> int:
        core_name, _, name = function.rpartition(":")
        return sum(
            entry.ps
            for core in window.cores
            for section in core.sections
            if core.name == (core_name or window.cores[0].name) and section.name == name
            for entry in section.stack
        )


@dataclass(frozen=True)
class ExperimentResult:
    """An experiment's table, the runs behind it, and the parameters of its boards.

    `source` cites the published document, whose numbers are `exact` if they come from the
    hardware's own description; `notes` say what a reader must know to judge the comparison;
    `parameters` maps a board's name to its timing parameters; `choices` are what the experiment
    itself assumed or fitted; `left_out` is what the model lacks, the largest effect first; `frames`
    says how the frames are shown that runs kept.
    `question` is what a firmware engineer would ask, and `answer` what the rows say to it in a
    sentence; it is empty if they don't tell.
    """

    name: str
    title: str
    source: str
    notes: tuple[str, ...]
    rows: tuple[Row, ...]
    runs: tuple[RunRecord, ...]
    parameters: Mapping[str, tuple[Parameter, ...]]
    exact: bool = False
    choices: tuple[Parameter, ...] = ()
    left_out: tuple[Omission, ...] = ()
    frames: Frames | None = None
    question: str = ""
    answer: str = ""

    @property
    def failures(self) -> tuple[RunRecord, ...]:
        """The runs that gave no result."""
        return tuple(run for run in self.runs if run.error is not None)

    def to_dataframe(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame, a column a setting.

        Raises `ImportError`, saying what to install, where pandas is absent.
        """
        return _dataframe([flat_row(row) for row in self.rows])


def flat_row(row: Row) -> dict[str, Any]:
    """A row as one level of columns; settings come as `settings.<name>`."""
    columns = row.to_dict()
    columns["calibrated_by"] = "; ".join(row.calibrated_by)
    settings = columns.pop("settings")
    return columns | {f"settings.{name}": value for name, value in settings.items()}


def parse_metrics(console: str) -> Iterator[Metric]:
    """The results among a console's lines: JSON objects with metric, unit and value.

    What else an object has are settings of that one measurement.
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


def _sum(stacks: Iterable[Iterable[StackEntry]]) -> tuple[StackEntry, ...]:
    """Stacks added up, cause by cause, in the order of first occurrence."""
    totals: dict[str, StackEntry] = {}
    for stack in stacks:
        for entry in stack:
            sofar = totals.get(entry.cause, StackEntry(entry.cause, 0, 0))
            cycles, ps = sofar.cycles + entry.cycles, sofar.ps + entry.ps
            totals[entry.cause] = StackEntry(entry.cause, cycles, ps)
    return tuple(totals.values())


def _to_digits(value: float, digits: int) -> str:
    """A value rounded to so many significant digits: "2E+05"."""
    return f"{value:.{digits - 1}E}"


def _half_of_last_digit(value: float, digits: int) -> float:
    """Half of the last of so many significant digits of a value."""
    return 10 ** (math.floor(math.log10(abs(value))) - digits + 1) / 2


def _rounded(value: float) -> float:
    """An end of an interval: six significant digits are more than it has."""
    return float(f"{value:.6g}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _dataframe(rows: list[dict[str, Any]], columns: list[str] | None = None) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError as absent:
        raise ImportError("pandas is not installed: pip install 'cyclescope[pandas]'") from absent
    return pandas.DataFrame(rows, columns=columns)
