"""Settings that STM32s accept, and a board with nothing plugged in: RTC, SPI, USB."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Command

import cyclescope as package
from cyclescope import firmware

SOURCES = ROOT / "tests" / "firmware"


def numbers(text: str, pattern: str) -> list[int]:
    found = re.search(pattern, text)
    assert found, text
    return [int(number, 0) for number in found.groups()]


def printed(board: str, macros: dict[str, str]) -> tuple[dict[str, str], package.RunResult]:
    """The program's output on a board, by subject, and its run."""
    source = SOURCES / "stm32" / "taken.c"
    elf = firmware.build(firmware.board_recipe("taken", board, [source], macros))
    loaded = package.Board(board).load(elf)
    done = loaded.run("1s")
    assert (done.outcome, done.exit_code) == ("exit", 0), done
    single = loaded.run("1s", skip_polling=False)
    assert (single.console, single.cores) == (done.console, done.cores)
    return dict(line.split(": ", 1) for line in done.console.splitlines()), done


def test_an_stm32f407_takes_what_firmware_writes() -> None:
    lines, done = printed("stm32f4-disco", {})
    # RM0090 26.3.5: the registers are loaded as written; alarm A compares date 0, second 1.
    us, time, date = numbers(lines["alarm"], r"(\d+) us, time 00000(\d), date 0*(\d+)$")
    assert 1000 <= us <= 1200
    assert (time in (5, 6), date) == (True, 0)
    assert lines["backup SRAM"] == "1234ab78"
    # 100 bytes of 8 bits at PCLK / 4, without a pause; nothing is received.
    cycles, status = numbers(lines["one line"], r"(\d+) cycles, SR (\d+)$")
    assert 3200 <= cycles <= 3300
    assert status == 2
    # OVR and RXNE; nobody drives MISO.
    assert lines["RXONLY"] == "SR 41, DR ff"
    # 6 ms at 16 MHz after the session began: early suspend, suspend, SRQINT.
    (cycles,) = numbers(lines["USB"], r"after (\d+) cycles, GINTSTS 44000c20, DSTS 11$")
    assert 95_900 <= cycles <= 96_100
    protected = "backup_sram: it was written while the backup domain is protected"
    assert [note for note in done.notes if note.startswith(protected)]
    assert [note for note in done.notes if "usbotg_fs: nothing is plugged in" in note]
    assert len(done.notes) == 2, done.notes


def test_an_stm32l4r5_takes_what_firmware_writes() -> None:
    lines, done = printed("nucleo-l4r5zi", {"STM32L4": "1"})
    cycles, status = numbers(lines["one line"], r"(\d+) cycles, SR (\d+)$")
    assert 3200 <= cycles <= 3300
    assert status == 2
    assert lines["RXONLY"].startswith("SR 41")
    # 6 ms at 4 MHz.
    (cycles,) = numbers(lines["USB"], r"after (\d+) cycles, GINTSTS 44000c20, DSTS 11$")
    assert 23_900 <= cycles <= 24_100
    assert len(done.notes) == 1, done.notes


def test_an_stm32mp157_has_crc_units_and_random_numbers() -> None:
    board = "stm32mp157c-dk2"
    source = SOURCES / "stm32mp157" / "words.c"
    elf = firmware.build(firmware.board_recipe("words", board, [source]))
    done = package.Board(board).load(elf).run("1s")
    assert done.console.splitlines() == [
        "CRC1: df8a8a2b",
        "RNG1: other words, SR 0",
        "CRC2: df8a8a2b",
        "RNG2: other words, SR 0",
    ]
    assert done.notes == ()


# A register that is waited for: for a bit that comes, and for one that clears itself.
WAITS = r"""
#define R(address) (*(volatile unsigned *)(address))
void reset(void) {
    while ((R(0x40028010) & 1u << 31) == 0) { }
    R(0x40028010) |= 1;
    while (R(0x40028010) & 1) { }
    __asm volatile("movs r0, #0x18; ldr r1, =0x20026; bkpt 0xab" ::: "r0", "r1");
    for (;;) { }
}
#define VECTORS __attribute__((section(".vectors"), used))
VECTORS void *const table[] = {(void *)0x20001000, (void *)reset};
"""
STUB = """/dts-v1/;
/include/ "stm32f4-disco.dts"

/ {
	waited@40028000 {
		compatible = "cyclescope,stub";
		reg = <0x40028000 0x400>;
		cyclescope,registers = "CTL 0x10 REGISTER";
	};
};
"""


# -O2 has several loads of the register in a round of a loop.
@pytest.fixture(scope="module", params=["-Os", "-O2"])
def waits(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("waits")
    source = folder / "waits.c"
    source.write_text(WAITS)
    script = SOURCES / "stm32" / "parts.ld"
    elf = folder / "waits.elf"
    target = ["-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m4+vfp4d16sp"]
    flags = [request.param, "-ffreestanding", "-nostdlib", "-Wl,--entry=reset", "-T", str(script)]
    compiler = [sys.executable, "-m", "ziglang", "cc"]
    subprocess.run([*compiler, *target, *flags, source, "-o", elf], check=True, cwd=folder)
    return elf


def test_an_advised_answer_was_tried(cyclescope: Command, waits: Path, tmp_path: Path) -> None:
    first = cyclescope(
        "run", waits, "--board", "stm32f4-disco", "--unmapped", "warn", "--limit", "1ms"
    )
    assert "`ones 0x80000000` ends the wait (tried)" in " ".join(first.stderr.split())
    # The advised change leads to the next wait, for a bit that the hardware clears.
    board = tmp_path / "board.dts"
    board.write_text(STUB.replace("REGISTER", "ones 0x80000000"))
    second = cyclescope("run", waits, "--board", board, "--limit", "1ms")
    assert "`ro reset 0x80000000` ends the wait (tried)" in " ".join(second.stderr.split())
    board.write_text(STUB.replace("REGISTER", "ro reset 0x80000000"))
    third = cyclescope("run", waits, "--board", board, "--limit", "1ms")
    assert third.status == 0, third.stderr


def test_a_part_with_a_model_can_be_a_stub(cyclescope: Command, tmp_path: Path) -> None:
    board = tmp_path / "board.dts"
    board.write_text(
        '/include/ "stm32f4-disco.dts"\n'
        '&usbotg_fs {\n\tcompatible = "st,stm32-otgfs", "cyclescope,stub";\n'
        '\tcyclescope,registers = "GRSTCTL 0x10 ro reset 0x80000000";\n};\n'
    )
    done = cyclescope("board", board)
    assert done.status == 0, done.stderr
