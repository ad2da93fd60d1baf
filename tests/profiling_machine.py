"""A machine that gives a made-up profile of what it runs: for commands, not for numbers.

What it ran is charged to the instruction at the entry of `main`, by the causes of the cycle stack.
"""

from __future__ import annotations

from typing import Any

import profiles
import pytest

from cyclescope import _engine
from cyclescope.board import board


class Machine:
    """The engine's machine, and a profile."""

    def __init__(self, tree: Any, models: Any = None) -> None:
        self._machine = _engine.Machine(tree, models)
        self.kept: list[str] | None = None
        self._outcome: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    def profile_functions(self, functions: list[str]) -> None:
        self.kept = functions

    def run(self, *arguments: Any) -> dict[str, Any]:
        self._outcome = self._machine.run(*arguments)
        return self._outcome

    def places(self, core: str, addresses: list[int]) -> Any:
        return profiles.places_of(profiles.PLACES)(core, addresses)

    def profile(self) -> list[dict[str, Any]]:
        return [self._core(core) for core in self._outcome["cores"]]

    def _core(self, core: dict[str, Any]) -> dict[str, Any]:
        made = profiles.raw(core["name"])
        left = core["cycles"] - profiles.CYCLES
        assert left >= 0, "a program that runs for longer"
        kept = dict.fromkeys(self.kept or (), made["calls"]["work"])
        return made | {"charges": [*made["charges"], (2, 0, 1, left)], "calls": kept}


def use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards have such machines."""
    monkeypatch.setattr(board, "Machine", Machine)
