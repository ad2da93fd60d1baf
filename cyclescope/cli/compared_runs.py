"""The two runs of `cyclescope compare`: programs are run, files of runs are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from cyclescope.board import Board
from cyclescope.board.description.overrides import parse_set
from cyclescope.board.results import INTERRUPTED, RunResult
from cyclescope.board.setup.loading import Loading
from cyclescope.cli import stopped_run
from cyclescope.cli.options.serial import LineOptions
from cyclescope.cli.run_progress import Line
from cyclescope.cli.tables import listings
from cyclescope.comparing import files, runs
from cyclescope.comparing.runs import Run
from cyclescope.errors import EngineError, SettingError, UsageError, warn
from cyclescope.host import inputs
from cyclescope.host.interrupts import Held, Interrupted
from cyclescope.profile.annotation import Code
from cyclescope.units import format_ps, parse_time_ps

_LIMIT = "10s"
# The modules that show the comparison are imported while the first program runs.
_TABLES = "cyclescope.cli.tables.compare"


@dataclass(frozen=True)
class Given:
    """Options for the programs' runs; `sets_b` are settings of the second only."""

    board: str | None
    sets: tuple[str, ...]
    sets_b: tuple[str, ...]
    program: Loading
    limit: str | None
    scripts: tuple[str, ...]
    semihosting_dir: str | None
    quiet: bool
    arguments: tuple[str, ...]

    def check_experiment(self) -> None:
        """Raises `UsageError` for options that an experiment sets itself."""
        others = {"--board": self.board, "--set-b": self.sets_b, "--limit": self.limit}
        others |= {"--script": self.scripts, "--semihosting-dir": self.semihosting_dir}
        given = [option for option, value in others.items() if value]
        if given:
            raise UsageError(
                f"{given[0]}: an experiment sets its own: --experiment only takes --set"
            )

    def check(self, sides: tuple[Side, Side]) -> None:
        """Raises `UsageError` for options of a run that is not made."""
        if sides[1].read is not None and self.sets_b:
            raise UsageError(
                f"--set-b: {sides[1].name} is the JSON of a run: no program is run for B"
            )
        options = {"--board": self.board, "--set": self.sets, "--limit": self.limit}
        options |= {"--script": self.scripts, "--semihosting-dir": self.semihosting_dir}
        given = [option for option, value in options.items() if value]
        if given and all(side.read is not None for side in sides):
            raise UsageError(f"{given[0]}: both files are JSON of runs: no program is run")


@dataclass(frozen=True)
class Side:
    """A side: a program on its board, or a run from a file. `sets` are its settings."""

    path: Path
    sets: tuple[str, ...]
    board: Board | None = None
    read: Run | None = None
    revision: str = ""

    @property
    def name(self) -> str:
        """The side's name in messages: its revision, or the file's name."""
        return inputs.printable(self.revision or self.path)

    @property
    def inputs(self) -> Mapping[str, str]:
        """Files that no output may overwrite, with descriptions."""
        if self.board is not None:
            return self.board.inputs
        return {str(self.path): "a run that is compared"}


def load(path: Path, given: Given, *, is_second: bool, revision: str = "") -> Side:
    """A side: the program loaded, or the file read. Raises as `Board.load` and `files.read` do."""
    sets = (*given.sets, *given.sets_b) if is_second else given.sets
    if files.is_json(path):
        read = files.read(path)
        return Side(path, sets, read=replace(read, label=revision or read.label), revision=revision)
    try:
        board = given.program.load(given.board, dict(map(parse_set, sets)), path)
    except SettingError as error:
        own = [setting.partition("=")[0] for setting in given.sets_b]
        is_own = is_second and any(name.strip() in str(error) for name in own)
        raise SettingError(str(error).replace("--set ", "--set-b ", int(is_own))) from None
    for warning in () if given.quiet else board.warnings:
        warn(warning)
    return Side(path, sets, board=board, revision=revision)


def run(side: Side, given: Given, held: Held) -> Run:
    """The run of a side, with its profile. Raises `Interrupted` if it was stopped."""
    if side.read is not None:
        return side.read
    board = side.board
    assert board is not None
    limit_ps = parse_time_ps(given.limit or _LIMIT)
    with LineOptions((), given.scripts, None, True).opened(board, False) as lines:

        def body() -> RunResult:
            return board.run(
                limit_ps,
                stop=held.stop,
                profile=True,
                script=lines.scripts,
                semihosting_dir=given.semihosting_dir,
                arguments=given.arguments,
            )

        progress = Line(_Nowhere(), False, held.stop, limit_ps, wanted=not given.quiet)
        result = stopped_run.beside(body, lambda: import_module(_TABLES), progress)
    if result.outcome == INTERRUPTED:
        when = format_ps(result.elapsed_ps)
        raise Interrupted(
            held.number or 0,
            f"interrupted by {held.name} after {when} of {side.name}: not compared",
        )
    return runs.of_result(result, side.name, _code(side.path))


def labelled(before: Run, after: Run, sides: tuple[Side, Side]) -> tuple[Run, Run]:
    """Two runs with different labels: two runs of one file differ by the second's settings."""
    if before.label != after.label:
        return before, after
    own = sides[1].sets[len(sides[0].sets) :]
    return before, replace(after, label=f"{after.label} {', '.join(own) or '(again)'}")


def _code(path: Path) -> dict[int, Code]:
    """The instructions of a program by address; empty if it is not an ELF."""
    try:
        return {row[0]: Code(*row[:5]) for row in listings.rows(path)}
    except EngineError:
        return {}


class _Nowhere:
    """Discards text: the consoles of two runs would be mixed."""

    def write(self, text: str) -> None:
        """Nothing."""

    def flush(self) -> None:
        """Nothing."""
