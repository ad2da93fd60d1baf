"""A run that goes on from a snapshot, in another machine or in the same, is the run without: its
report, what it prints, waveforms, profiles and timelines.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shipped_programs import NAMES, loaded

from cyclescope import firmware
from cyclescope._engine import EngineError, Machine, snapshot_time_ps
from cyclescope.board import Board

# boards with an app each that none of the programs is for
FURTHER = {
    "stm32f4-disco": "hello",
    "nucleo-f411re": "freertos_hello",
    "nucleo-f411re-sensors": "i2c_thermometer",
    "nucleo-l4r5zi": "flash_waits",
    "nucleo-l4r5zi-sensors": "i2c_thermometer",
    "nucleo-l4r5zi-n25q128a": "hello",
    "picosoc-hx8k": "hello",
    "minimal-armv7a": "hello",
    "stm32mp157c-dk2-lm75": "i2c_thermometer",
}
ALL = (*NAMES, *FURTHER)


@functools.cache
def board_of(name: str) -> Board:
    if name in FURTHER:
        return Board(name).load(firmware.build_app(FURTHER[name], name, {}))
    return loaded(name)


@dataclass(frozen=True)
class Watched:
    """What a run is watched by."""

    waits: bool = False
    profile: bool = False
    waves: bool = False
    timeline: bool = False
    skip_polling: bool = True


@dataclass
class Seen:
    """All that can be seen of a run."""

    report: dict[str, Any] | None = None
    console: list[bytes] = field(default_factory=list)
    streams: dict[str, bytes] = field(default_factory=dict)
    registers: list[int] = field(default_factory=list)
    recorded: dict[str, Any] = field(default_factory=dict)

    def stream(self, label: str, text: bytes) -> None:
        self.streams[label] = self.streams.get(label, b"") + text

    def copy(self) -> Seen:
        return Seen(console=list(self.console), streams=dict(self.streams))

    def ended(self, machine: Machine, report: dict[str, Any], watched: Watched) -> Seen:
        self.report, self.registers = report, machine.registers()
        self.console = [b"".join(self.console)]
        if watched.profile:
            self.recorded["profile"] = machine.profile()
        if watched.waves:
            self.recorded["waves"] = b"".join(machine.wave_changes())
        if watched.timeline:
            self.recorded["timeline"] = b"".join(machine.timeline())
        return self

    def run_on(self, machine: Machine, watched: Watched) -> Seen:
        report = machine.run(None, self.console.append, self.stream)
        return self.ended(machine, report, watched)


def machine_of(name: str, watched: Watched) -> Machine:
    machine = board_of(name).start()
    machine.skip_polling(watched.skip_polling)
    if watched.waits:
        machine.tell_waits()
    machine.watch(["main"])
    machine.watch_calls(["main"])
    if watched.profile:
        machine.profile_functions(["main"], True)
    if watched.waves:
        machine.record_waves(list(range(len(machine.wave_signals()))))
    if watched.timeline:
        machine.record_timeline(["wire", "busy", "serial", "core"], 1 << 22, 0, 1 << 62, 1000)
    return machine


@functools.cache
def whole(name: str, watched: Watched) -> Seen:
    return Seen().run_on(machine_of(name, watched), watched)


def check(name: str, watched: Watched, share: float) -> None:
    """Runs to a share of the run's time, takes a snapshot, and goes on in each way."""
    expected = whole(name, watched)
    assert expected.report is not None
    machine, seen = machine_of(name, watched), Seen()
    until_ps = int(share * expected.report["elapsed_ps"])
    ended = machine.run_to(until_ps, seen.console.append, seen.stream)
    if ended is not None:
        assert seen.ended(machine, ended, watched) == expected
        return
    snapshot = machine.snapshot()
    assert snapshot_time_ps(snapshot) >= until_ps
    restored = machine_of(name, watched)
    restored.restore(snapshot)
    assert restored.snapshot() == snapshot
    assert seen.copy().run_on(restored, watched) == expected
    assert seen.copy().run_on(machine, watched) == expected
    machine.restore(snapshot)
    assert seen.copy().run_on(machine, watched) == expected


WATCHED = st.builds(
    Watched, *(st.booleans() for _ in range(5))
)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(watched=WATCHED, share=st.floats(0, 1))
def test_a_run_goes_on_from_a_snapshot_as_without(
    name: str, watched: Watched, share: float
) -> None:
    check(name, watched, share)
