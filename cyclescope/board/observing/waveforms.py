"""Waveforms of a board's wires and devices: the choice of signals, and the files.

A file is a Value Change Dump (IEEE 1364), or a Fast Signal Trace, which is GTKWave's own format.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from cyclescope._engine import Machine
from cyclescope.board.observing.frames import WIRES, Frame, Trigger, kept_frame, spi_buses
from cyclescope.board.observing.timelines import ASKED_FOR
from cyclescope.errors import OutputError, UsageError
from cyclescope.host import outputs
from cyclescope.similar_names import did_you_mean_or

Signal = tuple[str, str, bool]
"""Scope (the label of a node or a core), name, and first level."""

_ENDINGS = (".vcd", ".fst")
_CHANGE = struct.Struct("<QI")
_UNITS_PS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
_TIMESCALE = re.compile(r"(1|10|100)\s*(s|ms|us|ns|ps)")


@dataclass(frozen=True)
class Dump:
    """A file for waveforms, and its signals.

    `signals` are shell patterns for "scope.name", empty for all signals. Signals of buses and FIFOs
    are only included by patterns that fit no others. Without patterns, the file has only those pins
    of ports that change and have no other name. `timescale_ps` is the file's unit of time, to which
    times are rounded; None: the coarsest exact one. `is_fst` selects a Fast Signal Trace.
    """

    path: str | os.PathLike[str]
    signals: tuple[str, ...] = ()
    timescale_ps: int | None = None
    is_fst: bool = False


def dump_of(
    waves: str | os.PathLike[str] | None,
    vcd: str | os.PathLike[str] | None,
    signals: Iterable[str],
    timescale: str | None,
) -> Dump | None:
    """The dump for a user's file: `waves` by its ending, `vcd` a Value Change Dump with any name.

    Raises `UsageError` if both are given, and for an unknown ending or unit.
    """
    path = vcd if waves is None else waves
    unit_ps = parse_timescale_ps(timescale) if timescale else None
    if path is None:
        return None
    if waves is None:
        return Dump(path, tuple(signals), unit_ps)
    if vcd is not None:
        raise UsageError("--waves and --vcd exclude each other: give one file for waveforms")
    ending = Path(waves).suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(f"{os.fspath(waves)}: expected a file that ends in .vcd or .fst")
    return Dump(path, tuple(signals), unit_ps, is_fst=ending == ".fst")


@dataclass
class Recording:
    """The outcome of a recording, filled when the run has ended, except `end_ps`.

    The caller that runs the machine sets `end_ps`; if it does not, the board's time is used.
    """

    end_ps: int | None = None
    frame: Frame | None = None
    notes: list[str] = field(default_factory=list)
    failed_saves: list[str] = field(default_factory=list)


def parse_timescale_ps(text: str) -> int:
    """A unit of time such as "1ns" or "10 ns" in picoseconds; raises `UsageError`."""
    match = _TIMESCALE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"timescale {text!r}: expected 1, 10 or 100 and s, ms, us, ns or ps")
    return int(match[1]) * _UNITS_PS[match[2]]


def format_timescale(unit_ps: int) -> str:
    """A unit of time as `parse_timescale_ps` takes it: "10 ns"."""
    unit = next(unit for unit, ps in _UNITS_PS.items() if ps <= unit_ps)
    return f"{unit_ps // _UNITS_PS[unit]} {unit}"


def chosen(
    signals: Sequence[Signal], patterns: Sequence[str], left_out: Set[int] = frozenset()
) -> list[int]:
    """The indexes of the signals that match one of the patterns; of all without patterns.

    Signals at the indexes `left_out` are included by patterns that fit no others. Raises
    `UsageError`, with the known signals, for a pattern without a match.
    """
    names = _names(signals)
    taken: set[int] = set()
    for pattern in patterns or ("*",):
        fits = {place for place, name in enumerate(names) if fnmatchcase(name, pattern)}
        if patterns and not fits:
            there = f"it has {_listed(names)}" if names else "it has none to record"
            hint = did_you_mean_or(pattern, names, there)
            raise UsageError(f"no signal of the board is called {pattern!r}{hint}")
        taken |= fits - left_out or fits
    return sorted(taken)


def _names(signals: Iterable[Signal]) -> list[str]:
    return [f"{scope}.{name}" for scope, name, _ in signals]


def _listed(names: Iterable[str]) -> str:
    """Names of signals for a message; the pins of a port are one: "gpioa.0 to gpioa.15"."""
    shown: list[str] = []
    for name in names:
        scope, _, number = name.rpartition(".")
        is_pin = number.isdecimal() and number != "0"
        if is_pin and shown and shown[-1].startswith(f"{scope}.0"):
            shown[-1] = f"{scope}.0 to {name}"
        else:
            shown.append(name)
    return ", ".join(shown)


def changes(pieces: Iterable[bytes]) -> Iterator[tuple[int, int, int]]:
    """The changes that the engine recorded: (time in picoseconds, index of the signal, level)."""
    for piece in pieces:
        for at_ps, word in _CHANGE.iter_unpack(piece):
            yield at_ps, word >> 1, word & 1


@contextlib.contextmanager
def recorded(
    machine: Machine, dump: Dump | None, frame_on: str | Trigger | None
) -> Iterator[Recording]:
    """Record signals for a file or a frame while the machine runs.

    The file is written also if the run fails. Raises `UsageError` for unknown wires, before
    anything is recorded.
    """
    recording = Recording()
    if dump is None and frame_on is None:
        yield recording
        return
    signals = machine.wave_signals()
    trigger = Trigger(frame_on) if isinstance(frame_on, str) else frame_on
    if trigger is not None:
        _check_bus(signals, trigger)
    bus = [
        place
        for place, (scope, name, _) in enumerate(signals)
        if trigger and scope == trigger.bus and name in trigger.wires
    ]
    if dump is None:
        machine.record_waves(bus)
        yield recording
        recording.frame = _frame(machine, signals, trigger)
        return
    pins = dict(machine.wave_pins())
    left_out = asked_for(machine)
    if not dump.signals:
        left_out |= {place for place, has_other_name in pins.items() if has_other_name}
    wanted = chosen(signals, dump.signals, left_out)
    with _scratch(dump.path) as scratch:
        machine.record_waves(sorted({*bus, *wanted}), scratch)
    try:
        yield recording
    finally:
        end_ps = machine.now() if recording.end_ps is None else recording.end_ps
        if not dump.signals:
            # without patterns, only the pins that changed
            moved = machine.wave_moved(wanted)
            wanted = [
                place for place, has in zip(wanted, moved, strict=True) if has or place not in pins
            ]
        recording.failed_saves += _write(machine, wanted, end_ps, dump)
    recording.notes += _notes(machine, signals, wanted, dump)
    recording.frame = _frame(machine, signals, trigger)


def _frame(machine: Machine, signals: Sequence[Signal], trigger: Trigger | None) -> Frame | None:
    if trigger is None:
        return None
    return kept_frame(signals, changes(machine.wave_changes()), trigger)


def asked_for(machine: Machine) -> set[int]:
    """The indexes of signals of buses and FIFOs, which change often and slow down the host."""
    return set(machine.wave_signals_of(list(ASKED_FOR)))


def _check_bus(signals: Sequence[Signal], trigger: Trigger) -> None:
    """Raises `UsageError` if the trigger's bus or wires are not recorded signals."""
    label, there = trigger.bus, {name for scope, name, _ in signals if scope == trigger.bus}
    missing = [name for name in trigger.wires if name not in there]
    if missing and trigger.wires != WIRES:
        raise UsageError(f"the board has no recordable wire {label}.{missing[0]}")
    buses = spi_buses(signals)
    if missing:
        known = f"it has {', '.join(buses)}" if buses else "it has none"
        hint = did_you_mean_or(label, buses, known)
        raise UsageError(f"the board has no recordable SPI bus {label!r}{hint}")


