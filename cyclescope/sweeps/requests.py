"""A sweep as the user requests it, by the command line, a TOML file or Python; and its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cyclescope import experiments
from cyclescope._engine import Stop
from cyclescope.bench import planning as bench_planning
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.setup.loading import Loading
from cyclescope.comparing import directions
from cyclescope.errors import UsageError
from cyclescope.host import toml_files
from cyclescope.host.inputs import printable
from cyclescope.similar_names import did_you_mean
from cyclescope.sweeps import axes, designs, planning, prices, scripts
from cyclescope.sweeps.axes import Axis
from cyclescope.sweeps.designs import Design
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.planning import Plan
from cyclescope.sweeps.prices import Price, Prices
from cyclescope.sweeps.results import SweepResult, check_metrics, tabulate
from cyclescope.sweeps.running import Ended
from cyclescope.sweeps.scripts import LineScript
from cyclescope.sweeps.store import Store
from cyclescope.sweeps.targets import ElfTarget, ExperimentTarget
from cyclescope.units import parse_time_ps

DEFAULT_LIMIT = "10s"

Runner = Callable[[Plan, Stop, "Store | None", Ended], list["Outcome | None"]]


@dataclass(frozen=True)
class Request:
    """A sweep as requested. `limit` None is the default, or the experiment's own.

    `target` is the path of an ELF or the name of an experiment. `worse` has the direction in which
    a metric gets worse, as `directions.given` returns it. `scripts` are for the serial lines of
    each run.
    """

    target: str
    board: str | None = None
    axes: tuple[Axis, ...] = ()
    sets: Mapping[str, OverrideValue] = field(default_factory=dict)
    design: Design = field(default_factory=Design)
    metrics: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    worse: Mapping[str, str] = field(default_factory=dict)
    prices: Prices = field(default_factory=Prices)
    limit: str | None = None
    loading: Loading = field(default_factory=Loading)
    scripts: tuple[LineScript, ...] = ()

    @property
    def is_experiment(self) -> bool:
        """Whether the target is an experiment's name."""
        return self.target in experiments.KNOWN and not Path(self.target).is_file()

    @property
    def preferred(self) -> list[str]:
        """The metrics that the target itself prefers."""
        if not self.is_experiment:
            return []
        (experiment,) = experiments.select([self.target])
        return list(dict.fromkeys(cell.metric for cell in experiment.cells))

    def plan(self) -> Plan:
        """The checked rows of the sweep.

        Raises `EngineError` (`SettingError`, `UsageError`, `BoardError`, `ElfError`) for invalid
        input, before anything runs.
        """
        target = self.target_to_run()
        if self.design.kind != designs.GRID and self.design.samples < 1:
            raise UsageError(f"--sampling {self.design.kind}: say how many with --samples")
        self.prices.check(self.axes)
        return planning.plan(target, self.axes, self.design)

    def target_to_run(self) -> ElfTarget | ExperimentTarget:
        """The target to run. Raises `EngineError` as `plan` does."""
        if self.limit is not None:
            parse_time_ps(self.limit)
        return self._experiment() if self.is_experiment else self._elf()

    def run(
        self, planned: Plan, runner: Runner, stop: Stop, store: Store | None, ended: Ended
    ) -> SweepResult:
        """The finished rows, when all are finished or `stop` was requested.

        `runner` makes the runs: on threads of this process, or on a Dask cluster.
        Raises `SettingError` for a metric that the first runs do not have.
        """
        seen = False

        def checked(row: int, outcome: Outcome) -> None:
            nonlocal seen
            if not seen:
                check_metrics(self.metrics, self.worse, outcome)
                seen = outcome.error is None
            ended(row, outcome)

        found = runner(planned, stop, store, checked)
        board = self.board or ""
        return tabulate(
            planned, found, self.metrics, self.prices, self.preferred, board, self.worse
        )

    def _elf(self) -> ElfTarget:
        path = program_path(self.target)
        board = self.board
        if board is None:
            varied = next((axis for axis in self.axes if axis.path == "board"), None)
            if varied is None:
                raise UsageError(
                    "--board is missing: a shipped board's name, or the path of a .dts"
                )
            board = varied.values[0]
        limit = self.limit or DEFAULT_LIMIT
        found = ElfTarget(path, board, self.sets, limit, self.sections, self.loading)
        return replace(found, scripts=self.scripts)

    def _experiment(self) -> ExperimentTarget:
        if self.scripts:
            raise UsageError(f"--script: not for {self.target}, whose runs have their own input")
        if self.loading != Loading():
            raise UsageError(f"--core, --base, --entry, --unmapped, --svd: not for {self.target}")
        sets = [(path, str(value)) for path, value in self.sets.items()]
        jobs = [
            job
            for job in bench_planning.plan(experiments.select([self.target]), sets)
            # a run that only keeps the picture of a frame measures nothing
            if job.run.frame_on is None
        ]
        boards = list(dict.fromkeys(job.run.board for job in jobs))
        if self.board is not None:
            jobs = [job for job in jobs if job.run.board == self.board]
            if not jobs:
                raise UsageError(f"--board {self.board}: {self.target} is on {', '.join(boards)}")
        if self.limit is not None:
            jobs = [replace(job, run=replace(job.run, limit=self.limit)) for job in jobs]
        return ExperimentTarget(jobs, self.sections).collapsed(self.axes)


