"""`cyclescope boot`, with a small kernel of ours in place of Linux, and with Debian's."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from conftest import Command
from small_kernel import FORMS, small_kernel

from cyclescope import Board
from cyclescope.board.description import devicetree
from cyclescope.board.scripts import parse_script
from cyclescope.linux import executable, flattened, kallsyms, packages

BOARD = "stm32mp157c-dk2"
TYPED = 'send "{word}\\r"\nexpect "{word}\\n/ # "\nsend "off\\r"\n'


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    return small_kernel("Image", tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_a_kernel_gets_what_the_protocol_says(
    form: str, cyclescope: Command, tmp_path: Path
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "init").write_text("#!/bin/sh\n")
    small_kernel(form, tmp_path)
    call = ("boot", "--kernel", form, "--initrd", "root")
    done = cyclescope(*call, "--append", "console=ttySTM0 quiet")
    assert done.status == 0, done.stderr
    assert done.stdout.startswith(
        "r0 00000000\nr1 ffffffff\ndevicetree d00dfeed\ncommand line console=ttySTM0 quiet\n"
        "initrd 070701\n"
    )
    assert "note: the devicetree of the board leaves out " in done.stderr


def test_a_vendors_devicetree_is_given_with_its_command_line(
    kernel: Path, cyclescope: Command, tmp_path: Path
) -> None:
    source = tmp_path / "vendor.dts"
    source.write_text(
        f"""/dts-v1/; / {{ #address-cells = <1>; #size-cells = <1>; compatible = "st,{BOARD}";
        chosen {{ bootargs = "of the vendor"; }};
        cpus {{ #address-cells = <1>; #size-cells = <0>; }};
        cec@40016000 {{ compatible = "vendor,cec"; reg = <0x40016000 0x400>; }}; }};"""
    )
    (tmp_path / "vendor.dtb").write_bytes(flattened.written(devicetree.parse(source)))
    done = cyclescope("boot", "--kernel", kernel, "--dtb", "vendor.dtb")
    assert done.status == 0, done.stderr
    assert "command line of the vendor\ninitrd \n" in done.stdout
    assert "note: vendor.dtb: disabled, as they have no model: cec@40016000\n" in done.stderr


def test_a_panic_ends_the_run_with_status_1(kernel: Path, cyclescope: Command) -> None:
    done = cyclescope("boot", "--kernel", kernel, "--append", "panic", "--limit", "1s")
    assert done.status == 1
    assert "Kernel panic - not syncing" in done.stdout
    assert done.error == (
        "kernel panic: VFS: Unable to mount root fs on unknown-block(0,0): give an --initrd, or "
        "name its root= in --append"
    )


def test_a_snapshot_at_the_prompt_goes_on_with_another_script(
    kernel: Path, cyclescope: Command, tmp_path: Path
) -> None:
    call = ("boot", "--kernel", kernel, "--append", "prompt")
    done = cyclescope(
        *call, "--snapshot", "prompt.snapshot", "--snapshot-at", "20ms", "--limit", "20ms"
    )
    assert done.status == 124, done.stderr
    for word in ("one", "other"):
        (tmp_path / "next.script").write_text(TYPED.format(word=word))
        done = cyclescope(*call, "--from", "prompt.snapshot", "--script", "next.script")
        assert done.status == 0, done.stderr
        assert f"{word}\n/ # off\n" in done.stdout


def test_functions_of_kernel_and_programs_have_names(
    kernel: Path, cyclescope: Command, tmp_path: Path
) -> None:
    # stand for vmlinux and for a program: at the small kernel's own address, and at 0x10000
    for name, address in (("vmlinux", 0xC0008000), ("user", 0x10000)):
        part = executable.Part.at(address, bytes(4096), is_code=True)
        symbols = [kallsyms.KernelSymbol(address, 4096, "begin")]
        (tmp_path / name).write_bytes(executable.executable(address, [part], symbols))
    call = ("boot", "--kernel", kernel, "--symbols", "vmlinux", "--symbols", "tool=user")
    assert cyclescope(*call, "--elf", "linux.elf").status == 0
    done = cyclescope("profile", "linux.elf", "--board", BOARD)
    assert done.status == 0, done.stderr
    assert "│ begin " in done.stdout
    functions = Board(BOARD).load(tmp_path / "linux.elf").functions("cpu0")
    assert (0x10000, 4096, "tool:begin") in functions
    assert (0xC0008000, 4096, "begin") in functions


def test_firmware_in_the_initramfs_has_names_on_its_core(
    kernel: Path, cyclescope: Command, tmp_path: Path
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "init").write_text("#!/bin/sh\n")
    part = executable.Part.at(0x10000000, bytes(64), is_code=True)
    symbols = [kallsyms.KernelSymbol(0x10000000, 64, "main_of_m4")]
    (tmp_path / "m4.elf").write_bytes(executable.executable(0x10000000, [part], symbols))
    call = ("boot", "--kernel", kernel, "--initrd", "root", "--elf", "linux.elf")
    assert cyclescope(*call, "--file", "lib/firmware/m4.elf=m4.elf").status == 0
    board = Board(BOARD).load(tmp_path / "linux.elf")
    assert (0x10000000, 64, "main_of_m4") in board.functions("cm4")


def test_a_written_elf_runs_like_any_other(kernel: Path, cyclescope: Command) -> None:
    call = ("boot", "--kernel", kernel, "--append", "from an ELF")
    assert cyclescope(*call, "--elf", "linux.elf").status == 0
    done = cyclescope("run", "linux.elf", "--board", BOARD)
    assert done.status == 0, done.stderr
    assert "command line from an ELF\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "--kernel is missing: give a zImage or an Image, or debian: "),
        (("--kernel", "none"), "none: No such file"),
        (("--kernel", "empty"), "empty: the file is empty"),
        (("--kernel", "text"), "text: neither a zImage nor an Image"),
        (("--kernel", "Image", "--dtb", "text"), "text: not a flattened devicetree (.dtb)"),
        (("--kernel", "Image", "--dtb", "none.dtb"), "none.dtb: No such file"),
        (("--kernel", "Image", "--initrd", "large"), "--initrd: its 500.0 MiB do not fit"),
        (("--kernel", "Image", "--initrd", ""), "--initrd: the name is empty"),
        (("--kernel", "Image", "--initrd", "vmlinux"), "--initrd vmlinux: a program, not an"),
        (("--kernel", "Image", "--initrd", "folder"), "folder: it has no file init"),
        (("--kernel", "Image", "--file", "bin/tool=text"), "--modules and --file add to an initr"),
        (("--kernel", "Image", "--file", "bin/tool"), "--file bin/tool: expected PATH=FILE"),
        (("--kernel", "Image", "--file", "../tool=text"), "--file ../tool=text: expected PATH="),
        (("--kernel", "Image", "--symbols", "text"), "--symbols text: not an ELF file"),
        (("--kernel", "Image", "--board", "kc705-axi-quad-spi"), "kc705-axi-quad-spi has no core"),
        (
            ("--kernel", "Image", "--board", "nucleo-f411re", "--disk", "text"),
            "--disk: nucleo-f411re has no slot for an SD card",
        ),
        (("--kernel", "Image", "--disk", "none.img"), "--disk: none.img: no such file"),
        (("--kernel", "Image", "--elf", "Image"), "Image: --elf would overwrite the kernel"),
        (("--kernel", "Image", "--cores", "3"), f"--cores 3: {BOARD} has 2 for Linux"),
    ],
)
def test_a_wrong_request_is_one_line(
    arguments: tuple[str, ...], why: str, kernel: Path, cyclescope: Command, tmp_path: Path
) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("text of somebody\n")
    (tmp_path / "vmlinux").write_bytes(b"\x7fELF")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(500 << 20)
    done = cyclescope("boot", *arguments)
    assert done.status == 121
    assert done.error.startswith(why), done.error


def test_a_second_core_waits_for_the_kernel_to_start_it(kernel: Path, cyclescope: Command) -> None:
    done = cyclescope("boot", "--kernel", kernel, "--append", "of two", "--cores", "2")
    assert done.status == 0, done.stderr
    assert "command line of two\n" in done.stdout
    assert "cycle stack of cpu1" in done.stdout


def test_packages_that_are_not_there_are_named(
    kernel: Path, cyclescope: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path / "cache"))
    how = "scripts/install-debian-packages linux brings it"
    for arguments in (["--kernel", "debian"], ["--kernel", kernel, "--initrd", "busybox"]):
        done = cyclescope("boot", *arguments)
        assert done.status == 121
        assert how in done.error


HAS_PACKAGES = pytest.mark.skipif(
    not (packages.folder() / "packages.json").is_file(),
    reason="needs scripts/install-debian-packages linux",
)
SUMMED = "dd if=/dev/zero bs=64k count=64 2>/dev/null | md5sum"


@HAS_PACKAGES
@pytest.mark.long
@pytest.mark.parametrize("tree", ["board", "debian"])
def test_debians_kernel_boots_to_a_prompt(tree: str, cyclescope: Command, tmp_path: Path) -> None:
    (tmp_path / "typed").write_text(
        f'expect "/ # "\nsend "{SUMMED}\\r"\nexpect "  -"\nexpect "/ # "\nsend "poweroff -f\\r"\n'
    )
    call = ("boot", "--kernel", "debian", "--initrd", "busybox", "--dtb", tree)
    done = cyclescope(*call, "--script", "typed", timeout_s=1800)
    assert done.status == 0, done.stderr
    assert hashlib.md5(bytes(64 << 16)).hexdigest() in done.stdout
    for bad in ("Oops", "WARNING:", "Internal error"):
        assert bad not in done.stdout


def shown_of(typed: str, cyclescope: Command, folder: Path, *arguments: object) -> str:
    """What the console shows of commands that are typed at busybox's prompt."""
    (folder / "typed").write_text(
        f'expect "/ # "\nsend "{typed}; echo do\\"\\"ne\\r"\nexpect "done"\nexpect "/ # "\n'
        'send "poweroff -f\\r"\n'
    )
    call = ("boot", "--kernel", "debian", "--initrd", "busybox", "--script", "typed")
    done = cyclescope(*call, *arguments, timeout_s=1800)
    assert done.status == 0, done.stderr
    for bad in ("Oops", "WARNING:", "Internal error"):
        assert bad not in done.stdout
    return done.stdout


@HAS_PACKAGES
@pytest.mark.long
def test_debians_kernel_reads_and_writes_a_card(cyclescope: Command, tmp_path: Path) -> None:
    data = bytes(range(256)) * 4096
    (tmp_path / "card.img").write_bytes(data + bytes(7 << 20))
    copied = "dd if=/dev/mmcblk0 of=/dev/mmcblk0 bs=1M count=1 seek=4 conv=fsync"
    typed = f"modprobe armmmci; sleep 1; {copied}; md5sum /dev/mmcblk0"
    given = ("--modules", "armmmci", "--disk", tmp_path / "card.img")
    shown = shown_of(typed, cyclescope, tmp_path, *given)
    assert "mmc0: new high speed SD card at address 0001" in shown
    written = (tmp_path / "card.img").read_bytes()
    assert written == data + bytes(3 << 20) + data + bytes(3 << 20)
    assert hashlib.md5(written).hexdigest() in shown


@HAS_PACKAGES
@pytest.mark.long
def test_debians_kernel_reads_and_writes_a_flash(cyclescope: Command, tmp_path: Path) -> None:
    copied = "head -c 65536 /bin/busybox > /dev/mtd0; head -c 65536 /dev/mtd0 | md5sum"
    typed = f"modprobe -a spi-nor spi-stm32-qspi; sleep 1; {copied}"
    given = ("--modules", "spi-nor,spi-stm32-qspi", "--board", f"{BOARD}-nor")
    shown = shown_of(typed, cyclescope, tmp_path, *given)
    assert "spi-nor spi0.0: n25q128a13 (16384 Kbytes)" in shown
    busybox = packages.busybox().read_bytes()[:65536]
    assert hashlib.md5(busybox).hexdigest() in shown


@HAS_PACKAGES
@pytest.mark.long
@pytest.mark.parametrize("tree", ["board", "debian"])
def test_debians_kernel_boots_on_both_cores(tree: str, cyclescope: Command, tmp_path: Path) -> None:
    typed = ("nproc", "cat /proc/interrupts", SUMMED)
    lines = [f'expect "/ # "\nsend "{line}\\r"\n' for line in (*typed, "poweroff -f")]
    (tmp_path / "typed").write_text("".join(lines))
    call = ("boot", "--kernel", "debian", "--initrd", "busybox", "--dtb", tree, "--cores", "2")
    done = cyclescope(*call, "--script", "typed", timeout_s=1800)
    assert done.status == 0, done.stderr
    assert "SMP: Total of 2 processors activated" in done.stdout
    assert "nproc\r\n2\r\n" in done.stdout
    assert hashlib.md5(bytes(64 << 16)).hexdigest() in done.stdout
    calls = next(line for line in done.stdout.splitlines() if line.startswith("IPI3:"))
    assert all(int(count) > 0 for count in calls.split()[1:3]), calls
    for bad in ("Oops", "WARNING:", "Internal error"):
        assert bad not in done.stdout


@HAS_PACKAGES
@pytest.mark.long
def test_debians_prompt_goes_on_with_other_scripts(cyclescope: Command, tmp_path: Path) -> None:
    call = ("boot", "--kernel", "debian", "--initrd", "busybox")
    taken = ("--snapshot", "prompt.snapshot", "--snapshot-at", "7s", "--limit", "7s")
    assert cyclescope(*call, *taken, timeout_s=1800).status == 124
    for typed, answer in (("echo $((6 * 7))", "42"), ("uname -m", "armv7l")):
        (tmp_path / "typed").write_text(
            f'send "{typed}\\r"\nexpect "{answer}"\nexpect "/ # "\nsend "poweroff -f\\r"\n'
        )
        done = cyclescope(*call, "--from", "prompt.snapshot", "--script", "typed", timeout_s=900)
        assert done.status == 0, done.stderr
        assert f"{answer}\r\n/ # " in done.stdout


@HAS_PACKAGES
@pytest.mark.long
def test_debians_kernel_has_names_in_its_profile(cyclescope: Command) -> None:
    call = ("boot", "--kernel", "debian", "--append", "earlycon")
    assert cyclescope(*call, "--elf", "linux.elf").status == 0
    given = ("--board", BOARD, "--limit", "4s", "--top", "100")
    done = cyclescope("profile", "linux.elf", *given, timeout_s=900)
    assert done.status == 0, done.stderr
    for name in ("zImage", "memset", "strcmp"):
        assert f"│ {name} " in done.stdout


@HAS_PACKAGES
@pytest.mark.long
@pytest.mark.parametrize("cores", [1, 2])
def test_debians_kernel_takes_the_same_cycles_interpreted_and_compiled(
    cores: int, cyclescope: Command, tmp_path: Path
) -> None:
    call = ("boot", "--kernel", "debian", "--initrd", "busybox", "--cores", str(cores))
    assert cyclescope(*call, "--elf", "linux.elf").status == 0
    both = {"cpu1.status": "okay"}
    board = Board(BOARD, both if cores == 2 else {}).load(tmp_path / "linux.elf")
    taken = tmp_path / "late.snapshot"
    board.run("6.6s", snapshot=taken, snapshot_at="6.5s")
    script = parse_script('expect "/ # "\nsend "poweroff -f\\r"\n')
    interpreted, compiled = (
        board.run("20s", start_from=taken, script=script, compile_after=compile_after)
        for compile_after in (0, None)
    )
    assert interpreted == compiled
    assert interpreted.exit_code == 0
