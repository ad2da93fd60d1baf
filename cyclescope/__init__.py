"""Cyclescope: a virtual bench for embedded boards.

It runs the firmware that you would flash on a simulated board with timing, measures it, and shows
where every cycle went. Start at `Board`; `bindings` documents the nodes of board files.
`cyclescope.experiments` has the experiments and `cyclescope.bench` runs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclescope._engine import Stop
    from cyclescope.advising import advise
    from cyclescope.advising.results import Advice
    from cyclescope.bench.results import ExperimentResult
    from cyclescope.bench.rows import Row
    from cyclescope.board import Board, shipped_boards
    from cyclescope.board.description.devicetree_bindings import Binding, BindingProperty, bindings
    from cyclescope.board.outcome.kept_calls import Call
    from cyclescope.board.results import CoreResult, RunResult, Section, StackEntry, WaitEntry
    from cyclescope.devices.properties import property
    from cyclescope.devices.registry import device
    from cyclescope.errors import BoardError, ElfError, EngineError
    from cyclescope.fitting import fit
    from cyclescope.fitting.results import FitResult
    from cyclescope.profile.profile import Profile
    from cyclescope.sweeps import SweepResult, sweep

__all__ = [
    "Advice",
    "Binding",
    "BindingProperty",
    "Board",
    "BoardError",
    "Call",
    "CoreResult",
    "ElfError",
    "EngineError",
    "ExperimentResult",
    "FitResult",
    "Profile",
    "Row",
    "RunResult",
    "Section",
    "StackEntry",
    "Stop",
    "SweepResult",
    "WaitEntry",
    "advise",
    "bindings",
    "device",
    "fit",
    "property",
    "shipped_boards",
    "sweep",
]

# The module of each public name.
_MODULES = {
    "Advice": "advising.results",
    "Binding": "board.description.devicetree_bindings",
    "BindingProperty": "board.description.devicetree_bindings",
    "Board": "board",
    "BoardError": "errors",
    "Call": "board.outcome.kept_calls",
    "CoreResult": "board.results",
    "ElfError": "errors",
    "EngineError": "errors",
    "ExperimentResult": "bench.results",
    "FitResult": "fitting.results",
    "Profile": "profile.profile",
    "Row": "bench.rows",
    "RunResult": "board.results",
    "Section": "board.results",
    "StackEntry": "board.results",
    "Stop": "_engine",
    "SweepResult": "sweeps",
    "WaitEntry": "board.results",
    "advise": "advising",
    "bindings": "board.description.devicetree_bindings",
    "device": "devices.registry",
    "fit": "fitting",
    "property": "devices.properties",
    "shipped_boards": "board",
    "sweep": "sweeps",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that the command does not wait for all imports."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """All public names, including those not imported yet."""
    return [*globals(), *__all__]
