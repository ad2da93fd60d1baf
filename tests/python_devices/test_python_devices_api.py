"""Devices in Python from Python: clocks, registers without a board, and objects of a run."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pokes
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import sized

from cyclescope import _engine
from cyclescope.devices import Clock, Device, Register
from cyclescope.errors import EngineError

HZ = (1, 3, 32_768, 7_000_000, 99_038_462, 100_000_000, 999_999_937, 4_000_000_000)


@pytest.mark.parametrize("hz", HZ)
@pytest.mark.parametrize("edge", [0, 1, 2, 1000, 123_456_789])
def test_an_edge_is_found_by_its_time(hz: int, edge: int) -> None:
    clock = Clock(hz)
    at_ps = clock.edge_ps(edge)
    assert (clock.next_edge(at_ps), clock.cycle(at_ps)) == (edge, edge)
    if edge:
        assert (clock.next_edge(at_ps - 1), clock.cycle(at_ps - 1)) == (edge, edge - 1)
    assert clock.after_ps(max(0, at_ps - 1), 5) == clock.edge_ps(edge + 5)


def test_times_are_those_of_the_engine() -> None:
    # as engine/devices/src/support/axi_lite.rs: a request at 12 ns is taken at the edge of 20 ns
    assert Clock(100_000_000).after_ps(12_000, 4) == 60_000


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
PROPERTY = {
    **{"name": "acme,size", "meaning": "its size", "kind": "number", "default": 3},
    **{"range": (0, 9), "one_of": None, "words": [], "source": ""},
}
MODEL = {
    **{"compatible": "acme,part", "replaces": False, "wire": None, "ranges": 1, "max_hz": 1},
    **{
        "ignored": [],
        "clocks": [],
        "interrupts": [],
        "properties": [PROPERTY],
        "make": None,
        "report": None,
    },
}


@settings(max_examples=sized(60, 200))
@given(st.sampled_from(sorted(MODEL)), st.sampled_from(sorted(PROPERTY)), ODD)
def test_an_odd_model_is_refused_or_taken(key: str, of_property: str, value: object) -> None:
    odd_property = MODEL | {"properties": [PROPERTY | {of_property: value}]}
    for models in ([MODEL | {key: value}], [odd_property], value):
        with contextlib.suppress(EngineError):
            assert isinstance(_engine.declared(models), list)


class Part(Device):
    """A device that no board has made."""

    status = Register(0x0, reset=0x30, access="w1c", mask=0x70)
    total = Register(0x4)

    @total.on_write
    def add(self, value: int) -> None:
        self.counters["writes"] = self.counters.get("writes", 0) + 1

    @total.on_read
    def doubled(self) -> int:
        return 2 * self.total


def test_a_device_can_be_tried_without_a_board() -> None:
    part, other = Part(), Part()
    assert part.read(0, 4) == (0x30, 0)
    part.write(0, 1, 0x10)
    part.write(4, 2, 0x1234)
    part.write(7, 1, 0x56)
    assert (part.status, part.read(4, 4)[0], part.read(6, 2)[0]) == (0x20, 0xAC00_2468, 0xAC00)
    assert (part.counters, other.counters, other.status) == ({"writes": 2}, {}, 0x30)


PROGRAM = """\
import cyclescope
from cyclescope.devices import Device, Register

@cyclescope.device("acme,part")
class Part(Device):
    "A part."
    value = Register(0)

board = cyclescope.Board("board.dts").load("program.elf")
before = board.device("part0")
for run in range(2):
    board.run(limit="1us")
    print(board.device("part0").value, board.device("part0") is before)
try:
    board.device("ram")
except cyclescope.EngineError as error:
    print(error)

@cyclescope.device("acme,part")
class Part(Device):
    "The same class, written anew, as in a notebook."
    value = Register(0, reset=5)

print(cyclescope.Board("board.dts").device("part0").value, before.value)
"""
BOARD = """\
/dts-v1/;
/include/ "minimal-rv32.dts"
/ {
	part0: part@20000000 {
		compatible = "acme,part";
		reg = <0x20000000 0x1000>;
	};
};
"""


def test_a_board_has_the_objects_of_its_last_run(tmp_path: Path) -> None:
    (tmp_path / "board.dts").write_text(BOARD)
    elf = pokes.program(pokes.HOMES["minimal-rv32"], [(0x2000_0000, 77)])
    (tmp_path / "program.elf").write_bytes(elf)
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True
    )
    message = "there is no device in Python called 'ram': there is part0"
    assert done.stdout.splitlines() == ["77 True", "77 False", message, "5 77"], done.stderr
