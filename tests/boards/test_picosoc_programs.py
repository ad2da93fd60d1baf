"""Programs made for the test, as PicoSoC's RTL ran them: corners, and random mixes of everything.

What the files are: tests/rtl/README.md.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from conftest import ROOT

import cyclescope

PROGRAMS = ROOT / "tests" / "rtl" / "picosoc" / "programs.tar.xz"
# From the cycle in which a program asks for its end to that in which the next instruction would
# be launched: the answer of the user peripheral, and the launch.
CYCLES_AFTER_END = 2


@cache
def files() -> Mapping[str, bytes]:
    """All files of the archive by name."""
    with tarfile.open(PROGRAMS) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        return {member.name: archive.extractfile(member).read() for member in members}


def cases() -> list[dict[str, Any]]:
    """The programs, with what the RTL did."""
    return json.loads(files()["cases.json"])


def difference(case: dict[str, Any], folder: Any) -> str | None:
    """The difference of a program's run to the RTL's; None if they are equal."""
    elf = folder / f"{case['name']}.elf"
    elf.write_bytes(files()[elf.name])
    result = cyclescope.Board(f"picosoc-{case['soc']}").load(elf).run(limit="1s")
    outcome = "end" if result.outcome == "exit" else "trap"
    if result.message and "waits for" in result.message:
        outcome = "timeout"
    cycle = {"end": result.cycles - CYCLES_AFTER_END, "trap": result.cycles}.get(outcome)
    ours = {
        "outcome": outcome,
        "cycle": cycle,
        "instret": result.instructions,
        "words": list(result.results["user0"]),
        "console": result.console,
    }
    case = case | {"console": bytes(case["uart"]).decode(errors="replace")}
    different = [
        f"{key}: {ours[key]} instead of {case[key]}" for key in ours if ours[key] != case[key]
    ]
    stack = sum(entry.ps for core in result.cores for entry in core.stack)
    if stack != result.elapsed_ps:
        different.append(f"cycle stack of {stack} ps in a run of {result.elapsed_ps} ps")
    return "; ".join([case["name"], *different]) if different else None


def test_there_is_one_program_a_case() -> None:
    names = {f"{case['name']}.elf" for case in cases()}
    assert len(names) == len(cases()) == 343
    assert names == set(files()) - {"cases.json"}


@pytest.mark.parametrize("part", range(4))
def test_programs_do_what_the_rtl_did(part: int, tmp_path: Any) -> None:
    """Words, time of the end, instructions, bytes sent."""
    differences = [difference(case, tmp_path) for case in cases()[part::4]]
    assert [text for text in differences if text] == []
