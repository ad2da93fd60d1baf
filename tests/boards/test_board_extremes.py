"""Each property that a shipped board has, or may have, set to extremes: refused, or run.

CYCLESCOPE_EXTREMES=all tries all 73,000 cases; without it, one in `STRIDE` of them.
"""

from __future__ import annotations

import json
import os
import signal
import traceback
from dataclasses import replace
from pathlib import Path

import board_extremes
import pokes
import pytest
from tiers import mostly_long, sized

from cyclescope._engine import Machine
from cyclescope.board import board_tree, shipped_boards
from cyclescope.board.description.devicetree import Node, Property

# Prime, and no divisor of the number of extremes: all of them come, and each property has some
# (not in `make test`, but each board and each kind of device has).
STRIDE = 1 if os.environ.get("CYCLESCOPE_EXTREMES") == "all" else sized(211, 11)
TIMEOUT_S = 1800


# Run in `make test`: together they have each kind of device.
IN_SHORT = {
    "ben-nanonote-rf230",
    "kc705-axi-quad-spi",
    "minimal-armv7a",
    "minimal-armv7m",
    "minimal-mips32",
    "minimal-rv32",
    "nios2-mmc",
    "nucleo-l4r5zi-sensors",
    "picosoc-icebreaker",
    "sama5d2-xplained",
    "stm32f4-disco",
    "stm32mp157c-dk2-tty",
}
BOARDS = mostly_long(pokes.HOMES, IN_SHORT)


def run_board(board: str, folder: Path) -> list[str]:
    """The faults, found by a separate process: its own end may be a fault."""
    progress, said, errors = (folder / name for name in ("at", "said", "errors"))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            # ends it where it hangs
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(TIMEOUT_S)
            with errors.open("wb") as file:
                os.dup2(file.fileno(), 2)
            said.write_text(json.dumps(board_extremes.tried(board, STRIDE, 0, progress)))
            status = 0
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        at = progress.read_text(errors="replace").strip() if progress.exists() else "the start"
        return [f"{at}: ended with status {status}: {errors.read_text(errors='replace')[-500:]}"]
    outcome = json.loads(said.read_text())
    assert outcome["tried"] > 0
    return outcome["found"]


def test_all_shipped_boards_are_tried() -> None:
    assert sorted(pokes.HOMES) == shipped_boards()


@pytest.mark.parametrize("board", BOARDS)
def test_a_property_set_to_extremes_is_refused_or_runs(board: str, tmp_path: Path) -> None:
    assert run_board(board, tmp_path) == []


# The longest of times, by the suffixes of properties.
LONGEST = {"cycles": 10**6, "clocks": 10**6, "us": 10**9, "ns": 10**9, "ps": 10**9, "ms": 3_600_000}


def changed(prop: Property, number: int) -> Property:
    return replace(prop, value=board_extremes.cells(number), file="--set", line=0)


# Which have ranges of their own: below the time between refreshes, what a card's command takes,
# what a block may wait for unknown to its code.
SHORTER = {
    "cyclescope,trfc-cycles": 1000,
    "cyclescope,response-clocks": 64,
    "cyclescope,idle-grant-cycles": 15,
}


def slow_down(node: Node) -> None:
    """Clocks that a UART can still make 1 Bd of, and each time as long as it may be."""
    for name, prop in list(node.props.items()):
        suffix = name.rpartition("-")[2]
        if name == "clock-frequency" and "-clock" in str(node.props.get("compatible")):
            node.props[name] = changed(prop, 16)
        elif name == "current-speed":
            node.props[name] = changed(prop, 1)
        elif name.startswith("cyclescope,") and suffix in LONGEST and prop.kind == "cells":
            longest = 255 if "/cpus/" in node.path else LONGEST[suffix]
            node.props[name] = changed(prop, SHORTER.get(name, longest))


@pytest.mark.parametrize("board", BOARDS)
def test_the_slowest_board_runs_to_the_end_of_time(board: str) -> None:
    tree, home = board_tree(board), pokes.HOMES[board]
    # not all cores' clocks can be slowed down
    elf = pokes.program(home, pokes.harmless_pokes(home, tree.to_dict()), sleeps=True)
    for node in tree.walk():
        slow_down(node)
    Machine(tree.to_dict())  # nothing is out of range
    for limit_ps in (pokes.LIMIT_PS, None):
        assert board_extremes.complaint(tree.to_dict(), elf, limit_ps) is None
