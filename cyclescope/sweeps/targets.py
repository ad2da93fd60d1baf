"""What a sweep runs: a user's programs on a board, or the runs of an experiment.

A target knows which paths can be varied, and makes a trial of each point. Besides properties of the
board, paths are `elf` and `board` of a program, settings of the app and `flags` of an experiment.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from cyclescope.bench.images import IMAGE
from cyclescope.bench.planning import Job
from cyclescope.board import board_tree
from cyclescope.board.description import overrides
from cyclescope.board.description.devicetree import Node
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import Value
from cyclescope.board.setup.loading import Loading
from cyclescope.board.setup.programs import read_program
from cyclescope.errors import SettingError
from cyclescope.firmware import load_app
from cyclescope.host.inputs import printable
from cyclescope.sweeps import caches
from cyclescope.sweeps.axes import Axis
from cyclescope.sweeps.scripts import LineScript
from cyclescope.sweeps.trials import (
    AppTrial,
    Boards,
    ElfTrial,
    LoadedProgram,
    Programs,
    Trial,
)

ELF, BOARD, FLAGS = "elf", "board", "flags"
# The path of an app's settings, also accepted in place of the app's own name.
_APP = "app."
_GLOB = re.compile(r"[*?\[]")


class Target(Protocol):
    """A target with one configuration or more (`bases`), which points change further."""

    @property
    def name(self) -> str:
        """Its name in tables and files."""

    @property
    def bases(self) -> Sequence[Mapping[str, Value]]:
        """The configurations, each with its settings."""

    def expanded(self, axis: Axis) -> Axis:
        """The axis with its values for this target; raises `SettingError` for an unknown path.

        Also for values that no run could have.
        """

    def trial(self, base: int, point: Mapping[str, str]) -> Trial:
        """The run of a base with these values."""

    def boards(self) -> Sequence[str]:
        """The boards that it runs on, unless boards are varied."""

    def files(self) -> Sequence[str]:
        """The files of this machine that its runs read, besides boards and programs."""

    def moved(self, files: Mapping[str, str]) -> Target:
        """The target with its files in other places: `files` maps old paths to new ones."""


@dataclass(frozen=True)
class ElfTarget:
    """Programs that a user has built, on a board."""

    elf: Path
    board: str
    overrides: Mapping[str, OverrideValue] = field(default_factory=dict)
    limit: str = "10s"
    sections: tuple[str, ...] = ()
    loading: Loading = field(default_factory=Loading)
    bases: tuple[Mapping[str, Value], ...] = ({},)
    scripts: tuple[LineScript, ...] = ()
    _boards: Boards = field(default_factory=Boards, repr=False)
    _read: dict[str, LoadedProgram] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The program's file."""
        return printable(str(self.elf))

    def expanded(self, axis: Axis) -> Axis:
        """Expands file patterns and checks properties of the board."""
        if axis.path == ELF:
            return replace(axis, values=tuple(_files(axis)))
        if axis.path == BOARD:
            for board in axis.values:
                board_tree(board)
            return axis
        if axis.path == FLAGS or axis.path.startswith(_APP):
            raise SettingError(
                f"--vary {axis.path}: an ELF has no settings to build it with: name an experiment"
            )
        _check_property(axis, [self.board])
        return axis

    def trial(self, base: int, point: Mapping[str, str]) -> Trial:
        """A run of a program on a board."""
        changes = {path: value for path, value in point.items() if path not in (ELF, BOARD)}
        board = point.get(BOARD, self.board)
        return ElfTrial(
            board,
            _with_sets(self._boards.tree(board), self.overrides, changes),
            self._program(point.get(ELF, str(self.elf))),
            self.limit,
            self.sections,
            self.loading,
            self._boards,
            scripts=self.scripts,
        )

    def boards(self) -> Sequence[str]:
        """The one board."""
        return [self.board]

    def files(self) -> Sequence[str]:
        """Images that the overrides name, and the SVD file."""
        svd = self.loading.svd
        return [*_images(self.overrides), *([] if svd is None else [str(svd)])]

    def moved(self, files: Mapping[str, str]) -> ElfTarget:
        """The target with images and the SVD file in other places."""
        svd = self.loading.svd
        elsewhere = None if svd is None else Path(files.get(str(svd), svd))
        return replace(
            self,
            overrides=_moved(self.overrides, files),
            loading=replace(self.loading, svd=elsewhere),
        )

    def _program(self, path: str) -> LoadedProgram:
        if path not in self._read:
            program = read_program(path, self.loading.base, self.loading.entry)
            content = hashlib.sha256(program.elf)
            content.update(repr((program.parts, program.entry)).encode())
            self._read[path] = LoadedProgram(program, content.hexdigest())
        return self._read[path]


def _files(axis: Axis) -> list[str]:
    found = []
    for value in axis.values:
        named = _matching(value) if _GLOB.search(value) else [value]
        if not named:
            raise SettingError(f"--vary {axis.path}={printable(value)}: no such files")
        found += named
    return list(dict.fromkeys(found))


def _matching(pattern: str) -> list[str]:
    path = Path(pattern)
    anchor = Path(path.anchor)
    return sorted(map(str, anchor.glob(str(path.relative_to(anchor)))))


