"""Damaged boards: their text, their trees, and changes by `--set`."""

from __future__ import annotations

import functools
import struct
from pathlib import Path
from random import Random
from typing import Any

import elf32

from cyclescope import resources
from cyclescope._engine import EngineError, Machine
from cyclescope.board.description import devicetree
from cyclescope.board.description.devicetree import Node, Property
from cyclescope.board.description.overrides import apply_overrides, parse_set, paths
from fuzz import boards, running
from fuzz.inputs import Input, MisbehaviourError, corpus

_LIMIT_PS = 10**6
_TOKENS = ("<", ">", ";", "{", "};", '"', "<0>", "<0xffffffff>", "&", "@", "/", "[", "]", "(", ")")
_TOKENS += ("<(1 << 63)>", "/delete-node/ ", "/delete-property/ ", "/bits/ 64 <", "a: ", "*", "\0")
_TOKENS += ('\n#include "board.dts"\n', "\n#include <a.h>\n", "\n#define ", '"*: assumed: x"')
_TOKENS += ('/include/ "board.dts"\n', "<&cpu0>", "\\", "=", ",", "<1 2 3>", "é", "-1", "9" * 40)
# Names of files on the host are no matter of chance: a folder of the worker's own has them.
_FILES = ("flash.bin", "no/such/flash.bin", "", ".", "flash.bin/x", "a" * 300)


class BoardText:
    """The source of a board, with something else in places."""

    name = "dts"

    def __init__(self) -> None:
        shipped = [boards.source_file(name).read_text(encoding="utf-8") for name in boards.NAMES]
        # a small one is parsed in a tenth of the time
        self._seeds = [text for text in shipped if len(text) < 6000] * 3 + shipped
        self._seeds += [made["source"] for made in corpus(self.name)]

    def make(self, seed: str) -> Input:
        """Characters removed, tokens put in, lines elsewhere."""
        random = Random(seed)
        text = random.choice(self._seeds)
        for _ in range(random.randrange(1, 5)):
            text = _spoiled(random, text)
        return {"target": self.name, "source": text}

    def run(self, made: Input) -> str:
        """The parser's message, or the engine's."""
        for included in resources.boards().resolve().glob("*.dtsi"):
            if not Path(included.name).exists():
                Path(included.name).symlink_to(included)
        path = Path("board.dts")
        path.write_bytes(made["source"].encode("utf-8", "surrogateescape"))
        return _built(lambda: devicetree.parse(path))


def _spoiled(random: Random, text: str) -> str:
    at, other = random.randrange(len(text) + 1), random.randrange(len(text) + 1)
    match random.randrange(6):
        case 0:
            return text[:at] + text[at + random.randrange(30) :]
        case 1 | 2:
            return text[:at] + random.choice(_TOKENS) + text[at + random.choice((0, 0, 1, 5)) :]
        case 3:
            lines = text.splitlines(keepends=True)
            if len(lines) > 1:
                lines.insert(random.randrange(len(lines)), random.choice(lines))
                del lines[random.randrange(len(lines))]
            return "".join(lines)
        case 4:
            return text[:at] + text[other : other + random.randrange(200)] + text[at:]
        case _:
            return text[:at] + chr(random.choice((0, 9, 34, 92, 127, 233, 0xDC80))) + text[at + 1 :]


class BoardTree:
    """A board's tree, with properties and nodes changed as no text can have them, too."""

    name = "tree"

    def make(self, seed: str) -> Input:
        """Some changes of a shipped board."""
        random = Random(seed)
        board = random.choice(boards.NAMES)
        nodes = _nodes(board)
        count = random.choice((1, 1, 1, 2, 3, 6))
        changes = [_tree_change(random, nodes) for _ in range(count)]
        return {"target": self.name, "board": board, "changes": changes}

    def run(self, made: Input) -> str:
        """Whether it is refused, or how a small program on it ends."""

        def changed() -> Node:
            root = boards.tree(made["board"])
            for change in made["changes"]:
                _apply(root, change)
            return root

        return _built(changed)


@functools.cache
def _nodes(board: str) -> list[tuple[str, list[Property]]]:
    return [(node.path, list(node.props.values())) for node in boards.tree(board).walk()]


def _tree_change(random: Random, nodes: list[tuple[str, list[Property]]]) -> dict[str, Any]:
    path, props = random.choice([node for node in nodes if node[1]])
    prop = random.choice(props)
    chance = random.random()
    if chance < 0.08:
        return {"node": path, "drop": True}
    if chance < 0.16:
        return {"node": path, "move": random.choice(nodes)[0]}
    if chance < 0.22:
        return {"node": path, "copy": random.choice(nodes)[0]}
    if chance < 0.34:
        return {"node": path, "prop": prop.name, "value": None}
    if chance < 0.42:
        _, others = random.choice([node for node in nodes if node[1]])
        prop = random.choice(others)
        return {"node": path, "prop": prop.name, "value": prop.value}
    return {"node": path, "prop": prop.name, "value": _raw(random, prop.name, prop.value)}


