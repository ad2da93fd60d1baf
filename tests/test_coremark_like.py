"""The speed benchmark's program does the same work on every core and emulator."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import cyclescope as package
from cyclescope import firmware
from cyclescope.results import Value

APP = "coremark_like"
ROUNDS = 3
CACHED: dict[str, Value] = {"memory": "sram", "cache": "on", "branch_prediction": "on"}
QEMU = shutil.which("qemu-system-arm")


def checksum(console: str) -> str:
    found = re.search(rf"^{ROUNDS} iterations, checksum (0x\w+)", console, re.M)
    assert found, console
    return found[1]


def run(board: str, **settings: Value) -> str:
    """What it computes on a board, whose settings these are."""
    chosen = {"iterations": ROUNDS, **settings}
    elf = firmware.build(firmware.app_recipe(firmware.load_app(APP), board, chosen))
    done = package.Board(board).load(elf).run("1s")
    assert (done.outcome, done.exit_code) == ("exit", 0)
    return checksum(done.console)


def test_arm_and_mips_compute_what_riscv_does() -> None:
    expected = run("minimal-rv32")
    assert run("ben-nanonote") == expected
    assert run("sama5d2-xplained") == expected
    assert run("sama5d2-xplained", **CACHED) == expected


@pytest.mark.skipif(QEMU is None, reason="qemu-system-arm is not installed")
def test_qemu_computes_what_the_board_does() -> None:
    elf = firmware.build_app(APP, "qemu-virt-arm", {"iterations": ROUNDS})
    command = [str(QEMU), *("-M", "virt", "-cpu", "cortex-a15", "-nographic", "-semihosting")]
    done = subprocess.run(
        [*command, "-kernel", str(elf)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert checksum(done.stdout) == run("sama5d2-xplained", **CACHED)