@contextlib.contextmanager
def _scratch(path: str | os.PathLike[str]) -> Iterator[str]:
    """An empty file on the disk of the result, deleted at the end of the block."""
    folder = Path(path).parent if Path(path).is_file() else None
    if folder and not os.access(folder, os.W_OK):
        folder = None
    import tempfile  # only runs with waveforms need it

    with tempfile.NamedTemporaryFile(dir=folder, prefix=".cyclescope-waves-") as scratch:
        yield scratch.name


def _write(machine: Machine, wanted: list[int], end_ps: int, dump: Dump) -> list[str]:
    """Write the file; the errors if it could not be written."""
    unit_ps = _unit_ps(machine, dump)
    try:
        with outputs.opened(dump.path, "wb") as file:
            for piece in _pieces(machine, wanted, unit_ps, end_ps, dump):
                file.write(piece)
    except OutputError as error:
        return [str(error)]
    return []


def _pieces(
    machine: Machine, wanted: list[int], unit_ps: int, end_ps: int, dump: Dump
) -> Iterator[bytes]:
    if not dump.is_fst:
        return machine.vcd(wanted, unit_ps, end_ps)
    with _scratch(dump.path) as scratch:
        return machine.fst(wanted, unit_ps, end_ps, scratch)


def _unit_ps(machine: Machine, dump: Dump) -> int:
    return dump.timescale_ps or machine.wave_summary()[1] or 1


def _notes(
    machine: Machine, signals: Sequence[Signal], wanted: list[int], dump: Dump
) -> Iterator[str]:
    recorded_changes, exact_ps = machine.wave_summary()
    if not signals:
        yield f"{dump.path}: the board has no signals to record"
    elif not recorded_changes:
        names = _listed(_names(signals[place] for place in wanted)) or "none"
        yield f"{dump.path}: no signal changed; recorded are {names}"
    unit_ps = _unit_ps(machine, dump)
    if exact_ps is not None and exact_ps % unit_ps:
        yield (
            f"{dump.path}: times are rounded to {format_timescale(unit_ps)}; "
            f"{format_timescale(exact_ps)} is exact"
        )
