"""A virtual board: its description, the board itself, and the results of a run.

The modules of this folder are for users: `board` (the class `Board`), `results`, `debugger`,
`excerpts`, and `scripts` and `can` for the input of a board. The folders have their parts:
`description` reads the board's files, `setup` prepares a run, `wiring` connects lines and pins,
`observing` records a run, `outcome` makes its result. Nothing here knows how firmware is built.
"""

from cyclescope.board.board import Board
from cyclescope.board.description.trees import board_tree, find_board, shipped_boards

__all__ = ["Board", "board_tree", "find_board", "shipped_boards"]