def _raw(random: Random, name: str, old: bytes) -> bytes:
    """Cells with other numbers, another count of them, or text."""
    if "image" in name:
        return random.choice(_FILES).encode() + b"\0"
    if "sources" in name and random.random() < 0.8:
        return old
    chance = random.random()
    if chance < 0.06:
        return b""
    if chance < 0.12:
        return random.randbytes(random.randrange(20))
    if chance < 0.18:
        return old[: random.randrange(len(old) + 1)]
    if chance < 0.24:
        return old + old
    cells = list(struct.unpack(f">{len(old) // 4}I", old[: len(old) & ~3])) or [0]
    for _ in range(random.choice((1, 1, 2))):
        cells[random.randrange(len(cells))] = _number(random)
    return struct.pack(f">{len(cells)}I", *cells)


def _number(random: Random) -> int:
    chance = random.random()
    if chance < 0.4:
        return random.randrange(40)
    if chance < 0.7:
        return (1 << random.randrange(33)) + random.choice((-1, 0, 0, 1)) & 0xFFFF_FFFF
    return random.getrandbits(32)


def _apply(root: Node, change: dict[str, Any]) -> None:
    found = {node.path: node for node in root.walk()}
    node, target = found.get(change["node"]), found.get(change.get("move", change.get("copy")))
    if node is None:
        return
    if "prop" in change:
        if change["value"] is None:
            node.props.pop(change["prop"], None)
        else:
            prop = Property(change["prop"], change["value"], "cells", node.file, node.line)
            node.props[change["prop"]] = prop
        return
    if target is not None and node not in target.walk() and target not in node.walk():
        target.children.append(node)
    if "copy" not in change:
        for parent in root.walk():
            if parent is not target:
                parent.children = [child for child in parent.children if child is not node]


class Overrides:
    """Arguments of `--set`, one or several."""

    name = "set"

    def make(self, seed: str) -> Input:
        """Paths that a board has with values that they may not have, and the other way round."""
        random = Random(seed)
        board = random.choice(boards.NAMES)
        sets = [_set(random, board) for _ in range(random.choice((1, 1, 1, 2, 4)))]
        return {"target": self.name, "board": board, "sets": sets}

    def run(self, made: Input) -> str:
        """Whether they are refused, or how a small program ends."""

        def changed() -> Node:
            root = boards.tree(made["board"])
            apply_overrides(root, dict(map(parse_set, made["sets"])))
            return root

        return _built(changed)


_known_paths = functools.cache(lambda board: paths(boards.tree(board)))


def _set(random: Random, board: str) -> str:
    path = random.choice(_known_paths(board))
    if random.random() < 0.05:
        at = random.randrange(len(path))
        path = path[:at] + random.choice((".", "", "x", "=", "é", " ")) + path[at + 1 :]
    if "image" in path:
        return f"{path}={random.choice(_FILES)}"
    number = _number(random)
    value = random.choice(
        (
            f"{number}",
            f"{number}",
            f"{number}",
            f"{number:#x}",
            f"-{number}",
            f"{number}k",
            f"{number},{_number(random)}",
            "true",
            "false",
            "",
            "&cpu0",
            "&x",
            "1.5",
            "9" * 30,
            "0b1",
            "1e9",
            "40M",
            f"{number}/{number}",
            "\0",
            "٣",
            "4" * 5000,
            ",,",
            "host",
            "max",
        )
    )
    return f"{path}={value}"


def _built(make: Any) -> str:
    """Builds a board, describes it and has each of its first core's instructions fail or run."""
    try:
        machine = Machine(make().to_dict())
    except EngineError as error:
        running.check_message(error)
        return "refused"
    description = machine.describe()
    if not description["cores"]:
        raise MisbehaviourError("a board without a core")
    isa = description["cores"][0]["isa"]
    machines = {"RV32": elf32.EM_RISCV, "MIPS": elf32.EM_MIPS}
    kind = next((number for name, number in machines.items() if name in isa), elf32.EM_ARM)
    elf = _probe(kind, "ARMv7E-M" in isa, description)
    return "done" if elf is None else running.run_elf(machine, elf, {"limit_ps": _LIMIT_PS})


def _probe(kind: int, is_m: bool, description: dict[str, Any]) -> bytes | None:
    """A program that reads a word of a device, wherever there is memory to run it from."""
    entries = description["map"]
    memories = [entry["base"] for entry in entries if entry["kind"] == "memory"]
    devices = [entry["base"] for entry in entries if entry["kind"] == "device"]
    if not memories:
        return None
    device = devices[len(devices) // 2] if devices else 0
    base = memories[0] if memories[0] % 4 == 0 else 0
    if is_m:
        code = struct.pack("<4I", base + 0x100, base + 9, 0x6801_4801, 0xE7FE_6001)
        code += struct.pack("<I", device)
        return elf32.executable(elf32.Segment(base, code), machine=kind, entry=base + 9)
    if kind == elf32.EM_MIPS:
        base |= 0x8000_0000
        device = device & 0x1FFF_FFFF | 0xA000_0000
        code = (
            0x3C08_0000 | device >> 16,
            0x3508_0000 | device & 0xFFFF,
            0x8D09_0000,
            0x1000_FFFF,
            0,
        )
    elif kind == elf32.EM_ARM:
        code = (0xE59F_0008, 0xE590_1000, 0xE580_1004, 0xEAFF_FFFE, device)
    else:
        code = (0x2B7 | device & 0xFFFF_F000, 0x0002_A303, 0x0062_A223, 0x6F)
    words = struct.pack(f"<{len(code)}I", *code)
    return elf32.executable(elf32.Segment(base, words), machine=kind, entry=base)
