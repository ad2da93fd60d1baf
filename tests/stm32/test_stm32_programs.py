"""Programs for an STM32F4 Discovery from other sources: C libraries, C++, an RTOS, Rust."""

from __future__ import annotations

import atexit
import math
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import fft
import gcc
import pytest
from conftest import ROOT, Command
from gcc import CORTEX_M4, GCC, PACKAGES, has_newlib
from stored_results import source
from test_arm_gcc import DISCOVERY, PROGRAM
from tiers import mostly_long

from cyclescope import Board, firmware
from cyclescope.board.scripts import ExpectLed, Press, Release, Wait

GXX = "arm-none-eabi-g++"
PICOLIBC = Path("/usr/lib/picolibc/arm-none-eabi/picolibc.specs")
MS = 10**9
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
RUST = ROOT / "tests" / "firmware" / "rust_cortex_m"
# Symbols as rustc makes them by default from 2026 on: _RNvCs...
RUST_NAMES = "-C symbol-mangling-version=v0"
RUST_TARGET = "thumbv7em-none-eabihf"
# Debian's compiler and the sources of its library: cargo can build them for another target.
DEBIAN_RUSTC = Path("/usr/bin/rustc")
DEBIAN_LIBRARY = Path("/usr/lib/rustlib/src/rust/library")


def run(cyclescope: Command, elf: Path) -> tuple[int, list[str]]:
    """The status and the lines of a program that ends by itself, and has nothing noted."""
    done = cyclescope("run", elf, "--board", DISCOVERY, "--limit", "2s", "--quiet")
    assert done.stderr == ""
    return done.status, done.stdout.splitlines()


# ---- C


@pytest.mark.skipif(
    not (shutil.which(GCC) and PICOLIBC.is_file()),
    reason="needs the packages gcc-arm-none-eabi and picolibc-arm-none-eabi "
    "(scripts/install-debian-packages)",
)
def test_picolibc_with_its_own_start_up(cyclescope: Command, tmp_path: Path) -> None:
    elf = tmp_path / "program.elf"
    library = [f"--specs={PICOLIBC}", "--oslib=semihost", "--crt0=hosted"]
    places = {"flash": "0x08000000", "flash_size": "1M", "ram": "0x20000000", "ram_size": "112K"}
    link = [f"-Wl,--defsym=__{name}={at}" for name, at in {**places, "stack_size": "4K"}.items()]
    source = PROGRAM / "stm32f407_picolibc.c"
    command = [GCC, *CORTEX_M4, "-O2", "-g", *WARNINGS, *library, *link, source, "-lm", "-o", elf]
    subprocess.run(command, check=True)
    status, lines = run(cyclescope, elf)
    assert lines == [
        "data 42, constructor 1, thread 5",
        f"sorted 0 to 15, libc, pi {math.pi:.10f}",
    ]
    assert status == 7


# ---- CMSIS-DSP

# The folder of its release, as in the source distribution of PyPI's cmsisdsp.
CMSIS_DSP = os.environ.get("CYCLESCOPE_CMSIS_DSP", "")


@pytest.mark.skipif(
    not (has_newlib() and CMSIS_DSP),
    reason=f"needs the packages {PACKAGES}, and CYCLESCOPE_CMSIS_DSP, the folder of CMSIS-DSP",
)
def test_cmsis_dsp_at_168_mhz() -> None:
    lines = fft.run_of(Path(CMSIS_DSP)).console.splitlines()
    steps = [line.rpartition(", ")[0] for line in lines]
    # a sine of amplitude 1 is half of the points at its bin, the cosine half of that
    assert steps == [
        "fft 32: -16.0 at 3, 8.0 at 10",
        "fft 512: -256.0 at 3, 128.0 at 10",
        "fft 1024: -512.0 at 3, 256.0 at 10",
        "fir: 0.0 to 239.5",
    ]
    cycles = [int(line.rpartition(", ")[2].split()[0]) for line in lines]
    # a multiplication that accumulates takes 3, and each needs a load or two
    assert 3.5 < cycles[3] / (32 * 256) < 5
    stored = source().compilers[fft.EXPERIMENT].rows[: len(cycles)]
    if {(row.settings["gcc"], row.settings["library"]) for row in stored} == {
        (gcc.version(), fft.version_of(Path(CMSIS_DSP)))
    }:
        assert cycles == [row.simulated for row in stored]


