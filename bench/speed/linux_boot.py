"""A boot of Debian's kernel to its first program, which powers the board off, beside QEMU."""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from processes import instructions_of, timed
from record import say, say_ratios

from cyclescope.errors import UsageError
from cyclescope.linux import initramfs, packages

BOARD = "stm32mp157c-dk2"
QEMU = "qemu-system-arm"
# the same kernel has drivers for both machines
MACHINE = ("-M", "virt", "-cpu", "cortex-a7", "-m", "480", "-nic", "none", "-vga", "none")
INIT = b"#!/bin/busybox sh\necho booted\n/bin/busybox poweroff -f\n"


def compare(pairs: int) -> None:
    """The boot with all timing on, beside QEMU where it is installed."""
    try:
        kernel, busybox = packages.kernel(), packages.busybox()
    except UsageError as missing:
        say(f"boot of Linux: {missing}")
        return
    with tempfile.TemporaryDirectory() as folder:
        initrd = Path(folder) / "initrd"
        files = initramfs.busybox_files(busybox.read_bytes()) | {"init": initramfs.file(INIT)}
        initrd.write_bytes(initramfs.archive(files))
        _compare(kernel, initrd, pairs)


def _compare(kernel: Path, initrd: Path, pairs: int) -> None:
    files = ("--kernel", str(kernel), "--initrd", str(initrd))
    ours = [sys.executable, "-m", "cyclescope", "boot", *files, "--board", BOARD, "--json", "-"]
    qemu = shutil.which(QEMU)
    theirs = [QEMU, *MACHINE, "-nographic", "-kernel", str(kernel), "-initrd", str(initrd)]
    seconds, peer_seconds = [], []
    for _ in range(pairs):
        host_seconds, done = timed(ours)
        seconds.append(host_seconds)
        if qemu:
            peer_seconds.append(timed([*theirs, "-append", "console=ttyAMA0"])[0])
    millions, median = instructions_of(done), statistics.median(seconds)
    say(f"boot of Debian's Linux on {BOARD} (Cortex-A7): {millions:.0f} million instructions")
    say(
        f"cyclescope, caches and all timing on: {median:6.2f} s  {millions / median:6.0f} MIPS",
        linux_boot_s=round(median, 1),
        linux_boot_mips=round(millions / median),
    )
    if not qemu:
        say(f"{QEMU}: not installed (Debian: apt-get install {QEMU}); no comparison")
        return
    peer_median = statistics.median(peer_seconds)
    # its own machine has other drivers, and so other instructions
    say(
        f"{QEMU}, no timing, its machine virt:  {peer_median:6.2f} s",
        linux_boot_qemu_s=round(peer_median, 1),
    )
    say_ratios("ratio of times", seconds, peer_seconds, "linux_boot_ratio")
