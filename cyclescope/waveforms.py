"""Waveforms of a board's wires as a Value Change Dump (IEEE 1364)."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from vcd import VCDWriter

Signal = tuple[str, str, bool]
"""Scope (the label of a node), name, and first level."""

_CHANGE = struct.Struct("<QI")


def changes(recorded: bytes) -> Iterator[tuple[int, int, int]]:
    """The changes that the engine recorded: (time in picoseconds, index of the signal, level)."""
    for at_ps, word in _CHANGE.iter_unpack(recorded):
        yield at_ps, word >> 1, word & 1


def _told_apart(signals: list[Signal]) -> Iterator[Signal]:
    """The same signals under a name each: nodes without a label may be called alike."""
    used: Counter[tuple[str, str]] = Counter()
    for scope, name, first in signals:
        used[scope, name] += 1
        count = used[scope, name]
        yield scope, name if count == 1 else f"{name}_{count}", first


def write_vcd(file: TextIO, signals: list[Signal], recorded: bytes, end_ps: int) -> None:
    """Write waveforms in picoseconds, from the beginning of the run to `end_ps`."""
    # no date: the same run gives the same file
    with VCDWriter(file, timescale="1 ps", date="", version="Cyclescope") as writer:
        variables = [
            writer.register_var(scope, name, "wire", size=1, init=int(first))
            for scope, name, first in _told_apart(signals)
        ]
        last_ps = 0
        for at_ps, signal, level in changes(recorded):
            writer.change(variables[signal], at_ps, level)
            last_ps = at_ps
        writer.close(max(last_ps, end_ps))
