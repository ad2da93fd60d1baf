"""The speed benchmark's program does the same work on every core and emulator."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import elf32

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import Value

APP = "coremark_like"
ROUNDS = 3
CACHED: dict[str, Value] = {"memory": "sram", "cache": "on", "branch_prediction": "on"}
QEMU = shutil.which("qemu-system-arm")
QEMU_MIPS = shutil.which("qemu-system-mipsel")
# without its recommended packages it has no ROMs of network and graphics cards
NO_CARDS = ("-nic", "none", "-vga", "none")


def checksum(console: str) -> str:
    found = re.search(rf"^{ROUNDS} iterations, checksum (0x\w+)", console, re.M)
    assert found, console
    return found[1]


def run(board: str, **settings: Value) -> str:
    """The program's result on a board, with `settings`."""
    chosen = {"iterations": ROUNDS, **settings}
    elf = firmware.build(firmware.app_recipe(firmware.load_app(APP), board, chosen))
    done = package.Board(board).load(elf).run("1s")
    assert (done.outcome, done.exit_code) == ("exit", 0)
    return checksum(done.console)


def emulate(command: list[str], elf: Path) -> str:
    """Its output on QEMU. Some versions write UHI's standard output to their standard error."""
    done = subprocess.run(
        [*command, *NO_CARDS, "-nographic", "-semihosting", "-kernel", str(elf)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_arm_and_mips_compute_what_riscv_does() -> None:
    expected = run("minimal-rv32")
    assert run("ben-nanonote") == expected
    assert run("sama5d2-xplained") == expected
    assert run("sama5d2-xplained", **CACHED) == expected
    assert run("stm32mp157c-dk2") == expected
    assert run("minimal-armv7m") == expected


def test_the_program_for_qemus_arm_is_built_and_computes_what_the_board_does() -> None:
    elf = firmware.build_app(APP, "qemu-virt-arm", {"iterations": ROUNDS})
    assert elf.read_bytes()[18] == elf32.EM_ARM
    if QEMU is not None:  # no board of ours has its devices
        console = emulate([QEMU, "-M", "virt", "-cpu", "cortex-a15"], elf)
        assert checksum(console) == run("sama5d2-xplained", **CACHED)
        chosen: dict[str, Value] = {"iterations": ROUNDS, "processor": "a7"}
        recipe = firmware.app_recipe(firmware.load_app(APP), "qemu-virt-arm", chosen)
        console = emulate([QEMU, "-M", "virt", "-cpu", "cortex-a7"], firmware.build(recipe))
        assert checksum(console) == run("stm32mp157c-dk2")


def test_the_program_for_mps2_needs_no_device_and_computes_what_boards_do() -> None:
    elf = firmware.build_app(APP, "qemu-mps2-an386", {"iterations": ROUNDS})
    done = package.Board("minimal-armv7m").load(elf).run("1s")
    assert (done.outcome, done.exit_code) == ("exit", 0)
    consoles = [done.console]
    if QEMU is not None:
        consoles.append(emulate([QEMU, "-M", "mps2-an386"], elf))
    assert {checksum(console) for console in consoles} == {run("minimal-armv7m")}


def test_the_program_for_malta_needs_no_device_and_computes_what_boards_do() -> None:
    elf = firmware.build_app(APP, "qemu-malta", {"iterations": ROUNDS})
    done = package.Board("minimal-mips32").load(elf).run("1s")
    assert (done.outcome, done.exit_code) == ("exit", 0)
    consoles = [done.console]
    if QEMU_MIPS is not None:
        consoles.append(emulate([QEMU_MIPS, "-M", "malta"], elf))
    assert {checksum(console) for console in consoles} == {run("minimal-rv32")}
