"""A run that continues from a snapshot, in another machine or in the same, equals the run without
one: its report, output, waveforms, profiles and timelines.
"""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hosted
import pytest
from conftest import Command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shipped_programs import NAMES, loaded
from test_stm32_sensors import CASES as SENSORS
from test_stm32_sensors import build as build_sensors
from tiers import mostly_long

from cyclescope import firmware
from cyclescope._engine import EngineError, Machine, snapshot_time_ps
from cyclescope.board import Board

# boards that none of the programs is for: an app, and the board that it is built for
FURTHER = {
    "stm32f4-disco": ("hello", "stm32f4-disco"),
    "nucleo-f411re": ("freertos_hello", "nucleo-f411re"),
    "nucleo-l4r5zi": ("flash_waits", "nucleo-l4r5zi"),
    "nucleo-l4r5zi-n25q128a": ("hello", "nucleo-l4r5zi"),
    "picosoc-hx8k": ("hello", "picosoc-hx8k"),
    "stm32mp157c-dk2-lm75": ("i2c_thermometer", "stm32mp157c-dk2"),
}
# their own programs ask the sensors
SENSED = ("nucleo-f411re-sensors", "nucleo-l4r5zi-sensors")
# it has no app
HOSTED = "minimal-armv7a"
ALL = (*NAMES, *FURTHER, *SENSED, HOSTED)
# Each kind of core and of controller once, an RTOS, and two cores.
SHORT = {
    "rv32-flash",
    "rv32-interrupts",
    "nios-v",
    "picorv32",
    "a5",
    "a7-and-m4-talking",
    "mips",
    "nucleo-f411re",
    "nucleo-f411re-sensors",
    HOSTED,
}


@functools.cache
def board_of(name: str) -> Board:
    if name in FURTHER:
        app, built_for = FURTHER[name]
        return Board(name).load(firmware.build_app(app, built_for, {}))
    if name in SENSED:
        return Board(name).load(build_sensors(SENSORS[name]))
    if name == HOSTED:
        return Board(name).load(hosted.built(name))
    return loaded(name)


@dataclass(frozen=True)
class Watched:
    """The recordings of a run."""

    waits: bool = False
    profile: bool = False
    waves: bool = False
    timeline: bool = False
    skip_polling: bool = True


@dataclass
class Seen:
    """All visible results of a run."""

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
    if name == HOSTED:
        machine.semihosting(None, None, [b"hosted", b"remove", b"nothing", b"remove", b"it"])
    # a timeline shows where a skip begins and ends, and that depends on where the run stops
    machine.skip_polling(watched.skip_polling and not watched.timeline)
    if watched.waits:
        machine.report_waits()
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


WATCHED = st.builds(Watched, *(st.booleans() for _ in range(5)))


@pytest.mark.parametrize("name", mostly_long(ALL, SHORT))
@settings(max_examples=1, suppress_health_check=[HealthCheck.too_slow])
@given(watched=WATCHED, share=st.floats(0, 1))
def test_a_run_from_a_snapshot_equals_the_whole_run(
    name: str, watched: Watched, share: float
) -> None:
    check(name, watched, share)


HELLO = "minimal-rv32"


def hello(board: str = HELLO, text: str = "hello", **overrides: Any) -> Board:
    return Board(board, overrides).load(firmware.build_app(text, board, {}))


def taken(board: Board, at_ps: int = 1_000_000) -> bytes:
    machine = board.start()
    assert machine.run_to(at_ps) is None
    snapshot = machine.snapshot()
    machine.finish()
    return snapshot


def refused(board: Board, snapshot: bytes) -> str:
    """Why a snapshot can't be loaded; the machine runs all the same."""
    machine = board.start()
    with pytest.raises(EngineError) as raised:
        machine.restore(snapshot)
    assert machine.run(None, None)["outcome"] == "exit"
    return str(raised.value)


