"""Files that name parts of themselves again and again: debug information, requests, scripts."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import hostile_files

from cyclescope import _engine
from cyclescope.board.can import parse_can_script
from cyclescope.board.scripts import parse_script
from cyclescope.errors import EngineError
from cyclescope.fitting import requests as fits
from cyclescope.sweeps import requests as sweeps
from fuzz import boards, running
from fuzz.inputs import Input, corpus
from fuzz.target_files import spoiled

_BOARD, _CORE = "minimal-armv7m", "cpu0"
_LIMIT_PS = 10**6
# Of the program's code, of nothing, and of its end.
_ADDRESSES = [*range(0, 0x80, 2), 0x1000_0000, 0xFFFF_FFFE]
_PARTS = (
    "1f",
    "1p",
    "2ab",
    "I",
    "E",
    "S_",
    "S0_",
    "S1_",
    "T_",
    "St",
    "Sa",
    "i",
    "v",
    "P",
    "R",
    "K",
    "N",
    "Z",
    "L",
    "X",
    "J",
    "DT",
    "Dp",
    "cl",
    "cv",
    "sr",
    "pl",
    "M",
    "F",
    "A_",
    "C1",
    "D2",
    "Ul",
    "_",
    "B1x",
    "Li5E",
    "LDnE",
    "TV",
    "GV",
    "Th0_",
    "1fSt",
    "StI1f",
    "B_",
    "B0_",
    "C3abc",
)
_TAGS, _NAMES = (0x11, 0x2E, 0x1D, 0x0B, 0x34, 5), (3, 0x6E, 0x10, 0x11, 0x12, 0x31, 0x47, 0x55, 2)
_FORMS = (1, 5, 6, 8, 0x0B, 0x0D, 0x0E, 0x0F, 0x11, 0x13, 0x17, 0x18, 0x19, 0x1B, 0x21, 0x23)


class Dwarf:
    """A program with debug information that says too much of too little."""

    name = "dwarf"

    def __init__(self) -> None:
        self._seeds = [seed["elf"] for seed in corpus(self.name)]

    def make(self, seed: str) -> Input:
        """Units of drawn entries, or one of the hostile files' kinds in some size, spoiled."""
        random = Random(seed)
        if random.random() < 0.2:
            elf = random.choice(self._seeds)
        else:
            elf = hostile_files.executable(_symbol(random), _sections(random), _few(random))
        return {
            "target": self.name,
            "elf": spoiled(random, elf, [b"\xff\xff\xff\xff", b"\0\0"], 3)
            if _often(random)
            else elf,
        }

    def run(self, made: Input) -> str:
        """The reader's addresses, functions and code, and its outcome."""
        machine = boards.machine(_BOARD)
        with running.reading():
            if running.refused(lambda: machine.load(made["elf"], "firmware")):
                return "refused"
            places = machine.places(_CORE, _ADDRESSES)
            assert len(places) == len(_ADDRESSES)
            machine.functions(_CORE)
            running.refused(lambda: machine.watch(["main"]))
            running.refused(lambda: machine.keep_calls(["main"], 3))
            machine.profile_functions([], by_site=False)
            running.refused(lambda: _engine.listing(made["elf"]))
            report = machine.run(_LIMIT_PS, lambda chunk: None, lambda name, chunk: None)
            machine.profile()
        running.check_report(report)
        return str(report["outcome"])


def _often(random: Random) -> bool:
    return random.random() < 0.7


def _few(random: Random) -> int:
    return random.choice((0, 1, 1, 1, 2, 300, 20_000))


def _symbol(random: Random) -> str:
    kind = random.randrange(4)
    if kind == 0:
        return hostile_files.doubled_name(random.randrange(1, 34))
    if kind == 1:
        return "main" * random.choice((1, 1, 1, 30, 2000))
    parts = random.choices(_PARTS, k=random.choice((3, 10, 60)))
    at = random.randrange(len(parts))
    parts[at:at] = parts[at : at + random.randrange(1, 5)] * random.choice((1, 4, 20))
    return random.choice(("_Z", "_Z", "_R", "_ZN")) + "".join(parts)


