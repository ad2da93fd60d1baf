"""Waveforms decoded by sigrok-cli's SPI decoder."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

NEEDS_SIGROK = pytest.mark.skipif(
    shutil.which("sigrok-cli") is None, reason="not installed: sigrok-cli"
)


@dataclass(frozen=True)
class Frame:
    """What went over an SPI bus while a chip was selected."""

    mosi: bytes
    miso: bytes


def decode_spi(
    vcd: Path, bus: str, select: int = 0, cpol: int = 0, cpha: int = 0, step_ps: int = 1000
) -> list[Frame]:
    """The frames on chip select `cs<select>` of the SPI bus with the label `bus`.

    sigrok looks at the wires each `step_ps`: fine enough to tell edges apart, and not so fine
    that it takes for ever.
    """
    alone = vcd.with_suffix(".bus.vcd")
    alone.write_text(without_pauses(only_scope(vcd.read_text(), bus)))
    wires = f"clk=sck:mosi=mosi:miso=miso:cs=cs{select}"
    decoder = f"spi:{wires}:cpol={cpol}:cpha={cpha}"
    mosi, miso = (_transfers(alone, step_ps, decoder, wire) for wire in ("mosi", "miso"))
    return [Frame(*both) for both in zip(mosi, miso, strict=True)]


@dataclass(frozen=True)
class Edge:
    """A wire that changes, and the levels of its scope's other wires then."""

    at_ps: int
    wire: str
    level: int
    others: Mapping[str, int]


def edges(vcd: str, scope: str) -> list[Edge]:
    """All changes of the wires of one scope, in order; what changes at once is told one by one."""
    names: dict[str, str] = {}
    levels: dict[str, int] = {}
    found: list[Edge] = []
    at_ps = 0
    dumped = False
    for line in only_scope(vcd, scope).splitlines():
        words = line.split()
        if words[:1] == ["$var"]:
            names[words[3]] = words[4]
        elif line.startswith("#"):
            at_ps = int(line[1:])
        elif words[:1] == ["$end"]:
            dumped = True
        elif line[:1] in ("0", "1"):
            name, level = names[line[1:]], int(line[0])
            if dumped:
                found.append(Edge(at_ps, name, level, dict(levels)))
            levels[name] = level
    return found


def sampled(vcd: str, scope: str) -> list[Frame]:
    """The frames on chip select `cs0` of a bus in modes 0 and 3, taken at the clock's edges."""
    frames: list[Frame] = []
    taken: list[Edge] = []
    for edge in edges(vcd, scope):
        if edge.wire == "cs0":
            if edge.level:
                frames.append(Frame(_octets(taken, "mosi"), _octets(taken, "miso")))
            taken = []
        elif (edge.wire, edge.level) == ("sck", 1):
            taken.append(edge)
    return frames


def _octets(taken: list[Edge], wire: str) -> bytes:
    bits = "".join(str(edge.others[wire]) for edge in taken)
    return bytes(int(bits[start : start + 8], 2) for start in range(0, len(bits) - 7, 8))


def only_scope(vcd: str, scope: str) -> str:
    """A waveform with the signals of one scope alone: sigrok does not tell equal names apart."""
    kept: list[str] = []
    others: set[str] = set()
    inside = False
    for line in vcd.splitlines():
        words = line.split()
        if words[:1] == ["$scope"]:
            inside = words[2] == scope
        elif words[:1] == ["$var"] and not inside:
            others.add(words[3])
        elif words[:1] != ["$upscope"] and not (line[:1] in "01" and line[1:] in others):
            kept.append(line)
    return "\n".join(kept) + "\n"


def without_pauses(vcd: str, longest_ps: int = 10_000_000) -> str:
    """A waveform in which nothing lasts longer than `longest_ps`: sigrok counts pauses out."""
    kept: list[str] = []
    last_ps = skipped_ps = 0
    for line in vcd.splitlines():
        if line.startswith("#"):
            at_ps = int(line[1:])
            skipped_ps += max(0, at_ps - last_ps - longest_ps)
            last_ps = at_ps
            line = f"#{at_ps - skipped_ps}"
        kept.append(line)
    return "\n".join(kept) + "\n"


def _transfers(vcd: Path, step_ps: int, decoder: str, wire: str) -> list[bytes]:
    command = [
        *("sigrok-cli", "--input-file", str(vcd), "--input-format", f"vcd:downsample={step_ps}"),
        *("--protocol-decoders", decoder),
        *("--protocol-decoder-annotations", f"spi={wire}-transfer"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert not done.stderr, done.stderr
    return [bytes.fromhex(line.partition(":")[2]) for line in done.stdout.splitlines()]
