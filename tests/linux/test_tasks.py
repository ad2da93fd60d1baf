"""Tasks and modules of Linux in profiles and timelines: of a small program, and Debian's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT, Command
from timelines import read

from cyclescope import Board, firmware
from cyclescope.board.scripts import parse_script
from cyclescope.linux import initramfs, packages
from cyclescope.profile.tables import rows

BOARD = "stm32mp157c-dk2"
PROGRAM = ROOT / "tests" / "firmware" / "stm32mp157" / "linux_tasks.c"
TASKS = {"from reset", "swapper 0 (idle)", "sh 1", "kthreadd 2", "dd 60", "dd 61"}


@pytest.fixture(scope="module")
def board() -> Board:
    elf = firmware.build(firmware.board_recipe("linux_tasks", BOARD, [PROGRAM], {}))
    return Board(BOARD).load(elf)


def test_processes_and_threads_are_tasks(board: Board) -> None:
    result = board.run("1s", profile=True)
    core = next(core for core in result.profile.cores if core.name == "cpu0")
    assert not core.notes
    by_task = {row.name: row for row in rows(core, "task")}
    assert set(by_task) == TASKS
    assert sum(row.self_cycles for row in by_task.values()) == core.cycles
    # by the rounds of their loops
    cycles = [by_task[name].self_cycles for name in ("sh 1", "kthreadd 2", "dd 60")]
    assert cycles == sorted(cycles, reverse=True)
    assert by_task["dd 60"].instructions == by_task["dd 61"].instructions
    assert replace(result, profile=None) == board.run("1s")


def test_a_modules_functions_have_its_name(board: Board) -> None:
    result = board.run("1s", profile=True)
    core = next(core for core in result.profile.cores if core.name == "cpu0")
    spin = next(row for row in rows(core, "function") if row.name == "spin [echo]")
    assert (spin.calls, spin.instructions) == (1, 2001)


def test_a_timeline_has_a_track_of_tasks(board: Board, tmp_path: Path) -> None:
    file = tmp_path / "tasks.pftrace"
    board.run("1s", trace=file)
    found = [one.name for one in read(file).on("cpu0/tasks")]
    assert set(found) == TASKS
    assert found[:4] == ["from reset", "sh 1", "kthreadd 2", "swapper 0 (idle)"]


HAS_PACKAGES = pytest.mark.skipif(
    not (packages.folder() / "packages.json").is_file(),
    reason="needs scripts/install-debian-packages linux",
)
MODULES = ("rpmsg_core", "rpmsg_ns", "virtio_rpmsg_bus")


@HAS_PACKAGES
@pytest.mark.long
def test_debians_kernel_has_its_tasks_and_modules(cyclescope: Command, tmp_path: Path) -> None:
    found = {file.stem: file for file in (packages.folder() / "modules").rglob("*rpmsg*.ko")}
    files = {f"lib/{name}.ko": found[name].read_bytes() for name in MODULES}
    archive = initramfs.of_busybox(packages.busybox().read_bytes(), files)
    (tmp_path / "modules.cpio").write_bytes(archive)
    call = ("boot", "--kernel", "debian", "--initrd", "modules.cpio", "--append", "quiet")
    assert cyclescope(*call, "--elf", "linux.elf").status == 0
    loads = "; ".join(f"insmod /lib/{name}.ko" for name in MODULES)
    script = parse_script(
        f'expect "/ # "\nsend "{loads}; dd if=/dev/zero bs=64k count=9 | md5sum\\r"\n'
        'expect "  -"\nexpect "/ # "\nsend "poweroff -f\\r"\n'
    )
    board = Board(BOARD).load(tmp_path / "linux.elf")
    result = board.run("20s", script=script, profile=True)
    assert replace(result, profile=None) == board.run("20s", script=script)
    core = next(core for core in result.profile.cores if core.name == "cpu0")
    names = {row.name for row in rows(core, "task")}
    assert {"from reset", "swapper 0 (idle)", "sh 1", "kthreadd 2"} <= names
    assert {"insmod", "dd", "md5sum", "poweroff"} <= {name.rpartition(" ")[0] for name in names}
    assert not [name for name in names if name.startswith(("task at", "stack of"))]
    functions = {row.name for row in rows(core, "function")}
    assert "__register_rpmsg_driver [rpmsg_core]" in functions
    assert "rpmsg_ns_init [rpmsg_ns]" in functions
