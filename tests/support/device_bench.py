"""A board with a device in Python, and a program that accesses it: for tests of the command."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pokes
from conftest import Command, Finished

BASE = 0x2000_0000
HOME = pokes.HOMES["minimal-rv32"]
HEAD = """\
import cyclescope
from cyclescope.devices import BusError, Device, I2cChip, Register, SpiChip

@cyclescope.device(
    "acme,part", clocks=["the clock of its registers"], interrupts=["its interrupt"]
)
class Part(Device):
    '''A part for tests.'''
"""
COMMAND = (sys.executable, "-m", "cyclescope")
NODE = 'part0: part@20000000 {\n\tcompatible = "acme,part";\n\treg = <0x20000000 0x1000>;\n'


class Bench:
    """A folder with a device, a board that has it, and a program that accesses it."""

    def __init__(self, cyclescope: Command, folder: Path) -> None:
        self.call = cyclescope
        self.folder = folder
        self.device("")
        self.node("")
        self.program([(BASE, 1)])

    def device(self, body: str, head: str = HEAD) -> None:
        """The class of the node's device, with these lines in it."""
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        (self.folder / "part.py").write_text(head + lines, encoding="utf-8")

    def node(self, properties: str) -> None:
        text = f'/dts-v1/;\n/include/ "minimal-rv32.dts"\n/ {{\n\t{NODE}'
        text += f"\t\tclocks = <&sys_clk>;\n{properties}\n\t}};\n}};\n"
        (self.folder / "board.dts").write_text(text, encoding="utf-8")

    def program(self, accesses: Sequence[pokes.Poke]) -> None:
        (self.folder / "program.elf").write_bytes(pokes.program(HOME, accesses))

    def run(self, *arguments: object) -> Finished:
        given = ("--board", "board.dts", "--devices", "part.py", "--limit", "1ms", *arguments)
        return self.call("run", "program.elf", *given)

    def result(self, *arguments: object) -> dict[str, Any]:
        """The result of a run, whatever its end."""
        self.run("--json", "result.json", *arguments)
        result: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return result
