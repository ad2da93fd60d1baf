"""The classes of the fixture `cyclescope`."""

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
# Outcomes of failed runs, whose times are not compared.
_BROKEN = ("fault", "script", "interrupted")


@dataclass(frozen=True)
class VirtualBoard:
    """A board that runs firmware, each time from reset."""

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

        `sections` are functions whose calls are measured: `result.section("f").cycles`. `more` are
        further arguments of `Board.run`. Raises as `Board`, `Board.load` and `Board.run` do.
        """
        board = Board(self.name, self.overrides, **self.more).load(elf)
        return board.run(limit, sections=sections, **more)


class Bench:
    """Virtual boards, and checks of their runs against snapshots."""

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

        `overrides` change properties by their paths; `more` are further arguments of
        `cyclescope.Board`.
        """
        return VirtualBoard(name, overrides or {}, more)

    def check(self, result: RunResult, tolerance: str = "0%", name: str | None = None) -> None:
        """Fail if a run differs from the snapshot beside the test file.

        The comparison includes the outcome, each core's cycles, calls and cycles of sections, and
        the metrics that the firmware printed; `tolerance` is the allowed deviation of each number.
        A test that checks several runs gives each a `name`. `pytest --cyclescope-update` writes the
        snapshot instead of comparing. Raises `UsageError` if the tolerance is not a percentage, or
        if the test has another check with the same name.
        """
        percent = limits.parse_percent(tolerance)
        if name in self._checked:
            shown = "without a name" if name is None else f"named {name!r}"
            raise UsageError(f"this test already has a check {shown}: give check(..., name='...')")
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
                f"{self._node.nodeid}: the run differs from the snapshot{beyond}:\n{lines}\n"
                f"The snapshot is {self._shown(path)}; to accept the change, run `{_UPDATE}`."
            )

    def _stored(self, path: Path) -> Run:
        """The run in a snapshot; the test fails if there is no snapshot."""
        try:
            return snapshots.read(path)
        except FileNotFoundError:
            reason = f"no snapshot {self._shown(path)}: run `{_UPDATE}` to write it"
        except UsageError:
            reason = f"{self._shown(path)} is not a snapshot: run `{_UPDATE}` to replace it"
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