# ---- C++


def has_gxx_with_exceptions() -> bool:
    """Whether the compiler has the C++ library for this core; newlib's small one cannot throw."""
    if not (has_newlib() and shutil.which(GXX)):
        return False
    call = [GXX, *CORTEX_M4, "-print-file-name=libstdc++.a"]
    found = subprocess.run(call, capture_output=True, text=True, check=False)
    return "/" in found.stdout


@pytest.mark.skipif(
    not has_gxx_with_exceptions(),
    reason="needs the packages gcc-arm-none-eabi, libnewlib-arm-none-eabi and "
    "libstdc++-arm-none-eabi-newlib (scripts/install-debian-packages)",
)
def test_exceptions_of_cpp(cyclescope: Command, tmp_path: Path) -> None:
    elf, start = tmp_path / "program.elf", tmp_path / "start.o"
    options = [*CORTEX_M4, "-O2", "-g", *WARNINGS]
    subprocess.run([GCC, *options, "-c", PROGRAM / "stm32f407_start.c", "-o", start], check=True)
    link = ["--specs=nosys.specs", "-nostartfiles", "-T", PROGRAM / "stm32f407.ld"]
    link += ["-Wl,--gc-sections,--no-warnings"]
    source = PROGRAM / "stm32f407_throws.cpp"
    subprocess.run([GXX, "-std=c++17", *options, start, source, *link, "-o", elf], check=True)
    status, lines = run(cyclescope, elf)
    assert lines == [
        "too deep at 20, 21 destroyed",
        "out of range",
        "a square is a square, a shape is not",
        "map 24",
    ]
    assert status == 0


# ---- FreeRTOS


@pytest.mark.parametrize(
    "board", mostly_long([DISCOVERY, "nucleo-f411re", "nucleo-l4r5zi"], {"nucleo-l4r5zi"})
)
def test_freertos(board: str) -> None:
    elf = firmware.build_app("freertos_hello", board, {})
    result = Board(board).load(elf).run("2s")
    assert result.exit_code == 0
    assert result.console.splitlines() == [
        f"FreeRTOS V11.2.0 on {board}",
        "10 messages, sum 55, in 50 ms; 10 interrupts",
        "sums in thousandths: 2000, 1500",
    ]
    # the 50 ms, and what the UART takes for some 110 characters of ten bits, the first line before
    assert 0.050 + 0.008 < result.elapsed_ps / 1e12 < 0.050 + 0.025


# ---- Rust


def rust_build() -> tuple[list[str], dict[str, str]] | None:
    """Options of cargo and variables of its environment for a Cortex-M4; None if it has no way."""
    if not shutil.which("cargo"):
        return None
    call = ["rustc", "--print", "target-libdir", "--target", RUST_TARGET]
    found = subprocess.run(call, capture_output=True, text=True, check=False)
    if found.returncode == 0 and Path(found.stdout.strip()).is_dir():
        return [], {"RUSTFLAGS": f"{RUST_NAMES} -C link-arg=-Tlink.x"}
    if DEBIAN_RUSTC.is_file() and DEBIAN_LIBRARY.is_dir() and shutil.which("arm-none-eabi-ld"):
        flags = f"{RUST_NAMES} -C link-arg=-Tlink.x -C linker=arm-none-eabi-ld"
        variables = {"RUSTC": str(DEBIAN_RUSTC), "RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": flags}
        return ["-Zbuild-std=core"], variables
    return None


@cache
def rust_target() -> Path:
    """The folder for programs in Rust: their common crates are built once."""
    target = Path(tempfile.mkdtemp(prefix="cyclescope-rust-"))
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    return target


