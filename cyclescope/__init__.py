"""Cyclescope: a virtual bench for embedded boards.

It runs the firmware that you would flash on a board that it simulates with timing, measures it,
and shows where every cycle went. Start at `Board`; `bindings` says what the nodes of a board of
your own may have. `cyclescope.experiments` has the experiments and `cyclescope.bench` runs them.
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

# Where each is.
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
    """What the package has is imported when it is asked for: the command need not wait for it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """What there is to ask for, also if nobody has yet."""
    return [*globals(), *__all__]