def program_path(target: str) -> Path:
    """The file of a target that is not an experiment. Raises `UsageError` if it does not exist."""
    path = Path(target)
    if not path.exists():
        known = did_you_mean(target, experiments.KNOWN)
        named = ", ".join(experiments.KNOWN)
        raise UsageError(
            f"{printable(target)}: no such file or experiment"
            f"{known or f'; experiments are {named}'}"
        )
    return path


# ---- from plain data: TOML and Python


def from_data(data: Mapping[str, Any], folder: Path = Path()) -> Request:
    """The request in a table, as a TOML file has it; paths are relative to `folder`.

    Raises `UsageError` for unknown keys and values of a wrong type, `SettingError` as `axes.axis`
    does.
    """
    unknown = next((key for key in data if key not in _KEYS), None)
    if unknown is not None:
        hint = did_you_mean(unknown, _KEYS) or f": there are {', '.join(_KEYS)}"
        raise UsageError(f"{printable(unknown)}: no such key in a sweep{hint}")
    for key, kind in _KEYS.items():
        if key in data and not isinstance(data[key], kind):
            raise UsageError(f"{key}: expected {_WORDS[kind]}, not {printable(str(data[key]))}")
    if "target" not in data:
        raise UsageError("target is missing: the path of an ELF, or an experiment's name")
    varied = tuple(
        axes.axis(path, values if isinstance(values, str | list | tuple) else [values])
        for path, values in data.get("vary", {}).items()
    )
    samples = data.get("samples", 0)
    design = Design(
        data.get("sampling", designs.RANDOM if samples else designs.GRID),
        samples,
        tuple(_words(group) for group in data.get("zip", [])),
        data.get("seed", 0),
    )
    if design.kind not in (designs.GRID, *designs.SAMPLINGS):
        known = ", ".join(designs.SAMPLINGS)
        raise UsageError(f"sampling {printable(design.kind)}: there are {known}")
    return Request(
        target=_placed(data["target"], folder),
        board=_placed_board(data.get("board"), folder),
        axes=tuple(_placed_axis(axis, folder) for axis in varied),
        sets=dict(data.get("set", {})),
        design=design,
        metrics=tuple(data.get("metrics", ())),
        sections=tuple(data.get("sections", ())),
        worse=directions.given(data.get("more_is_worse", ()), data.get("less_is_worse", ())),
        prices=Prices(tuple(_price(*item) for item in data.get("prices", {}).items())),
        limit=data.get("limit"),
        scripts=tuple(scripts.read(value, folder) for value in data.get("scripts", ())),
    )


_KEYS: Mapping[str, type] = {
    "target": str,
    "board": str,
    "vary": dict,
    "set": dict,
    "zip": list,
    "samples": int,
    "sampling": str,
    "seed": int,
    "metrics": list,
    "sections": list,
    "more_is_worse": list,
    "less_is_worse": list,
    "prices": dict,
    "limit": str,
    "scripts": list,
}
_WORDS = {str: "a text", dict: "a table", list: "a list", int: "a number"}


def read_toml(path: Path) -> Request:
    """The request in a file. Raises `UsageError` for an invalid file, `OSError` for no access."""
    data = toml_files.read(path)
    try:
        return from_data(data, path.parent)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _words(group: str | Iterable[str]) -> tuple[str, ...]:
    return tuple(group.split()) if isinstance(group, str) else tuple(group)


def _price(path: str, of: Any) -> Price:
    if isinstance(of, dict):
        return prices.of_values(path, of.items())
    return prices.parse_price(f"{path}={of}")


def _placed(target: str, folder: Path) -> str:
    return target if target in experiments.KNOWN else str(folder / target)


def _placed_board(board: str | None, folder: Path) -> str | None:
    return str(folder / board) if board is not None and board.endswith(".dts") else board


def _placed_axis(axis: Axis, folder: Path) -> Axis:
    if axis.path == "elf":
        return replace(axis, values=tuple(str(folder / value) for value in axis.values))
    if axis.path == "board":
        return replace(axis, values=tuple(str(_placed_board(one, folder)) for one in axis.values))
    return axis