def test_a_snapshot_of_another_board_or_program_is_refused() -> None:
    snapshot = taken(hello())
    assert "the snapshot is of the board" in refused(hello("kc705-axi-quad-spi"), snapshot)
    faster = hello(**{"cpu0.cyclescope,load-use-cycles": 5})
    message = refused(faster, snapshot)
    assert message.startswith("the snapshot is of a board that is not the same: /cpus/"), message
    other = Board(HELLO).load(firmware.build_app("coremark_like", HELLO, {"iterations": 1}))
    assert refused(other, snapshot) == "the snapshot is of another program"


@settings(max_examples=40)
@given(data=st.data())
def test_damaged_snapshots_are_refused(data: st.DataObject) -> None:
    snapshot = bytearray(hello_snapshot())
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, 8 * len(snapshot) - 1))
        snapshot[at // 8] ^= 1 << at % 8
    else:
        del snapshot[data.draw(st.integers(0, len(snapshot) - 1)) :]
    machine = hello().start()
    with pytest.raises(EngineError):
        machine.restore(bytes(snapshot))


@functools.cache
def hello_snapshot() -> bytes:
    return taken(hello())


def test_the_command_line_takes_a_snapshot_and_continues_from_it(
    cyclescope: Command, tmp_path: Path
) -> None:
    elf = firmware.build_app("coremark_like", HELLO, {"iterations": 2})
    call = ("run", elf, "--board", HELLO)
    cyclescope(*call, "--json", "whole.json")
    first = cyclescope(
        *call, "--json", "first.json", "--snapshot", "middle", "--snapshot-at", "300us"
    )
    second = cyclescope(*call, "--json", "second.json", "--from", "middle")
    assert (first.status, second.status) == (0, 0), first.stderr + second.stderr
    whole, once, again = (
        json.loads((tmp_path / f"{name}.json").read_text()) for name in ("whole", "first", "second")
    )
    assert once == whole == again


def test_the_command_line_says_what_it_can_not_do(cyclescope: Command, tmp_path: Path) -> None:
    elf = firmware.build_app("hello", HELLO, {})
    call = ("run", elf, "--board", HELLO)
    assert "--snapshot FILE --snapshot-at TIME" in cyclescope(*call, "--snapshot", "file").error
    late = cyclescope(*call, "--snapshot", "file", "--snapshot-at", "2s", "--limit", "1s")
    assert "is after the limit" in late.error
    (tmp_path / "none").write_bytes(b"no snapshot")
    assert "it is no snapshot" in cyclescope(*call, "--from", "none").error
    assert "No such file" in cyclescope(*call, "--from", "nowhere").error
    over = cyclescope(*call, "--snapshot", "file", "--snapshot-at", "1s")
    assert "the run ended before" in over.stderr
    assert not (tmp_path / "file").exists()
    (tmp_path / "file").write_bytes(hello_snapshot())
    own = cyclescope(*call, "--from", "file", "--snapshot", "file", "--snapshot-at", "1us")
    assert "would overwrite the snapshot" in own.error


def test_standard_input_is_read_again_by_the_machine_that_has_read_it() -> None:
    board = Board("minimal-rv32").load(hosted.built("minimal-rv32"))
    late_ps = board.run(arguments=["lines"], stdin=b"one\ntwo\n").elapsed_ps * 7 // 8

    def machine() -> Machine:
        reader, writer = os.pipe()
        os.write(writer, b"one\ntwo\n")
        os.close(writer)
        begun = board.start()
        begun.semihosting(None, reader, [b"hosted", b"lines"])
        os.close(reader)
        return begun

    first, second = bytearray(), bytearray()
    own = machine()
    begin = own.snapshot()
    assert own.run_to(late_ps, first.extend) is None
    own.restore(begin)
    assert own.run_to(late_ps, second.extend) is None
    assert first.startswith(b"one")
    assert second == first
    with pytest.raises(EngineError, match="the host does not give them again"):
        machine().restore(own.snapshot())