def rust_program(name: str, chip: str = "stm32f407") -> Path:
    """A program in Rust for a chip's memory; the test is skipped where it can't be built."""
    way = rust_build()
    if way is None:
        pytest.skip(
            f"needs Rust's target {RUST_TARGET} (rustup target add), or the packages rustc-web, "
            "rust-web-src and binutils-arm-none-eabi (scripts/install-debian-packages rust)"
        )
    options, variables = way
    command = ["cargo", "rustc", "--quiet", "--release", "--locked", "--target", RUST_TARGET]
    command += ["--bin", name, *options, *(["--features", chip] if chip == "stm32mp157" else [])]
    environment = os.environ | variables | {"CARGO_TARGET_DIR": str(rust_target())}
    memory = ["--", "-C", f"link-arg=-L{RUST / 'memory' / chip}"]
    subprocess.run([*command, *memory], check=True, cwd=RUST, env=environment)
    return rust_target() / RUST_TARGET / "release" / name


# If the library has to be built, that takes 25 s of processor time.
@pytest.mark.long
def test_rust_on_cortex_m_rt(cyclescope: Command, tmp_path: Path) -> None:
    elf = rust_program("rust-cortex-m")
    status, lines = run(cyclescope, elf)
    total = sum(1 / number**2 for number in range(1, 1000))
    assert lines == [
        f"data 42, sum {total:.4f}",
        "20 ticks",
        "index out of bounds: the len is 3 but the index is 20",
    ]
    assert status == 7
    board = ("--board", DISCOVERY, "--no-console")
    files = {name: tmp_path / name for name in ("speedscope", "collapsed", "callgrind")}
    written = [part for name, path in files.items() for part in (f"--{name}", path)]
    shown = cyclescope("profile", elf, *board, "--function", "write_str", *written).stdout
    for name, text in {"profile": shown, **{n: f.read_text() for n, f in files.items()}}.items():
        assert "rust_cortex_m::" in text, name
        assert "_RN" not in text, name
    short = ("Uart::write_str", "rust_cortex_m::__cortex_m_rt_main", "fmt::write", "main")
    sections = [part for name in short for part in ("--section", name)]
    assert cyclescope("run", elf, *board, *sections).status == 7
    assert "(<rust_cortex_m::Uart as core::fmt::Write>::write_str+0x" in (
        cyclescope("run", elf, *board, "--limit", "2ms").error
    )
    assert "_RN" not in cyclescope("annotate", elf, "write_str", *board).stdout
    assert "_RN" not in cyclescope("disassemble", elf).stdout


@pytest.mark.long
def test_a_blinky_in_rust_on_all_boards() -> None:
    """Pins with types, as HALs in Rust have them: the light blinks, and takes the button."""
    boards = [
        (DISCOVERY, "stm32f407", "LD4", "B1"),
        ("nucleo-f411re", "stm32f407", "LD2", "B1"),
        ("nucleo-l4r5zi", "stm32f407", "LD3", "B1"),
        ("stm32mp157c-dk2", "stm32mp157", "LD7", "B3"),
    ]
    for name, chip, light, key in boards:
        elf = rust_program("blinky", chip)
        pressed = [Press(key), ExpectLed(light, within_ps=MS), Release(key)]
        steps = [Wait(45 * MS), *pressed, ExpectLed(light, False, MS), Wait(MS)]
        for _ in range(2):
            steps += [Press(key), ExpectLed(light, True, MS), Wait(MS), Release(key)]
            steps += [ExpectLed(light, False, MS), Wait(MS)]
        done = Board(name).load(elf).run("1s", script=steps[:-1])
        assert (done.outcome, done.exit_code) == ("exit", 0), (name, done.message)
        led = done.led(light)
        # four times it blinks, then it is on for the first press and twice by interrupts
        assert (led.times_on, led.times_off, led.is_on) == (7, 7, False), name
