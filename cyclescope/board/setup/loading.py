"""The user's choices for loading a program onto a board: core, addresses and more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from cyclescope.board.board import Board
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.errors import ElfError, UsageError
from cyclescope.host import inputs
from cyclescope.host.inputs import printable

# Only a program without a given board needs it.
_FITTING = "cyclescope.board.setup.fitting"
_MOST_TRIED_BYTES = 64 << 20


@dataclass(frozen=True)
class Loading:
    """Arguments of `Board` and `Board.load` for a program."""

    core: str | None = None
    base: int | None = None
    entry: int | None = None
    unmapped: str | None = None
    svd: Path | None = None

    def board(self, name: str, overrides: Mapping[str, OverrideValue]) -> Board:
        """The board without a program. Raises as `Board` does."""
        return Board(name, overrides, unmapped=self.unmapped, svd=self.svd)

    def load(self, board: str | None, overrides: Mapping[str, OverrideValue], file: Path) -> Board:
        """The board with the program loaded. Raises as `Board` and `Board.load` do.

        Without a board, or if the program does not fit the board, the message names the boards that
        it fits.
        """
        if board is None:
            names = self._fitting(file)
            fits = f"{printable(file)} fits {names}" if names else "no shipped board holds it"
            raise UsageError(f"--board is missing: {fits}; a path of your own ends in .dts")
        made = self.board(board, overrides)
        try:
            return made.load(file, base=self.base, entry=self.entry, core=self.core)
        except ElfError as error:
            names = self._fitting(file)
            raise ElfError(f"{error}; it fits {names}" if names else str(error)) from None

    def _fitting(self, file: Path) -> str:
        # A file that is larger than any flash is not tried on every board.
        if inputs.begin(file, 0) is not None and file.stat().st_size > _MOST_TRIED_BYTES:
            return ""
        return import_module(_FITTING).in_words(file, self.base, self.entry, self.core)
