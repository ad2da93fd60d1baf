"""Git revisions as the two sides of `cyclescope compare`: each is built, or an experiment run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclescope.comparing import experiment_revisions, revisions
from cyclescope.errors import UsageError
from cyclescope.host import leftovers
from cyclescope.host.inputs import printable


@dataclass(frozen=True)
class Revisions:
    """Options for git revisions as sides.

    `build` is a shell command that builds the program `elf`; alternatively, the rows of
    `experiment` are compared.
    """

    build: str | None
    elf: Path | None
    experiment: str | None

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together."""
        if self.experiment and (self.build or self.elf):
            raise UsageError("--experiment builds its own programs: leave out --build and --elf")
        if (self.build is None) != (self.elf is None):
            raise UsageError("--build COMMAND and --elf FILE need each other: COMMAND builds FILE")
        if self.elf is not None and self.elf.is_absolute():
            raise UsageError(
                f"--elf {printable(self.elf)}: give a relative path: each revision builds its own"
            )

    @property
    def are_meant(self) -> bool:
        """Whether A and B are revisions."""
        return self.build is not None or self.experiment is not None


@contextlib.contextmanager
def files(
    names: Sequence[Path], how: Revisions, sets: Sequence[str]
) -> Iterator[list[tuple[Path, str]]]:
    """The files to compare, each with its revision; "" for a plain file.

    Raises `UsageError` for an unknown revision, or one that can't be built.
    """
    if not how.are_meant:
        yield [(name, "") for name in names]
        return
    with contextlib.ExitStack() as opened:
        found = []
        for name in map(str, names):
            tree = opened.enter_context(revisions.folder(name))
            out = opened.enter_context(leftovers.scratch(prefix="cyclescope-rows-"))
            found.append((_file(tree, name, how, sets, out), _described(name)))
        yield found


def _file(tree: Path, revision: str, how: Revisions, sets: Sequence[str], out: Path) -> Path:
    if how.experiment is not None:
        return experiment_revisions.rows(tree, revision, how.experiment, sets, out)
    assert how.build is not None
    assert how.elf is not None
    revisions.build(how.build, tree, revision)
    program = tree / how.elf
    if not program.is_file():
        raise UsageError(f"{printable(revision)}: --build made no {printable(how.elf)}")
    return program


def _described(revision: str) -> str:
    return "the working tree" if revision == revisions.HERE else revision
