"""What a test gets as the fixture `cyclescope`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from cyclescope.board import Board
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import RunResult
from cyclescope.comparing import Run, compare, limits, of_result
from cyclescope.errors import UsageError
from cyclescope.host import outputs
from cyclescope.testing import snapshots

_UPDATE = "pytest --cyclescope-update"
# What a run that could not go on took is nothing to hold others to.
_BROKEN = ("fault", "script", "interrupted")


@dataclass(frozen=True)
class VirtualBoard:
    """A board that firmware is run on, each time from reset."""

    name: str | os.PathLike[str]
    overrides: Mapping[str, OverrideValue]
    more: Mapping[str, Any]

    def run(
        self,
        elf: str | os.PathLike[str],
        sections: Iterable[str] = (),
        limit: str | int | None = "10s",
        **more: Any,
    ) -> RunResult:
        """Run a program until it exits, faults or reaches the limit of simulated time.

        `sections` are functions whose calls are measured: `result.section("f").cycles`. `more` is
        as `Board.run` has it. Raises as `Board`, `Board.load` and `Board.run` do.
        """
        board = Board(self.name, self.overrides, **self.more).load(elf)
        return board.run(limit, sections=sections, **more)


class Bench:
    """Virtual boards, and what runs on them are held to."""

    def __init__(
        self,
        node: pytest.Item,
        root: Path,
        is_updated: bool,
        written: Callable[[str], None],
    ) -> None:
        self._node = node
        self._root = root
        self._is_updated = is_updated
        self._written = written
        self._checked: set[str | None] = set()

    def board(
        self,
        name: str | os.PathLike[str],
        overrides: Mapping[str, OverrideValue] | None = None,
        **more: Any,
    ) -> VirtualBoard:
        """A shipped board by its name, or one of your own by the path of its .dts.

        `overrides` change properties by their paths; `more` is as `cyclescope.Board` has it.
        """
        return VirtualBoard(name, overrides or {}, more)

    def check(self, result: RunResult, tolerance: str = "0%", name: str | None = None) -> None:
        """Fail if a run took more or less than the snapshot beside the test file says.

        Compared are how the run ended, each core's cycles, calls and cycles of sections, and the
        metrics that the firmware printed; `tolerance` is how far each number may be off. A test
        that checks several runs gives each a `name`. `pytest --cyclescope-update` writes the
        snapshot in place of comparing. Raises `UsageError` if the tolerance is no percentage, or
        the name another check's.
        """
        percent = limits.parse_percent(tolerance)
        if name in self._checked:
            shown = "without a name" if name is None else f"named {name!r}"
            raise UsageError(f"this test has a check {shown} already: check(..., name='...')")
        self._checked.add(name)
        if result.outcome in _BROKEN:
            _fail(f"{self._node.nodeid}: the run ended with a {result.outcome}: {result.message}")
        run = of_result(result, "this run")
        path = snapshots.place(self._node, name)
        if self._is_updated:
            self._update(path, snapshots.text(run))
            return
        before = self._stored(path)
        moved = snapshots.moved(compare(before, run), percent)
        if moved:
            beyond = f" by more than {tolerance.strip()}" if percent else ""
            lines = "\n".join(f"  {line}" for line in moved)
            _fail(
                f"{self._node.nodeid}: not what the snapshot says{beyond}:\n{lines}\n"
                f"The snapshot is {self._shown(path)}; if this is meant, `{_UPDATE}` writes it."
            )

    def _stored(self, path: Path) -> Run:
        """The run of a snapshot; the test fails if there is none."""
        try:
            return snapshots.read(path)
        except FileNotFoundError:
            reason = f"no snapshot {self._shown(path)}: `{_UPDATE}` writes it"
        except UsageError:
            reason = f"{self._shown(path)} is no snapshot: `{_UPDATE}` writes it anew"
        _fail(f"{self._node.nodeid}: {reason}")

    def _update(self, path: Path, text: str) -> None:
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return
        outputs.make_folder(path.parent)
        outputs.write_text(path, text)
        self._written(self._shown(path))

    def _shown(self, path: Path) -> str:
        root = self._root
        return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _fail(message: str) -> NoReturn:
    pytest.fail(message, pytrace=False)