def _sections(random: Random) -> hostile_files.Sections:
    size = random.choice((1, 2, 10, 200, 3000))
    match random.randrange(6):
        case 0:
            return hostile_files.deep_inlines(size)
        case 1:
            return hostile_files.shared_ranges(size, random.choice((1, 50, 3000)))
        case 2:
            return hostile_files.shared_lines(size, random.choice((1, 50, 3000)))
        case 3:
            return hostile_files.attributes_of_nothing(random.choice((1, 100, 3000)), size)
    tags = []
    for _ in range(random.randrange(1, 6)):
        named = ((random.choice(_NAMES), random.choice(_FORMS)) for _ in range(random.randrange(5)))
        tags.append((random.choice(_TAGS), random.randrange(2), tuple(named)))
    # the value of an implicit constant is missing: the table continues without it
    entries = bytes(random.choices(range(len(tags) + 1), k=size)) + random.randbytes(size)
    known = hostile_files.shared_lines(random.choice((1, 100)), 1)
    made = hostile_files.drawn_units(tags, entries, random.choice((1, 3, 100)))
    strings = {name: random.randbytes(size) for name in (".debug_str", ".debug_ranges")}
    return {**known, **strings, **made}


class Request:
    """A request of a sweep and of a fit."""

    name = "toml"
    _PIECES = (
        "target",
        '"x.elf"',
        "'y'",
        " = ",
        "\n",
        "[",
        "]",
        "{",
        "}",
        ".",
        ",",
        '"""',
        "'''",
        "vary",
        "[vary]\n",
        "[[a]]\n",
        "set.a.b = 1\n",
        "1.5",
        "1979-05-27",
        "#",
        "\\",
        '"',
        "zip",
        "samples = 9\n",
        "cells",
        "prices",
        "limit",
        "0x",
        "inf",
        "true",
        "\t",
        "é",
    )

    def make(self, seed: str) -> Input:
        """Pieces of TOML in some order, some of them many times."""
        random = Random(seed)
        pieces = random.choices(self._PIECES, k=random.choice((3, 10, 40)))
        at = random.randrange(len(pieces))
        again = random.choice((1, 2, 100, 20_000))
        pieces[at:at] = pieces[at : at + random.randrange(1, 4)] * again
        head = random.choice(("", 'target = "x.elf"\n'))
        return {"target": self.name, "toml": head + "".join(pieces)}

    def run(self, made: Input) -> str:
        """The message about it; no plan is made."""
        file = Path("request.toml")
        file.write_text(made["toml"], encoding="utf-8")
        said = [_refused(read, file) for read in (sweeps.read_toml, fits.read_toml)]
        return "refused" if all(said) else "done"


class SerialScript:
    """A session at a serial line, and a node's on a CAN bus."""

    name = "script"
    _PIECES = (
        "expect",
        "send",
        "wait",
        "at",
        "end",
        " ",
        "\n",
        '"',
        '"> "',
        "\\n",
        "\\x41",
        "within",
        "pausing",
        "10ms",
        "1s",
        "0",
        "255",
        "-1",
        "#",
        "1us",
        'send "ab" pausing 1us\n',
        "\\",
        "123#",
        "1FFFFFFF#0102",
        "7FF#R8",
        "_9",
        "bitrate 500000\n",
        "(0000000001.250000) can0 ",
    )

    def make(self, seed: str) -> Input:
        """Pieces of scripts in some order, some of them many times."""
        random = Random(seed)
        pieces = random.choices(self._PIECES, k=random.choice((3, 10, 40)))
        at = random.randrange(len(pieces))
        again = random.choice((1, 2, 100, 20_000))
        pieces[at:at] = pieces[at : at + random.randrange(1, 4)] * again
        return {"target": self.name, "script": "".join(pieces)}

    def run(self, made: Input) -> str:
        """The message about it, or that it has steps."""
        readers = (lambda text: parse_script(text).items(), lambda it: parse_can_script(it).items())
        said = [_refused(read, made["script"]) for read in readers]
        return "refused" if all(said) else "done"


def _refused(read: Any, of: Any) -> bool:
    try:
        with running.reading():
            read(of)
    except EngineError as error:
        running.check_message(error)
        return True
    return False
