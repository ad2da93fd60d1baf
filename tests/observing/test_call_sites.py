"""A profile by call sites: joined it is the one without; a Callgrind file has calls by lines."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import logger_firmware
import pytest
from conftest import BOARD, Command
from tiers import ALL

from cyclescope import Board, firmware
from cyclescope.profile import sites
from cyclescope.profile.callgrind import callgrind
from cyclescope.profile.model import EXCEPTION, FUNCTION, TASK, CoreProfile
from cyclescope.profile.profile import Profile
from cyclescope.profile.tables import VIEWS, rows

# Of each instruction set and way to follow it one; of the last, two cores, with far more calls in
# the whole tier.
APPS = {
    "risc-v": ("hello", BOARD, {}),
    "arm": ("hello", "sama5d2-xplained", {}),
    "thumb": ("freertos_hello", "nucleo-l4r5zi", {}),
    "mips": ("hello", "ben-nanonote", {}),
    "picorv32": ("hello", "picosoc-icebreaker", {}),
    "two cores": (
        ("rpmsg_tty", "stm32mp157c-dk2", {"tests": "one", "block_bytes": 512, "blocks": 1})
        if ALL
        else ("hello_two_cores", "stm32mp157c-dk2", {})
    ),
}
LONGEST_CALL = 8
WRITES = ("write_page", "transfer")
Calls = dict[tuple[str, int, str], tuple[int, int]]


def board(name: str) -> Board:
    app, board_name, settings = APPS[name]
    return Board(board_name).load(firmware.build_app(app, board_name, settings))


@cache
def profiles(name: str) -> tuple[Profile, Profile]:
    """Without call sites, and with them."""
    found = []
    for call_sites in (False, True):
        result = board(name).run("2s", profile=["main"], call_sites=call_sites, waits=True)
        assert result.profile is not None
        found.append(result.profile)
    return found[0], found[1]


def known(core: CoreProfile) -> dict[str, Any]:
    """The contents of a profile, without the numbers of its paths and causes."""
    return {
        "paths": Counter(
            (tuple(core.names(index)), replace(path, parent=None, return_address=None))
            for index, path in enumerate(core.paths)
        ),
        "rows": {by: rows(core, by) for by in VIEWS if by != "function"},
        "calls": {
            name: [(core.names(call.path), call.begin_ps, call.cycles) for call in calls]
            for name, calls in core.calls.items()
        },
        "interrupts": core.interrupts,
        "waits": sorted((core.names(wait.path), wait.what, wait.ps) for wait in core.waits or ()),
        "notes": core.notes,
    }


@pytest.mark.parametrize("name", APPS)
def test_paths_by_call_sites_are_joined_to_the_ones_without(name: str) -> None:
    plain, by_site = profiles(name)
    assert plain.by_call_site is None
    assert by_site.by_call_site is not None
    assert (plain.elapsed_ps, len(plain.cores)) == (by_site.elapsed_ps, len(by_site.cores))
    for core, joined, apart in zip(plain.cores, by_site.cores, by_site.by_call_site, strict=True):
        assert known(joined) == known(core)
        assert len(apart.paths) > len(core.paths)
        assert (apart.cycles, apart.instructions) == (core.cycles, core.instructions)


@pytest.mark.parametrize("name", APPS)
def test_calls_return_after_an_instruction_of_their_callers(name: str) -> None:
    _, by_site = profiles(name)
    assert by_site.by_call_site is not None
    for core in by_site.by_call_site:
        ran: dict[int, list[int]] = {}
        for cost in core.costs:
            path = cost.path
            while core.paths[path].kind not in (FUNCTION, EXCEPTION, TASK):
                path = core.paths[path].parent or 0
            ran.setdefault(path, []).append(cost.address or 0)
        with_address = 0
        for path in core.paths:
            if path.kind != FUNCTION or path.return_address is None or path.parent is None:
                continue
            with_address += 1
            # what began with a task, or was called by a tail call, has no frame of its own there
            before = [path.return_address - address for address in ran.get(path.parent, ())]
            assert any(0 < distance <= LONGEST_CALL for distance in before), path
        called = [path for path in core.paths if path.kind == FUNCTION and path.calls]
        # others are jumped to, and have no place to return to
        assert with_address >= 0.7 * len(called)


@pytest.fixture(scope="module")
def logger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logger_firmware.build(tmp_path_factory.mktemp("logger"))


def calls_of(text: str) -> Calls:
    """Calls and their cycles, by the caller, its line and whom it calls."""
    names: dict[str, str] = {}
    found: Counter[tuple[str, int, str]] = Counter()
    cycles: Counter[tuple[str, int, str]] = Counter()
    caller = callee = ""
    calls = 0
    for line in text.splitlines():
        if spec := re.match(r"(c?fn)=(\(\d+\))(?: (.*))?$", line):
            names.setdefault(spec[2], spec[3])
            caller, callee = (names[spec[2]], "") if spec[1] == "fn" else (caller, names[spec[2]])
        elif line.startswith("calls="):
            calls = int(line.removeprefix("calls=").split()[0])
        elif calls:
            _, at, spent, *_ = line.split()
            found[caller, int(at), callee] += calls
            cycles[caller, int(at), callee] += int(spent)
            calls = 0
    return {key: (found[key], cycles[key]) for key in found}


def line_of(text: str) -> int:
    (line,) = [
        n
        for n, line in enumerate(logger_firmware.SOURCE.read_text().splitlines(), 1)
        if text in line
    ]
    return line


def test_a_callgrind_file_has_calls_at_their_lines(
    logger: Path, cyclescope: Command, tmp_path: Path
) -> None:
    file = tmp_path / "callgrind.out"
    done = cyclescope("profile", logger, "--board", BOARD, "--callgrind", file)
    assert done.status == 0, done.stderr
    calls = calls_of(file.read_text())
    profile = Board(BOARD).load(logger).run(profile=True).profile
    assert profile is not None
    plain = calls_of("".join(callgrind(profile, "test")))
    # without call sites they stand at the begin of the function
    (at_begin,) = [
        found for (caller, _, callee), found in plain.items() if (caller, callee) == WRITES
    ]
    assert at_begin[0] == 24
    one, other = line_of("transfer(&write_enable, 1)"), line_of("transfer(page, sizeof page)")
    assert [calls["write_page", line, "transfer"][0] for line in (one, other)] == [12, 12]
    assert calls["write_page", one, "transfer"][1] < calls["write_page", other, "transfer"][1]
    # in all they are the same
    sums: list[Counter[tuple[str, str, int]]] = []
    for found in (calls, plain):
        sums.append(Counter())
        for (caller, _, callee), numbers in found.items():
            for which, number in enumerate(numbers):
                sums[-1][caller, callee, which] += number
    assert sums[0] == sums[1]
    if shutil.which("callgrind_annotate"):
        command = ["callgrind_annotate", "--auto=yes", "--show=Cycles", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        shown = done.stdout
        at = shown.index("transfer(page, sizeof page)")
        assert re.match(r".*\n.*=> .*:transfer \(12x\)", shown[at:])


def test_paths_are_joined_by_what_they_have() -> None:
    raw = {
        "paths": [
            (-1, "task", -1, "", 0, 0, 0, 0, 0),
            (0, "function", 0x100, "", 2, 30, 20, 10, 500),
            (0, "function", 0x100, "", 3, 60, 25, 15, 100),
            (1, "function", 0x200, "", 0, 0, 0, 0, 0),
            (2, "function", 0x200, "", 1, 5, 5, 5, 110),
            (-1, "task", -1, "", 0, 0, 0, 0, 0),
        ],
        "sites": [-1, 0x10, 0x20, 0x110, 0x110, -1],
        "costs": [(1, 0x100, 2), (2, 0x100, 3), (3, 0x200, 1), (4, 0x200, 1)],
        "charges": [(0, 0, 0, 4), (1, 0, 0, 6), (1, 1, 0, 7), (2, 0, 0, 1), (3, 0, 0, 2)],
        "calls": [[(4, 110, 5)]],
        "interrupts": [(4, None, 1, 2, 3, 4, 5)],
        "waits": [(1, "a", 5), (2, "a", 6), (2, "b", 7)],
        "notes": [],
    }
    assert sites.joined(raw) == {
        "paths": [
            (-1, "task", -1, "", 0, 0, 0, 0, 0),
            (0, "function", 0x100, "", 5, 90, 25, 10, 100),
            (1, "function", 0x200, "", 1, 5, 5, 5, 110),
            (-1, "task", -1, "", 0, 0, 0, 0, 0),
        ],
        "sites": [-1] * 4,
        "costs": [(1, 0x100, 5), (2, 0x200, 2)],
        "charges": [(0, 0, 0, 10), (0, 1, 0, 7), (1, 0, 0, 3)],
        "calls": [[(2, 110, 5)]],
        "interrupts": [(2, None, 1, 2, 3, 4, 5)],
        "waits": [(1, "a", 11), (1, "b", 7)],
        "notes": [],
    }
