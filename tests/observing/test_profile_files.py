"""Profiles as files of other programs, read back with other code than the code that wrote them."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from profiles import CYCLES, any_core, core, made_up

from cyclescope.profile.callgrind import callgrind
from cyclescope.profile.collapsed import collapsed
from cyclescope.profile.model import CoreProfile
from cyclescope.profile.pprof import pprof
from cyclescope.profile.profile import Profile
from cyclescope.profile.speedscope import speedscope

gprof2dot = pytest.importorskip("gprof2dot", reason="gprof2dot is not installed")

CREATOR = "cyclescope 0"
SCHEMA = json.loads((ROOT / "tests" / "speedscope" / "file-format-schema.json").read_text())
ANY = st.tuples(any_core("cpu0"), any_core("cpu1"))


def two(cores: tuple[CoreProfile, CoreProfile]) -> Profile:
    return Profile("a board", "an.elf", 1, cores)


# ---- speedscope


def weights(file: dict[str, Any], number: int) -> dict[tuple[str, ...], int]:
    """The cycles of each stack of one of a file's profiles."""
    names = [frame["name"] for frame in file["shared"]["frames"]]
    profile = file["profiles"][number]
    found: Counter[tuple[str, ...]] = Counter()
    for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
        found[tuple(names[frame] for frame in sample)] += weight
    return found


def test_speedscope_has_stacks_and_causes() -> None:
    file = json.loads(speedscope(made_up(), CREATOR))
    Draft7Validator(SCHEMA).validate(file)
    assert [profile["name"] for profile in file["profiles"]] == [
        "cpu0, cycles",
        "cpu0, cycles by cause",
    ]
    stack = ("from reset", "main", "work", "fill", "set_words (inlined)", "set_word (inlined)")
    assert weights(file, 0)[stack] == 497
    assert weights(file, 1)[(*stack, "load: ddr")] == 377
    assert {"name": "work", "file": "/src/app.c", "line": 20} in file["shared"]["frames"]
    assert [profile["endValue"] for profile in file["profiles"]] == [CYCLES, CYCLES]


@given(ANY)
def test_speedscope_has_all_cycles(cores: tuple[CoreProfile, CoreProfile]) -> None:
    file = json.loads(speedscope(two(cores), CREATOR))
    Draft7Validator(SCHEMA).validate(file)
    sums = [sum(profile["weights"]) for profile in file["profiles"]]
    assert sums == [core.cycles for core in cores for _ in range(2)]


# ---- collapsed stacks


def read_by_gprof2dot(parser: Any) -> Any:
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        found = parser.parse()
    assert errors.getvalue() == ""
    return found


def test_collapsed_stacks() -> None:
    lines = list(collapsed(made_up()))
    assert "cpu0;from reset;main;work;fill;set_words_[i];set_word_[i] 497\n" in lines
    causes = list(collapsed(made_up(), by_cause=True))
    assert "cpu0;from reset;main;work;load: ddr 120\n" in causes
    assert "cpu0;from reset;main;0x00000600;issue 11\n" in causes
    read = read_by_gprof2dot(gprof2dot.CollapseParser(io.StringIO("".join(lines))))
    assert read[gprof2dot.SAMPLES] == CYCLES
    work = next(one for one in read.functions.values() if one.name == "work")
    assert work[gprof2dot.TOTAL_TIME_RATIO] == pytest.approx(900 / CYCLES)


@given(ANY, st.booleans())
def test_collapsed_stacks_have_all_cycles(
    cores: tuple[CoreProfile, CoreProfile], by_cause: bool
) -> None:
    total: Counter[str] = Counter()
    for line in collapsed(two(cores), by_cause):
        stack, _, cycles = line.rstrip("\n").rpartition(" ")
        total[stack.split(";")[0]] += int(cycles)
    assert total == Counter({core.name: core.cycles for core in cores if core.cycles})


# ---- Callgrind


def test_callgrind_is_read_by_gprof2dot() -> None:
    text = "".join(callgrind(made_up(), CREATOR))
    read = read_by_gprof2dot(gprof2dot.CallgrindParser(io.StringIO(text)))
    by_name = {function.name: function for function in read.functions.values()}
    assert read[gprof2dot.SAMPLES] == CYCLES
    # an inlined function is part of the function that it was inlined in
    assert by_name["fill"][gprof2dot.SAMPLES] == 600
    assert by_name["work"][gprof2dot.TOTAL_TIME_RATIO] == pytest.approx(900 / CYCLES)
    (call,) = [one for one in by_name["main"].calls.values() if one.callee_id == by_name["work"].id]
    assert call[gprof2dot.CALLS] == 3


