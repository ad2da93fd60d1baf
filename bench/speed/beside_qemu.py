"""The CoreMark-like program with caches and all timing on, compared with QEMU."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

from processes import APP, built, instructions_of, measuring_command, timed
from record import say, say_ratios

from cyclescope import firmware
from cyclescope.firmware.settings import Value

TWO_CORES = ("coremark_pair", "stm32mp157c-dk2")
# of both cores together, for one of the second core's
ROUNDS_FOR_ONE = 5


@dataclass(frozen=True)
class Pair:
    """A board, and the emulator to compare it with; `name` names its speeds."""

    name: str
    core: str
    board: str
    qemu: str
    arguments: tuple[str, ...]
    package: str
    qemu_board: str
    board_settings: Mapping[str, Value] = field(default_factory=dict)
    qemu_settings: Mapping[str, Value] = field(default_factory=dict)


PAIRS = (
    Pair(
        name="riscv",
        core="MicroBlaze V",
        board="kc705-axi-quad-spi",
        qemu="qemu-system-riscv32",
        arguments=("-M", "virt", "-bios", "none"),
        package="qemu-system-misc",
        qemu_board="qemu-virt",
    ),
    Pair(
        name="arm",
        core="Cortex-A5",
        board="sama5d2-xplained",
        board_settings={"memory": "sram", "cache": "on", "branch_prediction": "on"},
        qemu="qemu-system-arm",
        arguments=("-M", "virt", "-cpu", "cortex-a15"),
        package="qemu-system-arm",
        qemu_board="qemu-virt-arm",
    ),
    Pair(
        name="a7",
        core="Cortex-A7",
        board="stm32mp157c-dk2",
        qemu="qemu-system-arm",
        arguments=("-M", "virt", "-cpu", "cortex-a7"),
        package="qemu-system-arm",
        qemu_board="qemu-virt-arm",
        qemu_settings={"processor": "a7"},
    ),
    Pair(
        name="m4",
        core="Cortex-M4",
        board="minimal-armv7m",
        qemu="qemu-system-arm",
        arguments=("-M", "mps2-an386"),
        package="qemu-system-arm",
        qemu_board="qemu-mps2-an386",
    ),
    Pair(
        name="mips",
        core="XBurst",
        board="ben-nanonote",
        qemu="qemu-system-mipsel",
        arguments=("-M", "malta"),
        package="qemu-system-mips",
        qemu_board="qemu-malta",
    ),
)


def compare(iterations: int, pairs: int) -> None:
    """Each core beside QEMU's, then two cores at once."""
    for pair in PAIRS:
        _compare_with_qemu(pair, iterations, pairs)
    _run_two_cores(iterations, pairs)


def _compare_with_qemu(pair: Pair, iterations: int, pairs: int) -> None:
    """All timing on, beside QEMU where it is installed."""
    ours = measuring_command(pair.board, built(pair.board, iterations, pair.board_settings))
    qemu = shutil.which(pair.qemu)
    peer: list[str] = []
    if qemu:
        elf = built(pair.qemu_board, iterations, pair.qemu_settings)
        # no ROMs of network and graphics cards: QEMU alone, without recommended packages, has none
        cards = ("-nic", "none", "-vga", "none")
        peer = [qemu, *pair.arguments, *cards, "-nographic", "-semihosting", "-kernel", str(elf)]
    seconds, peer_seconds = [], []
    for _ in range(pairs):
        host_seconds, done = timed(ours)
        seconds.append(host_seconds)
        if peer:
            peer_seconds.append(timed(peer)[0])
    millions, median = instructions_of(done), statistics.median(seconds)
    mips = millions / median
    say(
        f"{APP} on {pair.board} ({pair.core}), {iterations} iterations: "
        f"{millions:.0f} million instructions"
    )
    say(
        f"cyclescope, caches and all timing on: {median:6.2f} s  {mips:6.0f} MIPS",
        **{f"{pair.name}_mips": round(mips)},
    )
    if not peer:
        say(f"{pair.qemu}: not installed (Debian: apt-get install {pair.package}); no comparison")
        return
    peer_median = statistics.median(peer_seconds)
    name = f"{pair.qemu}, no timing:"
    say(
        f"{name:<37} {peer_median:6.2f} s  {millions / peer_median:6.0f} MIPS",
        **{f"{pair.name}_qemu_mips": round(millions / peer_median)},
    )
    say_ratios("ratio of speeds", seconds, peer_seconds, f"{pair.name}_ratio")


def _run_two_cores(iterations: int, pairs: int) -> None:
    """Two cores of different clocks at once."""
    app, board = TWO_CORES
    elf = firmware.build_app(app, board, {"iterations": max(1, iterations // ROUNDS_FOR_ONE)})
    seconds = []
    for _ in range(pairs):
        host_seconds, done = timed(measuring_command(board, elf))
        seconds.append(host_seconds)
    millions, median = instructions_of(done), statistics.median(seconds)
    say(f"{app} on both cores of {board}: {millions:.0f} million instructions")
    say(
        f"cyclescope, caches and all timing on: {median:6.2f} s  {millions / median:6.0f} MIPS",
        two_cores_mips=round(millions / median),
    )
