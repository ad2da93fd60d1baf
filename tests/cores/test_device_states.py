"""Snapshots have the whole state of devices: on every shipped board, and in Python."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiers

from cyclescope import devices
from cyclescope._engine import exercise
from cyclescope.board import board_tree, shipped_boards
from cyclescope.devices import registry

ACCESSES = 6_000
SEEDS = range(3)
# Other boards have all devices of the following boards, except a chip or two.
VARIANTS = {
    "ben-nanonote-rf230",
    "nucleo-l4r5zi-n25q128a",
    "stm32mp157c-dk2-tty",
    "nucleo-f411re",
    "nucleo-l4r5zi",
    "stm32mp157c-dk2",
}
PLAIN = """
import collections
import dataclasses

import cyclescope
from cyclescope.devices import Device, Register


@dataclasses.dataclass
class Entry:
    value: int
    at_ps: int


@cyclescope.device("acme,plain-{number}", clocks=["its clock"])
class Plain(Device):
    '''A part for tests.'''

    control = Register(0)
    flags = Register(4, access="w1c")

    def __init__(self):
        self.fifo = collections.deque(maxlen=8)
        self.sums = {{}}

    @control.on_write
    def _written(self, value):
        self.fifo.append(Entry(value, self.now_ps))
        self.sums[value % 7] = self.sums.get(value % 7, 0) + value
        self.counters["writes"] = self.counters.get("writes", 0) + 1
        self.schedule(after_ps=value % 100_000, token=value % 3)

    @control.on_read
    def _read(self):
        return sum(entry.value ^ entry.at_ps for entry in self.fifo) + sum(self.sums.values())

    def event(self, token):
        self.flags |= 1 << token
        {body}
"""


@pytest.fixture(autouse=True)
def registered_for_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


@pytest.mark.parametrize(
    "board", tiers.mostly_long(shipped_boards(), lambda board: board not in VARIANTS)
)
@pytest.mark.parametrize("seed", tiers.mostly_long(SEEDS, [0]))
def test_devices_go_on_with_the_state_that_was_saved(board: str, seed: int) -> None:
    assert exercise(board_tree(board).to_dict(), None, seed, ACCESSES) == []


def of_python(folder: Path, number: int, body: str) -> list[str]:
    """State that a snapshot loses of a device in Python whose events run `body`."""
    file = folder / f"plain{number}.py"
    file.write_text(PLAIN.format(number=number, body=body), encoding="utf-8")
    devices.load(file)
    node = f'part0: part@20000000 {{ compatible = "acme,plain-{number}"; reg = <0x20000000 0x10>;'
    board = folder / "board.dts"
    board.write_text(
        f'/dts-v1/;\n/include/ "minimal-rv32.dts"\n/ {{ {node} clocks = <&sys_clk>; }}; }};\n'
    )
    tree = board_tree(str(board)).to_dict()
    return exercise(tree, registry.described(), 1, ACCESSES)


def test_a_device_in_python_is_saved_by_its_attributes(tmp_path: Path) -> None:
    assert of_python(tmp_path, 1, "self.control = token") == []


def test_a_device_in_python_that_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    (found,) = of_python(tmp_path, 3, "self.later = lambda: token")
    assert found.startswith("part0: it can't be saved: ")
    assert "part0 (acme,plain-3): " in found
    assert ", in save_state" in found
    (found,) = of_python(tmp_path, 4, "self.folder = __import__('pathlib').Path('x')")
    assert "can't be part of a snapshot: define its save_state and load_state" in found


def test_a_class_can_say_itself_what_is_saved(tmp_path: Path) -> None:
    saves = (
        "self.later = lambda: token\n\n"
        "    def save_state(self):\n"
        "        self.__dict__.pop('later', None)\n"
        "        return super().save_state()\n"
    )
    assert of_python(tmp_path, 5, saves) == []


def test_state_that_a_class_forgets_is_found(tmp_path: Path) -> None:
    forgets = (
        "pass\n\n"
        "    def save_state(self):\n"
        "        return b''\n\n"
        "    def load_state(self, data):\n"
        "        pass\n"
    )
    (found,) = of_python(tmp_path, 6, forgets)
    assert found.startswith("part0: ")
