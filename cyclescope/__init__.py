"""Cyclescope: a virtual bench for embedded boards.

It runs the firmware that you would flash on a board that it simulates with timing, measures it,
and shows where every cycle went. Start at `Board`; `bindings` says what the nodes of a board of
your own may have. `cyclescope.experiments` has the experiments and `cyclescope.bench` runs them.
"""

from cyclescope._engine import Stop
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import Row
from cyclescope.board import Board, shipped_boards
from cyclescope.board.devicetree_bindings import Binding, BindingProperty, bindings
from cyclescope.board.results import CoreResult, RunResult, StackEntry
from cyclescope.errors import BoardError, ElfError, EngineError

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
