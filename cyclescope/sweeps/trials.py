"""Trials: single runs of a sweep, each with all that it needs.

A trial can be checked before it runs, has a key for all that its outcome depends on, and runs to an
outcome. There are two kinds: a program that the user has built, and a run of an experiment, whose
app is built for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from cyclescope import disks
from cyclescope._engine import Stop
from cyclescope.bench import programs
from cyclescope.bench.images import inserted
from cyclescope.bench.planning import Job
from cyclescope.bench.running import last_lines, metrics_of, run_job
from cyclescope.board import Board
from cyclescope.board.description import digests
from cyclescope.board.description.digests import Boards
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.description.presets import Preset, snapshot
from cyclescope.board.description.svd import read_bytes
from cyclescope.board.results import RunResult, Settings
from cyclescope.board.setup.loading import Loading
from cyclescope.board.setup.programs import Program
from cyclescope.errors import EngineError, FirmwareError, error_text
from cyclescope.firmware import clocks
from cyclescope.sweeps import outcomes
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.scripts import LineScript, of_lines

Overrides = Mapping[str, OverrideValue]


class Trial(Protocol):
    """A run of a sweep."""

    def check(self) -> None:
        """Raises `EngineError` for known faults of the board or the program."""

    def depends_on(self) -> list[object]:
        """All that its outcome depends on besides the engine, as plain data."""

    def run(self, stop: Stop) -> Outcome:
        """Run it. A failure becomes the outcome's error."""


@dataclass(frozen=True)
class LoadedProgram:
    """A program as it was when the sweep started, with the digest of its file."""

    program: Program
    digest: str


@dataclass(frozen=True)
class ElfTrial:
    """A program on a board, up to a limit of simulated time; `presets` are set before `main`."""

    board: str
    overrides: Overrides
    program: LoadedProgram
    limit: str
    sections: tuple[str, ...]
    loading: Loading
    boards: Boards = field(repr=False, compare=False)
    presets: tuple[Preset, ...] = ()
    scripts: tuple[LineScript, ...] = ()

    def check(self) -> None:
        """Raises as `Board` and `Board.load` do."""
        with inserted(self.overrides) as (overrides, _):
            of_lines(self.scripts, self.loaded_board(overrides))

    def depends_on(self) -> list[object]:
        """The board, the program and how it is run."""
        loading = replace(self.loading, svd=None)
        svd = self.loading.svd
        return [
            self.boards.digest(self.board),
            digests.of_overrides(self.overrides),
            self.program.digest,
            self.limit,
            self.sections,
            vars(loading),
            None if svd is None else hashlib.sha256(read_bytes(svd)).hexdigest(),
            *([] if not self.presets else [[vars(preset) for preset in self.presets]]),
            *([] if not self.scripts else [[(one.label, one.digest) for one in self.scripts]]),
        ]

    def run(self, stop: Stop) -> Outcome:
        """Run it; reaching the limit is not a failure by itself: the program may have measured."""
        try:
            with inserted(self.overrides) as (overrides, _):
                board = self.loaded_board(overrides)
                begin = snapshot(board, self.presets, self.limit) if self.presets else None
                result = board.run(
                    self.limit,
                    sections=dict.fromkeys(self.sections),
                    stop=stop,
                    start_from=begin,
                    script=of_lines(self.scripts, board) or None,
                )
        except EngineError as error:
            return outcomes.failed(error_text(error))
        return outcomes.of_result(result, result.metrics, self.sections, _failure(result))

    def loaded_board(self, overrides: Overrides) -> Board:
        """The board with the program loaded. Raises as `Board` and `Board.load` do."""
        board = self.loading.board(self.board, overrides)
        board.load_program(self.program.program, self.loading.core)
        return board


def _failure(result: RunResult) -> str | None:
    """Why the run of a user's program counts as failed."""
    if result.outcome in ("limit", "asleep"):
        return None
    if result.outcome != "exit":
        return result.message or result.outcome
    if result.exit_code:
        last = last_lines(result.console)
        return f"the firmware exited with status {result.exit_code}; its last lines: {last}"
    return "; ".join(result.failed_saves) or None


class Programs:
    """Apps of the runs of a sweep: each is examined once, and built once where it is run."""

    def __init__(self) -> None:
        self._digests: dict[object, str] = {}
        self._built: dict[object, Path] = {}

    def digest(self, name: object, find: Callable[[], str]) -> str:
        """The digest of the sources of the ELF of this name."""
        if name not in self._digests:
            self._digests[name] = find()
        return self._digests[name]

    def elf(self, name: object, build: Callable[[], Path]) -> Path:
        """The ELF of this name."""
        if name not in self._built:
            self._built[name] = build()
        return self._built[name]

    def __getstate__(self) -> dict[str, object]:
        """Nothing: another machine examines and builds its own."""
        return {"_digests": {}, "_built": {}}


@dataclass(frozen=True)
class AppTrial:
    """A run of an experiment with changes: its app is built with further compiler `flags`."""

    job: Job
    flags: tuple[str, ...]
    sections: tuple[str, ...]
    boards: Boards = field(repr=False, compare=False)
    programs: Programs = field(repr=False, compare=False)

    def check(self) -> None:
        """Raises as `Board` does, and for an app that is known not to build."""
        Board(self.job.run.board, self.job.configured.overrides)

    def depends_on(self) -> list[object]:
        """The board, the sources of its program, its disk and what is watched."""
        run = self.job.configured
        return [
            self.job.experiment.name,
            self.boards.digest(run.board),
            digests.of_overrides(run.overrides),
            self.programs.digest(self._program, lambda: programs.digest(*self._made_from)),
            _plain(run.settings),
            run.documented,
            run.limit,
            self._sections,
            None if run.disk is None else disks.image(run.disk).name,
        ]

    def run(self, stop: Stop) -> Outcome:
        """Build and run it, and judge it as a bench does."""
        try:
            elf = self.programs.elf(self._program, lambda: programs.built(*self._made_from))
        except EngineError as error:
            return outcomes.failed(error_text(error))
        job = replace(self.job, run=replace(self.job.run, watched=self._sections))
        record = run_job(job, stop=stop, built=elf)
        if record.result is None:
            return outcomes.failed(record.error or "")
        try:
            metrics = metrics_of(job, record.result).values()
        except FirmwareError as error:
            return outcomes.of_result(record.result, (), self.sections, record.error or str(error))
        return outcomes.of_result(record.result, metrics, self.sections, record.error)

    @property
    def _sections(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.job.run.watched, *self.sections)))

    @property
    def _made_from(self) -> tuple[str, str, Settings, Overrides, tuple[str, ...]]:
        """The arguments of `programs.built`."""
        run = self.job.configured
        return run.app, run.board, run.settings, run.overrides, self.flags

    @property
    def _program(self) -> object:
        """An identification of its program."""
        run = self.job.configured
        changed = repr(clocks.frequencies(run.overrides))
        return run.app, run.board, repr(_plain(run.settings)), changed, self.flags


def _plain(settings: Settings) -> Sequence[object]:
    return sorted(settings.items())
