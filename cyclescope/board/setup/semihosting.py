"""The host's files and input that a firmware can use by semihosting: nothing else."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cyclescope._engine import Machine

Stdin = bytes | IO[bytes]


@dataclass(frozen=True)
class Hosted:
    """A folder of files, a standard input, and arguments after the program's name."""

    folder: str | os.PathLike[str] | None = None
    stdin: Stdin | None = None
    arguments: Iterable[str] = ()

    def give_to(self, machine: Machine, firmware: str) -> None:
        """Give them to a machine that is about to run `firmware`.

        Raises `OSError` if there is no such folder.
        """
        program = Path(firmware).name
        with ExitStack() as stack:
            folder = None
            if self.folder is not None:
                folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
                stack.callback(os.close, folder)
            command = [os.fsencode(word) for word in (program, *self.arguments)]
            machine.semihosting(folder, _source(self.stdin), command)


def _source(stdin: Stdin | None) -> int | bytes | None:
    """The descriptor of an open file, so that later input is read later; else the bytes."""
    if stdin is None or isinstance(stdin, bytes):
        return stdin
    try:
        return stdin.fileno()
    except io.UnsupportedOperation:
        return stdin.read()
