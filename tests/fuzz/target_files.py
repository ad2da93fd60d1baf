"""Damaged files other than ELF: programs as Intel HEX, S-records and UF2, and CMSIS-SVD files."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random

import bincopy
import hostile_files

import cyclescope
from cyclescope.board.description.svd import read_svd
from cyclescope.board.description.svd_board import Memory, board_source
from cyclescope.errors import EngineError
from fuzz import running
from fuzz.inputs import Input, corpus

_BOARD = "minimal-armv7m"
# A vector table, and a branch to itself.
_PROGRAM = struct.pack("<4I", 0x2000_8000, 9, 0xE7FE_E7FE, 0xBF00_BF00) * 20
_SVD = Path(__file__).resolve().parents[1] / "svd" / "acme.svd"


def spoiled(random: Random, data: bytes, tokens: list[bytes], most: int) -> bytes:
    """The bytes with a few of them changed, cut, doubled, or replaced by others that fit in."""
    spoiled = bytearray(data)
    for _ in range(random.randint(1, most)):
        at = random.randrange(len(spoiled) + 1)
        end = at + random.choice((1, 1, 2, 8, 40))
        match random.randrange(5):
            case 0:
                spoiled[at:end] = random.randbytes(random.randrange(4))
            case 1:
                del spoiled[at:end]
            case 2:
                spoiled[at:at] = spoiled[at:end]
            case 3:
                spoiled[at:end] = random.choice(tokens)
            case 4:
                del spoiled[max(at, 8) :]
    return bytes(spoiled)


def _formats() -> list[bytes]:
    file = bincopy.BinFile()
    file.add_binary(_PROGRAM, 0)
    block = struct.pack("<8I", 0x0A324655, 0x9E5D5157, 0, 0, 256, 0, 1, 0) + _PROGRAM[:256]
    uf2 = block.ljust(508, b"\0") + struct.pack("<I", 0x0AB16F30)
    return [file.as_ihex().encode(), file.as_srec().encode(), uf2, uf2 * 3]


class ProgramFile:
    """A program in a file without headers."""

    name = "file"
    _TOKENS = (
        b":00000001FF\n",
        b":020000040000FA\n",
        b"S9030000FC\n",
        b"UF2\n",
        b"\xff\xff\xff\xff",
    )

    def __init__(self) -> None:
        self._seeds = [*_formats(), *(seed["file"] for seed in corpus(self.name))]

    def make(self, seed: str) -> Input:
        """A valid file, damaged, or random bytes; with and without an address."""
        random = Random(seed)
        data = spoiled(random, random.choice(self._seeds), list(self._TOKENS), 5)
        made: Input = {"target": self.name, "file": data, "limit_ps": 10**6}
        if random.random() < 0.2:
            made["base"] = random.choice((0, 0x2000_0000, 0xFFFF_FFF0, random.randrange(2**32)))
        if random.random() < 0.2:
            made["entry"] = random.randrange(2**32)
        return made

    def run(self, made: Input) -> str:
        """The loader's message, or the program's end."""
        board = cyclescope.Board(_BOARD, unmapped="warn")
        try:
            with running.reading():
                board.load(made["file"], base=made.get("base"), entry=made.get("entry"))
        except EngineError as error:
            running.check_message(error)
            return "refused"
        return board.run(limit=made["limit_ps"]).outcome


def _drawn(random: Random) -> str:
    """Peripherals with clusters and registers in them, arrays and derived ones among them."""
    names = ("A", "B", "C%s", "D[%s]", "E%s_%s")
    paths = (*names, "C0", "D1", "A.B", "A.C1", "B.A.C%s", "A.A.A.A", "C%s.D[%s].A")
    counts = (0, 1, 2, 7, 300, 200_000, 4_294_967_295)

    def item(kind: str, inside: str) -> str:
        base = f' derivedFrom="{random.choice(paths)}"' if random.random() < 0.4 else ""
        dim = ""
        if random.random() < 0.4:
            index = random.choice(("", "", "0-6", "A,B", "A-G", "0-4294967295", "7-0"))
            dim = f"<dim>{random.choice(counts)}</dim><dimIncrement>4</dimIncrement>"
            dim += f"<dimIndex>{index}</dimIndex>" if index else ""
        name = random.choice(names) + "x" * random.choice((0, 0, 0, 5000))
        at = "baseAddress" if kind == "peripheral" else "addressOffset"
        return f"<{kind}{base}>{dim}<name>{name}</name><{at}>0</{at}>{inside}</{kind}>"

    def block(depth: int) -> str:
        inside = ""
        for _ in range(random.choice((0, 1, 2, 3, 40))):
            is_cluster = depth < 20 and random.random() < (0.9 if depth < 3 else 0.3)
            inside += item("cluster", block(depth + 1)) if is_cluster else item("register", "")
            if len(inside) > 200_000:
                break
        return inside

    all_of_them = (f"<registers>{block(0)}</registers>" for _ in range(random.randrange(1, 5)))
    return "".join(item("peripheral", random.choice((one, ""))) for one in all_of_them)


class Svd:
    """A CMSIS-SVD file, made into a board and into stubs of one."""

    name = "svd"
    _TOKENS = (
        b"<register>", b"</register>", b"<cluster>", b"<dim>4294967295</dim>", b"<dim>0</dim>",
        b"<size>64</size>", b"<size>0</size>", b"0xffffffff", b"-1", b"derivedFrom=\"RCC\"", b"%s",
        b"<name></name>", b"&#x22;", b"<baseAddress>0xe000e000</baseAddress>",
    )  # fmt: skip

    def __init__(self) -> None:
        self._seeds = [_SVD.read_bytes(), *(seed["svd"] for seed in corpus(self.name))]

    def make(self, seed: str) -> Input:
        """A valid file, or one with arrays and derived parts, damaged."""
        random = Random(seed)
        base = random.choice(self._seeds)
        if random.random() < 0.3:
            base = hostile_files.svd(_drawn(random)).encode()
        data = spoiled(random, base, list(self._TOKENS), 2)
        return {"target": self.name, "svd": data}

    def run(self, made: Input) -> str:
        """The message about the file, or that it gave boards."""
        file = Path("chip.svd")
        file.write_bytes(made["svd"])
        try:
            with running.reading():
                read_svd(file)
            cyclescope.Board(_BOARD, svd=file).describe()
            memories = (Memory("ram", 0x2000_0000, 0x1000),)
            source = board_source(read_svd(file), 16_000_000, memories)
            board = Path("chip.dts")
            board.write_text(source)
            cyclescope.Board(board).describe()
        except EngineError as error:
            running.check_message(error)
            return "refused"
        return "done"
