"""Waveforms, as other programs read them: sigrok-cli's decoders, and wellen."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import pywellen

NEEDS_SIGROK = pytest.mark.skipif(
    shutil.which("sigrok-cli") is None, reason="not installed: sigrok-cli"
)


@dataclass(frozen=True)
class Frame:
    """The data on an SPI bus while a chip was selected."""

    mosi: bytes
    miso: bytes


def decode_spi(
    vcd: Path,
    bus: str,
    select: int = 0,
    cpol: int = 0,
    cpha: int = 0,
    step_ps: int = 1000,
    data: tuple[str, str] = ("mosi", "miso"),
) -> list[Frame]:
    """The frames on chip select `cs<select>` of the SPI bus with the label `bus`.

    sigrok looks at the wires each `step_ps`, or each of the file's units if that is longer: fine
    enough to distinguish edges, and not so fine that it takes for ever. `data` are the two lines of
    data to and from the chip.
    """
    alone = vcd.with_suffix(".bus.vcd")
    alone.write_text(without_pauses(only_scope(vcd.read_text(), bus)))
    wires = f"clk=sck:mosi={data[0]}:miso={data[1]}:cs=cs{select}"
    decoder = f"spi:{wires}:cpol={cpol}:cpha={cpha}"
    mosi, miso = (
        [_bytes_of(line) for line in annotations(alone, decoder, f"spi={wire}-transfer", step_ps)]
        for wire in ("mosi", "miso")
    )
    return [Frame(*both) for both in zip(mosi, miso, strict=True)]


def _bytes_of(annotation: str) -> bytes:
    return bytes.fromhex(annotation.partition(":")[2])


def unit_ps(vcd: str) -> int:
    """A waveform's unit of time."""
    found = re.search(r"\$timescale\s+(\d+)\s*([a-z]+)\s+\$end", vcd)
    assert found
    return int(found[1]) * {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}[found[2]]


@dataclass(frozen=True)
class Edge:
    """A wire that changes, and the levels of its scope's other wires then."""

    at_ps: int
    wire: str
    level: int
    others: Mapping[str, int]


def edges(vcd: str, scope: str) -> list[Edge]:
    """All changes of the wires of one scope, in order; simultaneous ones as separate edges."""
    names: dict[str, str] = {}
    levels: dict[str, int] = {}
    found: list[Edge] = []
    at_ps = 0
    dumping = dumped = False
    unit = unit_ps(vcd)
    for line in only_scope(vcd, scope).splitlines():
        words = line.split()
        if words[:1] == ["$var"]:
            names[words[3]] = words[4]
        elif line.startswith("#"):
            at_ps = int(line[1:]) * unit
        elif words[:1] == ["$dumpvars"]:
            dumping = True
        elif words[:1] == ["$end"] and dumping:
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
    """A waveform with the signals of one scope alone: sigrok does not distinguish equal names."""
    kept: list[str] = []
    others: set[str] = set()
    inside = False
    for line in vcd.splitlines():
        words = line.split()
        if words[:1] == ["$scope"]:
            inside = words[2] == scope
        elif words[:1] == ["$var"] and not inside:
            others.add(words[3])
        elif words[:1] != ["$upscope"] and not _is_of(others, line):
            kept.append(line)
    return "\n".join(kept) + "\n"


def _is_of(codes: set[str], line: str) -> bool:
    """Whether a line is a change of one of the variables, of one bit or of several."""
    code = line.partition(" ")[2] if line[:1] == "b" else line[1:] if line[:1] in "01" else ""
    return code in codes


def without_pauses(vcd: str, longest_ps: int = 10_000_000) -> str:
    """A waveform in which nothing lasts longer than `longest_ps`: sigrok counts pauses out."""
    kept: list[str] = []
    longest = longest_ps // unit_ps(vcd)
    last = skipped = 0
    for line in vcd.splitlines():
        if line.startswith("#"):
            at = int(line[1:])
            skipped += max(0, at - last - longest)
            last = at
            line = f"#{at - skipped}"
        kept.append(line)
    return "\n".join(kept) + "\n"


def annotations(vcd: Path, decoders: str, of: str, step_ps: int = 1) -> list[str]:
    """The output of sigrok's decoders for a waveform: lines of the decoder's class `of`."""
    downsample = max(1, step_ps // unit_ps(vcd.read_text()))
    command = [
        "sigrok-cli",
        "--input-file",
        str(vcd),
        "--input-format",
        f"vcd:downsample={downsample}",
        "--protocol-decoders",
        decoders,
        "--protocol-decoder-annotations",
        of,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def read_of(file: Path) -> dict[str, list[tuple[int, int]]]:
    """Signals with their changes, each as its time in the file's units and its level."""
    variables = pywellen.Waveform(str(file)).all_vars()
    return {one.full_name: [(at, int(level)) for at, level in one.signal] for one in variables}