@pytest.mark.skipif(not shutil.which("callgrind_annotate"), reason="valgrind is not installed")
def test_callgrind_is_read_by_valgrind(tmp_path: Path) -> None:
    file = tmp_path / "callgrind.out"
    file.write_text("".join(callgrind(made_up(), CREATOR)))
    command = ["callgrind_annotate", "--threshold=100", "--show-percs=no", "--inclusive=yes"]
    done = subprocess.run([*command, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    head = next(line for line in done.stdout.splitlines() if "PROGRAM TOTALS" in line)
    assert int(head.split()[0].replace(",", "")) == CYCLES
    rows = {
        found[2]: int(found[1].replace(",", ""))
        for found in re.finditer(r"^ *([\d,]+) .*[:?](\w+) \[cpu0\]$", done.stdout, re.MULTILINE)
    }
    # for fib it adds the time of recursive calls, as for any program
    assert (rows["main"], rows["work"], rows["fill"], rows["tick"]) == (CYCLES - 9, 900, 600, 24)


def test_callgrind_has_columns_of_causes() -> None:
    text = "".join(callgrind(made_up(), CREATOR))
    events = re.search(r"^events: (.*)$", text, re.MULTILINE)
    assert events is not None
    assert events[1] == "Cycles Instructions C1LoadDdr C2Issue C3JumpsAndTakenBranches C4FetchDdr"
    assert "event: C1LoadDdr : load: ddr\n" in text
    assert "0x80000304 5 497 120 377 120 0 0\n" in text
    totals = re.search(r"^totals: (.*)$", text, re.MULTILINE)
    assert totals is not None
    cycles, instructions, *causes = map(int, totals[1].split())
    assert (cycles, instructions, sum(causes)) == (CYCLES, core().instructions, CYCLES)


@given(ANY)
def test_callgrind_has_all_cycles(cores: tuple[CoreProfile, CoreProfile]) -> None:
    text = "".join(callgrind(two(cores), CREATOR))
    own, after_calls = 0, False
    for line in text.splitlines():
        if re.match(r"0x[0-9a-f]+ \d+ ", line) and not after_calls:
            own += int(line.split()[2])
        after_calls = line.startswith("calls=")
    assert own == sum(core.cycles for core in cores)


# ---- pprof


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data: bytes) -> dict[int, list[Any]]:
    """The fields of a protocol buffer's message by number: numbers, and bytes of what has parts."""
    found: dict[int, list[Any]] = {}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        value: int | bytes
        assert tag & 7 in (0, 2), "only numbers and what has a length"
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        found.setdefault(tag >> 3, []).append(value)
    return found


def packed(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


def samples(data: bytes) -> list[tuple[list[str], list[int], dict[str, str]]]:
    """The frames of each sample, innermost first, its values, and its labels."""
    message = fields(gzip.decompress(data))
    texts = [text.decode() for text in message[6]]
    functions = {one[1][0]: texts[one.get(2, [0])[0]] for one in map(fields, message.get(5, []))}
    locations = {}
    for location in map(fields, message.get(4, [])):
        lines = map(fields, location[4])
        locations[location[1][0]] = [functions[line[1][0]] for line in lines]
    found = []
    for sample in map(fields, message.get(2, [])):
        labels = {
            texts[label[1][0]]: texts[label.get(2, [0])[0]] for label in map(fields, sample[3])
        }
        frames = [name for one in packed(sample[1][0]) for name in locations[one]]
        found.append((frames, packed(sample[2][0]), labels))
    return found


def test_pprof_has_inlined_functions_and_causes() -> None:
    stack = ["set_word", "set_words", "fill", "work", "main", "from reset"]
    own = [
        (values, labels)
        for frames, values, labels in samples(pprof(made_up(), CREATOR))
        if frames == stack
    ]
    assert own == [
        ([120, 120], {"core": "cpu0", "cause": "issue"}),
        ([377, 0], {"core": "cpu0", "cause": "load: ddr"}),
    ]


@given(ANY)
def test_pprof_has_all_cycles(cores: tuple[CoreProfile, CoreProfile]) -> None:
    cycles: Counter[str] = Counter()
    instructions: Counter[str] = Counter()
    data = pprof(two(cores), CREATOR)
    for _, values, labels in samples(data):
        cycles[labels["core"]] += values[0]
        instructions[labels["core"]] += values[1]
    for made in cores:
        assert (cycles[made.name], instructions[made.name]) == (made.cycles, made.instructions)
    assert pprof(two(cores), CREATOR) == data


# Go may have to build its pprof first; the files are read above without it
@pytest.mark.long
@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
def test_pprof_is_read_by_go(tmp_path: Path) -> None:
    file = tmp_path / "profile.pb.gz"
    file.write_bytes(pprof(made_up(), CREATOR))

    def top(*options: str) -> dict[str, tuple[int, int]]:
        command = ["go", "tool", "pprof", "-top", "-nodefraction=0", *options, file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found = re.finditer(
            r"^ *(\d+) +\S+ +\S+ +(\d+) +\S+ +(\S.*?)(?: \(inline\))?$", done.stdout, re.MULTILINE
        )
        return {row[3]: (int(row[1]), int(row[2])) for row in found}

    rows = top()
    assert rows["work"] == (270, 900)
    assert rows["set_word"] == (497, 497)
    assert rows["fib"] == (70, 70)
    assert rows["from reset"] == (7, CYCLES)
    assert top("-tagleaf=cause")["load: ddr"] == (497, 497)
