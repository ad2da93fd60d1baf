"""The host's time of a call of a device in Python, and of an access to a device of the engine."""

from __future__ import annotations

import statistics
import struct
import sys
import tempfile
from pathlib import Path

from record import say

import cyclescope
from cyclescope.devices import Device, Register

BOARD = """/dts-v1/;
/include/ "minimal-rv32.dts"
/ { part0: part@20000000 { compatible = "%s"; reg = <0x20000000 0x1000>; }; };
"""
START = 0x80000000
CALLS = 0x40000
# Each load of the first register is a call; then the semihosting exit.
PROGRAM = struct.pack(
    "<11I",
    0x200002B7,  # lui t0, 0x20000
    0x00040337,  # lui t1, 0x40
    0x0002A383,  # lw t2, 0(t0)
    0xFFF30313,  # addi t1, t1, -1
    0xFE031CE3,  # bnez t1, -8
    0x01800513,  # li a0, 0x18
    0x000205B7,  # lui a1, 0x20
    0x02658593,  # addi a1, a1, 0x26
    0x01F01013,
    0x00100073,
    0x40705013,
)
# The limit of a call's time.
MOST_US = 5.0


@cyclescope.device("cyclescope-bench,plain")
class Plain(Device):
    """A device whose loads are calls of a method."""

    def read(self, offset: int, size: int) -> int:
        """Takes the same time in each call."""
        return 0


@cyclescope.device("cyclescope-bench,registers")
class Hooked(Device):
    """A device with a register that a method works out."""

    value = Register(0x0, access="ro")

    @value.on_read
    def worked_out(self) -> int:
        """Takes the same time in each call."""
        return 0


def measure(runs: int) -> None:
    """The host's time of a call, without the loop around it."""
    loop_us = _us("cyclescope,stub", runs)
    say(f"a device of the engine's          {loop_us:6.3f} us an iteration of a loop of loads")
    for what, name in (("a method", "plain"), ("a register's hook", "registers")):
        call_us = _us(f"cyclescope-bench,{name}", runs) - loop_us
        number = f"python_{name}_us"
        say(f"{'in Python, ' + what:<33} {call_us:6.3f} us a call", **{number: round(call_us, 2)})
        if call_us > MOST_US:
            sys.exit(f"bench/speed: a call of a device in Python takes more than {MOST_US} us")


def _us(compatible: str, runs: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "bench.dts"
        source.write_text(BOARD % compatible)
        board = cyclescope.Board(source).load(PROGRAM, base=START)
        times = [_wall_ns(board) for _ in range(runs)]
    return statistics.median(times) / CALLS / 1000


def _wall_ns(board: cyclescope.Board) -> int:
    # polls of the engine's own device would be skipped
    result = board.run(skip_polling=False)
    assert (result.outcome, result.exit_code) == ("exit", 0), result.message
    return result.wall_ns
