"""Sets each property that a board has or may have to extremes: build, poke devices, run.

It runs in a separate process, because a fault may end the process: an abort, a hang, all of the
memory. A file has the number of the current case; the process works in the file's folder. As a
program it prints its findings on stdout, as JSON.

    python tests/support/board_extremes.py BOARD STRIDE OFFSET PROGRESS
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import described
import pokes

from cyclescope._engine import BoardError, EngineError, Machine
from cyclescope.board import board_tree

# The limit of processor time for one case, which takes some milliseconds.
MOST_S = 10
MEMORY_BYTES = 3 << 30
PROGRESS_BYTES = 200


def cells(*numbers: int) -> bytes:
    """The value of a property with `numbers` as its cells."""
    return b"".join(number.to_bytes(4, "big") for number in numbers)


# Ends of cells, ends of the ranges that properties have, and values other than a single cell.
EXTREMES = {
    **{f"<{number:#x}>": cells(number) for number in (0, 1, 2, 3)},
    **{f"<{number:#x}>": cells(number) for number in (2**31 - 1, 2**31, 2**32 - 1)},
    **{f"<{number}>": cells(number) for number in (255, 1024, 65536, 16 << 20, 10**6, 3_600_000)},
    **{f"<{number}>": cells(number) for number in (10**9, 4 * 10**9)},
    "empty": b"",
    "<0 0>": cells(0, 0),
    "<1 2>": cells(1, 2),
    "<0xffffffff ...>": cells(*[2**32 - 1] * 4),
    "thousands of cells": cells(*range(8000)),
    "a string": b"x\0",
    "an empty string": b"\0",
    "two strings": b"x\0y\0",
    "three bytes": b"\1\2\3",
    "no text": b"\xff\xfe\0",
}
FAULT = re.compile(r"(--set|[^:\n]+:\d+): [^\n]+")
Tree = dict[str, Any]


def nodes(tree: Tree) -> Iterator[Tree]:
    """A tree's nodes."""
    yield tree
    for child in tree["children"]:
        yield from nodes(child)


def single_cells(prop: Tree) -> Iterator[tuple[str, bytes]]:
    """A list of cells with each of them set to extremes, the others as they are."""
    value = prop["value"]
    if prop["kind"] != "cells" or len(value) == 4:
        return
    for place in range(0, len(value), 4):
        for number in (0, 1, 2**31, 2**32 - 1):
            changed = value[:place] + cells(number) + value[place + 4 :]
            yield f"cell {place // 4} as {number:#x}", changed


def strings(node: Tree, name: str) -> list[str]:
    """The strings of a node's property; empty without the property."""
    values = [prop["value"] for prop in node["props"] if prop["name"] == name]
    return values[0].decode().rstrip("\0").split("\0") if values else []


def absent(node: Tree) -> list[str]:
    """Properties that the node may have, by its binding, and has not."""
    device_type = "".join(strings(node, "device_type"))
    binding = described.binding_of(node["name"], strings(node, "compatible"), device_type)
    present = {prop["name"] for prop in node["props"]}
    declared = binding.properties if binding else ()
    return sorted({prop.name for prop in declared if not prop.ignored} - present)


def cases(tree: Tree) -> Iterator[tuple[str, Tree, str, bytes]]:
    """Each property with each extreme: words for messages, the node, the property, its value."""
    for node in nodes(tree):
        for prop in list(node["props"]):
            for shown, value in (*EXTREMES.items(), *single_cells(prop)):
                yield f"{node['path']} {prop['name']} = {shown}", node, prop["name"], value
        for name in absent(node):
            for shown, value in EXTREMES.items():
                yield f"{node['path']} {name} = {shown}", node, name, value


def complaint(tree: Tree, elf: bytes, limit_ps: int | None = pokes.LIMIT_PS) -> str | None:
    """The fault of a board's refusal or run, if there is one."""
    try:
        machine = Machine(tree)
        machine.load(elf, "pokes")
        report = machine.run(limit_ps, None)
    except BoardError as error:
        odd = [fault for fault in error.faults if not FAULT.fullmatch(fault)]
        return f"a fault without its place: {odd[0]}" if odd else None
    except EngineError as error:
        text = str(error)
        return text if "\n" in text or "fault of Cyclescope" in text else None
    except BaseException as error:
        return repr(error)
    for core in report["cores"]:
        if sum(share["ps"] for share in core["stack"]) < report["elapsed_ps"]:
            return "the stack falls short of the time"
    return None


def changed(tree: Tree, elf: bytes, node: Tree, name: str, value: bytes) -> str | None:
    """Calls `complaint` with a node's property set to a value."""
    before = node["props"]
    new = {"name": name, "value": value, "kind": "mixed", "file": "--set", "line": 0}
    others = [prop for prop in before if prop["name"] != name]
    node["props"] = [*others, new]
    try:
        return complaint(tree, elf)
    finally:
        node["props"] = before


def tried(board: str, stride: int, offset: int, progress: Path) -> dict[str, Any]:
    """Try every `stride`-th case: the number of cases, and the faults.

    The process has bounds of memory and of time from then on, and another folder.
    """
    has_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most_bytes = has_bytes + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    home, tree = pokes.HOMES[board], board_tree(board).to_dict()
    elf = pokes.program(home, pokes.harmless_pokes(home, tree))
    found, count = [], 0
    os.chdir(progress.parent)  # images that a property names are files there
    with progress.open("wb", buffering=0) as file:
        for index, (words, node, name, value) in enumerate(cases(tree)):
            if index % stride != offset:
                continue
            os.pwrite(file.fileno(), words.encode().ljust(PROGRESS_BYTES)[:PROGRESS_BYTES], 0)
            signal.setitimer(signal.ITIMER_PROF, MOST_S)
            count += 1
            if (wrong := changed(tree, elf, node, name, value)) is not None:
                found.append(f"{words}: {wrong}")
    signal.setitimer(signal.ITIMER_PROF, 0)
    return {"tried": count, "found": found}


if __name__ == "__main__":
    board, stride, offset, progress = sys.argv[1:]
    print(json.dumps(tried(board, int(stride), int(offset), Path(progress).resolve())))