@dataclass(frozen=True)
class ExperimentTarget:
    """The runs of an experiment, as a bench plans them; `varied` are settings of its app."""

    jobs: Sequence[Job]
    sections: tuple[str, ...] = ()
    varied: frozenset[str] = frozenset()
    _boards: Boards = field(default_factory=Boards, repr=False)
    _programs: Programs = field(default_factory=Programs, repr=False)

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.jobs[0].experiment.name

    @cached_property
    def bases(self) -> tuple[Mapping[str, Value], ...]:
        """The settings in which the runs differ before anything is varied."""
        found = [_settings(job) for job in self.jobs]
        names = dict.fromkeys(name for settings in found for name in settings)
        differing = [
            name
            for name in names
            if name not in self.varied and len({repr(one.get(name)) for one in found}) > 1
        ]
        return tuple({name: one[name] for name in differing if name in one} for one in found)

    def collapsed(self, axes: Sequence[Axis]) -> ExperimentTarget:
        """The target with one run of those that differ only in what is varied."""
        varied = {
            name for axis in axes for job in self.jobs if (name := self._setting(job, axis.path))
        }
        unique: dict[str, Job] = {}
        for job in self.jobs:
            others = {name: value for name, value in _settings(job).items() if name not in varied}
            unique.setdefault(repr(others), job)
        return replace(self, jobs=list(unique.values()), varied=frozenset(varied))

    def expanded(self, axis: Axis) -> Axis:
        """Checks app settings, properties of the board and compiler flags."""
        if axis.path in (ELF, BOARD):
            raise SettingError(f"--vary {axis.path}: experiment {self.name} says its own")
        if axis.path == FLAGS:
            for value in axis.values:
                _words(value)
            return axis
        names = {job.run.app: self._setting(job, axis.path) for job in self.jobs}
        if None not in names.values():
            for app, name in names.items():
                _check_setting(app, str(name), axis)
            return axis
        _check_property(axis, sorted({job.run.board for job in self.jobs}), self._known())
        return axis

    def trial(self, base: int, point: Mapping[str, str]) -> Trial:
        """A run of the experiment with changes."""
        job = self.jobs[base]
        settings: dict[str, Value] = {}
        changes: dict[str, str] = {}
        for path, value in point.items():
            name = self._setting(job, path)
            if path == FLAGS:
                continue
            if name is None:
                changes[path] = value
            else:
                parsed = load_app(job.run.app).settings[name].parse(value)
                settings[name] = value if parsed is None else parsed
        flags = _words(point.get(FLAGS, ""))
        run = job.run.changed(settings)
        if flags or any(job.run.settings.get(name) != value for name, value in settings.items()):
            # a changed app is no longer what the document measured
            run = replace(run, documented=False)
        extra = _with_sets(self._boards.tree(run.board), job.extra, changes)
        changed = replace(job, run=run, extra=extra)
        return AppTrial(changed, flags, self.sections, self._boards, self._programs)

    def boards(self) -> Sequence[str]:
        """The boards of its runs."""
        return sorted({job.run.board for job in self.jobs})

    def files(self) -> Sequence[str]:
        """Images that overrides name."""
        return [image for job in self.jobs for image in _images(job.configured.overrides)]

    def moved(self, files: Mapping[str, str]) -> ExperimentTarget:
        """The target with images in other places."""
        jobs = [
            replace(
                job,
                run=replace(job.run, overrides=_moved(job.run.overrides, files)),
                extra=_moved(job.extra, files),
            )
            for job in self.jobs
        ]
        return replace(self, jobs=jobs)

    def _setting(self, job: Job, path: str) -> str | None:
        """The name of the app's setting with this path."""
        app = load_app(job.run.app)
        owner, _, name = path.rpartition(".")
        if owner in ("app", job.run.app, job.experiment.name) and name in app.settings:
            return name
        return app.paths.get(path)

    def _known(self) -> list[str]:
        apps = {job.run.app for job in self.jobs}
        return [f"{_APP}{name}" for app in sorted(apps) for name in load_app(app).settings]


def _images(changes: Mapping[str, Any]) -> list[str]:
    return [str(value) for path, value in changes.items() if path.endswith(IMAGE) and value]


def _moved(changes: Mapping[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    """Overrides with images in other places."""
    return {
        path: files.get(str(value), value) if path.endswith(IMAGE) else value
        for path, value in changes.items()
    }


def _settings(job: Job) -> dict[str, Any]:
    run = job.configured
    return {"app": run.app, "board": run.board, **run.all_settings}


def _with_sets(
    tree: Node, before: Mapping[str, OverrideValue], changes: Mapping[str, str]
) -> dict[str, Any]:
    """Overrides with the changes of a point, and with the sets of caches whose size is changed."""
    changed: dict[str, Any] = dict(before) | dict(changes)
    for path, value in changes.items():
        sets_path = caches.sets_path(path)
        if sets_path is not None and sets_path not in changed:
            sets = caches.sets_for(tree, path, value)
            changed |= {} if sets is None else {sets_path: str(sets)}
    return changed


def _words(flags: str) -> tuple[str, ...]:
    """The compiler's arguments in a value of `flags`."""
    words = tuple(flags.split())
    if words and not words[0].startswith("-"):
        raise SettingError(f"--vary {FLAGS}: {printable(words[0])} is no flag: they begin with -")
    return words


def _check_setting(app: str, name: str, axis: Axis) -> None:
    kind = load_app(app).settings[name]
    span = axis.span
    values = axis.values if span is None else (str(span.low), str(span.high))
    for value in values:
        if kind.parse(value) is None:
            raise SettingError(f"--vary {axis.path}={printable(value)}: allowed: {kind}")


def _check_property(axis: Axis, boards: Sequence[str], others: Iterable[str] = ()) -> None:
    """Raises `SettingError` if a board has no such property; `others` are paths beside them."""
    value = axis.at(0.0)
    for board in boards:
        tree = board_tree(board)
        try:
            if overrides.find(tree, axis.path, value) is None:
                raise overrides.absent(tree, axis.path, others)
        except SettingError as error:
            raise SettingError(str(error).replace("--set ", "--vary ", 1)) from None
