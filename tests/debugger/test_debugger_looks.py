"""Looks at devices: registers and states of a run that halts, and snapshots of it."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import pytest
import tiers
from debugged import TARGETS, Target
from test_debugger import LIMIT, what_counts

import cyclescope
from cyclescope import devices
from cyclescope._engine import Hold
from cyclescope.board import shipped_boards
from cyclescope.board.debugger import Debugger
from cyclescope.board.description.devicetree_bindings import bindings
from cyclescope.devices import registry
from cyclescope.errors import EngineError, UsageError

SYST_CSR = 0xE000_E010
COUNTFLAG = 1 << 16
# Devices on a bus without registers of their own.
WITHOUT_NAMES = {"st,stm32-backup-sram", "st,stm32-signature"}


@pytest.fixture(params=TARGETS.values(), ids=TARGETS)
def target(request: pytest.FixtureRequest) -> Target:
    return request.param


def bases_of(target: Target) -> list[int]:
    """The addresses of the board's devices."""
    devices = target.load().describe()["devices"]
    # a MIPS core has them without caches in KSEG1
    segment = 0xA000_0000 if target.name == "mips" else 0
    return [segment | device["base"] for device in devices if device["base"] is not None]


def test_reads_of_registers_and_states_change_nothing(target: Target) -> None:
    plain = target.load().run(limit=LIMIT)
    chosen = random.Random(target.name)
    bases = bases_of(target)
    debugger = target.load().debug()
    answered = refused = 0
    for _ in range(tiers.sized(4, 40)):
        until = f"{debugger.time_ps // 1000 + chosen.randrange(1, 10**6)}ns"
        if debugger.run(until=until).reason == "end":
            break
        core = chosen.choice(list(debugger.cores.values()))
        for _ in range(8):
            addr = chosen.choice(bases) + 4 * chosen.randrange(0x20)
            before = core.time_ps, core.instructions, core.pc
            try:
                value = core.mem.read(addr, chosen.choice((1, 2, 4, 12)))
                assert core.mem.read(addr, len(value)) == value
                answered += 1
            except EngineError:
                refused += 1
            assert (core.time_ps, core.instructions, core.pc) == before
        assert debugger.devices[chosen.choice(list(debugger.devices))] is not ...
    debugger.run(limit=LIMIT)
    assert what_counts(debugger.result()) == what_counts(plain)
    assert answered > 10 * (refused // 20), (answered, refused)


def test_a_read_that_changes_something_is_undone() -> None:
    debugger = TARGETS["m4"].load().debug()
    mem = debugger.mem
    # SysTick's COUNTFLAG is cleared where SYST_CSR is read
    debugger.run(until="SysTick_Handler")
    assert [mem.u32(SYST_CSR) & COUNTFLAG for _ in range(3)] == [COUNTFLAG] * 3
    assert mem.load(SYST_CSR) & COUNTFLAG
    assert mem.u32(SYST_CSR) & COUNTFLAG == 0


def test_an_error_that_answers_is_an_error_and_no_change() -> None:
    target = TARGETS["m4"]
    plain = target.load().run(limit=LIMIT)
    debugger = target.load().debug()
    debugger.run(until="2ms")
    with pytest.raises(EngineError, match="0x40ffff00: the debugger can't read"):
        debugger.mem.u32(0x40FF_FF00)
    debugger.run(limit=LIMIT)
    assert what_counts(debugger.result()) == what_counts(plain)
    with pytest.raises(EngineError, match="the debugger can't read this"):
        debugger.mem.u32(SYST_CSR)


def is_plain(state: Any) -> bool:
    """Whether a state is of the types that it may be of."""
    match state:
        case dict():
            return all(is_plain(key) and is_plain(value) for key, value in state.items())
        case list():
            return all(map(is_plain, state))
        case None | bool() | int() | str() | bytes():
            return True
    return False


@pytest.mark.parametrize("board", shipped_boards())
def test_devices_have_states_by_names(board: str) -> None:
    hold = Hold(cyclescope.Board(board)._unloaded_machine())
    labels = hold.devices()
    assert len(set(labels)) == len(labels) > 1
    states = {label: hold.device_state(label) for label in labels}
    assert all(map(is_plain, states.values()))
    assert sum(isinstance(state, dict) and len(state) > 0 for state in states.values()) > 0
    assert hold.device_state("nobody") is None


def test_devices_of_boards_name_their_registers() -> None:
    named = {binding.compatible for binding in bindings() if binding.registers}
    boards = (cyclescope.Board(name)._unloaded_machine().describe() for name in shipped_boards())
    devices = [device for board in boards for device in board["devices"]]
    on_a_bus = {device["compatible"] for device in devices if device["base"] is not None}
    # what stands for no node, as the bit-band region, has no compatible
    assert on_a_bus - named - {""} == WITHOUT_NAMES


def test_a_state_is_what_the_firmware_made_of_it() -> None:
    debugger = TARGETS["m4"].load().debug()
    usart: Any = debugger.devices["usart2"]
    assert usart["registers"]["USART_BRR"] == 0
    assert usart["line"]["sent_characters"] == 0
    debugger.run(until="5ms")
    usart = debugger.devices["usart2"]
    assert usart["registers"]["USART_BRR"] == debugger.mem.u32(0x4000_4408) != 0
    assert usart["registers"]["USART_CR1"] == debugger.mem.u32(0x4000_440C)
    assert usart["line"]["sent_characters"] > 0
    assert "usart2" in debugger.devices
    with pytest.raises(KeyError):
        debugger.devices["usart99"]


def test_a_chip_is_there_under_its_own_label() -> None:
    hold = Hold(cyclescope.Board("kc705-axi-quad-spi")._unloaded_machine())
    flash = hold.device_state("flash0")
    assert flash["label"] == "flash0"
    assert isinstance(flash["target"], dict)


def test_a_device_in_python_has_its_attributes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # other tests know nothing of it
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    file = tmp_path / "looked_at.py"
    file.write_text(
        """
import collections
import cyclescope
from cyclescope.devices import Device, Register

@cyclescope.device("acme,looked-at")
class LookedAt(Device):
    '''A part for tests.'''

    control = Register(0)

    def __init__(self):
        self.fifo = collections.deque([1, 2])
        self.names = {3: b"xy", "z": -1}
        self.ratio = 0.5
        self.itself = self
""",
        encoding="utf-8",
    )
    devices.load(file)
    node = 'part0: part@20000000 { compatible = "acme,looked-at"; reg = <0x20000000 0x10>; };'
    board = tmp_path / "board.dts"
    board.write_text(f'/dts-v1/;\n/include/ "minimal-rv32.dts"\n/ {{ {node} }};\n')
    hold = Hold(cyclescope.Board(str(board))._unloaded_machine())
    state = hold.device_state("part0")["instance"]
    assert state["counters"] == {}
    assert state["fifo"] == [1, 2]
    assert state["names"] == {3: b"xy", "z": -1}
    assert state["ratio"] == "0.5"
    assert is_plain(state)


def test_a_run_continues_from_a_halts_snapshot(target: Target) -> None:
    plain = target.load().run(limit=LIMIT)
    debugger = target.load().debug()
    debugger.run(until=target.function)
    debugger.core.step(7)
    at = debugger.core.pc, debugger.core.instructions, debugger.time_ps
    snapshot = debugger.snapshot()
    debugger.core.step(50)
    again = target.load().debug(start_from=snapshot)
    assert (again.core.pc, again.core.instructions, again.time_ps) == at
    again.run(limit=LIMIT)
    ran = target.load().run(limit=LIMIT, start_from=snapshot)
    assert what_counts(again.result()) == what_counts(ran) == what_counts(plain)
    # earlier output is not printed again
    assert plain.console.endswith(ran.console)
    with pytest.raises(UsageError, match="has ended"):
        again.snapshot()


def test_anothers_snapshot_is_refused() -> None:
    snapshot = TARGETS["rv32"].load().debug().snapshot()
    with pytest.raises(EngineError, match="snapshot is of the board"):
        TARGETS["m4"].load().debug(start_from=snapshot)


def test_looks_at_an_ended_run() -> None:
    debugger: Debugger = TARGETS["rv32"].load().debug()
    assert debugger.run(limit="1s").reason == "end"
    states = {label: debugger.devices[label] for label in debugger.devices}
    with contextlib.suppress(EngineError):
        debugger.mem.u32(bases_of(TARGETS["rv32"])[0])
    # it stays ended
    assert debugger.run(limit="1s").reason == "end"
    assert {label: debugger.devices[label] for label in debugger.devices} == states
    assert debugger.result().exit_code == 0
