"""A MIPS core with a compiler's code: what it computes, and where its time goes."""

from __future__ import annotations

import json
from pathlib import Path

from ben_nanonote import BOARD, build
from conftest import Command

READS, CALLS = 10, 2
CORE_HZ, BUS_HZ = 336_000_000, 112_000_000


def test_code_computes_and_a_function_is_timed(cyclescope: Command, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    done = cyclescope(
        "run", build("core"), "--board", BOARD, "--section", "read_pins", "--json", str(path)
    )
    assert (done.status, done.stdout.splitlines()[0]) == (0, "right")
    (core,) = json.loads(path.read_text())["cores"]
    assert sum(entry["cycles"] for entry in core["stack"]) == core["cycles"]
    (section,) = core["sections"]
    assert (section["name"], section["calls"]) == ("read_pins", CALLS)
    spent = {entry["cause"]: entry["cycles"] for entry in section["stack"]}
    # the way to a register takes 8 cycles of the bus, and up to one more to meet its edge
    accesses = READS * CALLS
    waited = spent["interconnect: apb"] + spent.get("load: gpa", 0)
    assert 8 * accesses <= waited * BUS_HZ // CORE_HZ <= 10 * accesses
    assert spent["issue"] == section["instructions"] >= accesses
