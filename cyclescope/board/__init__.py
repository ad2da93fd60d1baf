"""A virtual board: its description, the board itself, and what a run of it gives back.

The modules of this folder are for users: `board` (the class `Board`), `results`, `debugger`,
`excerpts`, and `scripts` and `can` for what is sent to a board. The folders are what they are made
of: `description` of the board's files, `setup` of a run, `wiring` of lines and pins, `observing` of
a run, `outcome` of its result. Nothing here knows how firmware is built.
"""

from cyclescope.board.board import Board
from cyclescope.board.description.trees import board_tree, find_board, shipped_boards

__all__ = ["Board", "board_tree", "find_board", "shipped_boards"]
