"""The targets, and the sources of their inputs."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable
from pathlib import Path
from random import Random

from fuzz.inputs import Input, load
from fuzz.target_boards import BoardText, BoardTree, Overrides
from fuzz.target_code import Code
from fuzz.target_elf import Elf
from fuzz.target_files import ProgramFile, Svd
from fuzz.target_ipc import Ipc
from fuzz.target_many import Many
from fuzz.target_readers import Dwarf, Request, SerialScript
from fuzz.target_snapshots import Snapshots
from fuzz.target_ways import Ways
from fuzz.worker import Source, Target

ALL: tuple[Target, ...] = (
    Elf(),
    BoardText(),
    BoardTree(),
    Overrides(),
    Code(),
    Ipc(),
    ProgramFile(),
    Svd(),
    Ways(),
    Many(),
    Snapshots(),
    Dwarf(),
    Request(),
    SerialScript(),
)
# The relative number of inputs of a target: slow targets get few.
_WEIGHTS = {
    **{"elf": 25, "dts": 2, "tree": 18, "set": 15, "code": 38, "ipc": 2, "file": 5, "svd": 3},
    **{"ways": 20, "many": 1, "snapshots": 8, "dwarf": 3, "toml": 1, "script": 1},
}


def names() -> list[str]:
    """The names of all targets."""
    return [target.name for target in ALL]


def generated(seed: str, chosen: Iterable[str]) -> Source:
    """Inputs of the chosen targets without an end, drawn by weight."""
    indices = [names().index(name) for name in chosen]
    sums = list(itertools.accumulate(_WEIGHTS[ALL[index].name] for index in indices))

    def source(number: int) -> tuple[int, Input]:
        drawn = Random(f"{seed} {number}").randrange(sums[-1])
        index = indices[bisect.bisect(sums, drawn)]
        return index, ALL[index].make(f"{seed} {number}")

    return source


def replayed(files: Iterable[Path]) -> Source:
    """The inputs of `files`, once each."""
    inputs = [load(path) for path in files]

    def source(number: int) -> tuple[int, Input] | None:
        if number >= len(inputs):
            return None
        return names().index(inputs[number]["target"]), inputs[number]

    return source
