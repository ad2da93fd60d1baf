"""A virtual board: its description, the board itself, and what a run of it gives back.

Start at `board` (the class `Board`). `trees` finds a description, which `devicetree` reads within
the bounds of `bounded_dts`, and `overrides` changes it; `devicetree_bindings` lists what nodes may
say.
`waveforms`, `printed` and `semihosting` are what a run has to do with the host, `users_devices`
finds devices in Python; `results`, `parameters` and `frames` are plain data. Nothing here knows how
firmware is built.
"""

from cyclescope.board.board import Board
from cyclescope.board.trees import board_tree, find_board, shipped_boards

__all__ = ["Board", "board_tree", "find_board", "shipped_boards"]
