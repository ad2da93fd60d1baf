"""Chips in Python on SPI: what they do beyond the wire, and what goes wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Command
from device_bench import Bench

from cyclescope.firmware import compiler_cache

HEAD = """\
import cyclescope
from cyclescope.devices import SpiChip

@cyclescope.device("national,lm70")
class Chip(SpiChip):
    'A chip for tests.'
"""
COMPILER = (
    sys.executable,
    "-m",
    "ziglang",
    "cc",
    "-target",
    "riscv32-freestanding",
    "-mcpu=generic_rv32+m+c",
    "-O2",
    "-ffreestanding",
    "-nostdlib",
    "-Wl,--image-base=0x80000000",
)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the board of the example, and with its program, which reads two bytes."""
    folder = tmp_path_factory.mktemp("lm70")
    for name, written in (("lm70.dts", "board.dts"), ("lm70.c", "lm70.c")):
        text = (ROOT / "docs" / "examples" / name).read_text(encoding="utf-8")
        # at once, and without the example's property
        text = text.replace("2100000", "10").replace("example,quarter-degrees = <85>;", "")
        (folder / written).write_text(text, encoding="utf-8")
    compiled = str(compiler_cache.folder())
    caches = {"ZIG_GLOBAL_CACHE_DIR": compiled, "ZIG_LOCAL_CACHE_DIR": compiled}
    command = [*COMPILER, "lm70.c", "-o", "program.elf"]
    subprocess.run(command, cwd=folder, check=True, env=os.environ | caches)
    return folder


@pytest.fixture
def bench(cyclescope: Command, tmp_path: Path, example: Path) -> Bench:
    """The board of the example with a chip on SPI, whose program reads two bytes."""
    bench = Bench(cyclescope, tmp_path)
    for name in ("board.dts", "program.elf"):
        shutil.copy(example / name, tmp_path)
    return bench


def test_a_chip_prints_counts_and_ends_the_run(bench: Bench) -> None:
    bench.device(
        """\
def reset(self): self.schedule(at_ps=7)
def event(self, token): self.print("event at", self.now_ps)
def select(self): return 0x12
def transfer(self, byte_in):
    self.counters["bytes"] = self.counters.get("bytes", 0) + 1
    return 0x34
def deselect(self):
    self.note("let go")
    self.exit(9)""",
        HEAD,
    )
    result = bench.result()
    assert result["exit_code"] == 9
    assert result["streams"] == {"spi0": "thermometer0: event at 7\n"}
    assert result["counters"]["spi0.thermometer0.bytes"] == 2
    assert any(note.startswith("spi0: thermometer0: let go") for note in result["notes"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def select(self): return 256", "ValueError: the byte shown is 256, and has to be"),
        ("def transfer(self, byte_in): return 'x'", "TypeError: the byte shown is 'x'"),
        ("def transfer(self): return 0", "TypeError: "),
        ("def deselect(self): raise RuntimeError", "RuntimeError, in deselect at"),
        (
            "def select(self): self.schedule(after_ps=0)\n"
            "def event(self, token): self.schedule(after_ps=0)",
            "a chip in Python has events without end at",
        ),
        ("def reset(self): 1 // 0", "ZeroDivisionError"),
    ],
)
def test_an_error_in_a_chip_ends_the_run(bench: Bench, body: str, message: str) -> None:
    bench.device(body, HEAD)
    assert message in bench.run().error
