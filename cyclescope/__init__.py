"""Cyclescope: a virtual bench for embedded boards.

It runs the firmware that you would flash on a board that it simulates with timing, measures it,
and shows where every cycle went. Start at `Board`; `bindings` says what the nodes of a board of
your own may have. `cyclescope.experiments` has the experiments and `cyclescope.bench` runs them.
"""

from cyclescope._engine import Stop
from cyclescope.board import Board, shipped_boards
from cyclescope.devicetree_bindings import Binding, BindingProperty, bindings
from cyclescope.errors import BoardError, ElfError, EngineError
from cyclescope.results import CoreResult, ExperimentResult, Row, RunResult, StackEntry

__all__ = [
    "Binding",
    "BindingProperty",
    "Board",
    "BoardError",
    "CoreResult",
    "ElfError",
    "EngineError",
    "ExperimentResult",
    "Row",
    "RunResult",
    "StackEntry",
    "Stop",
    "bindings",
    "shipped_boards",
]
