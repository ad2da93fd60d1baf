"""`cyclescope compare`: real builds and settings, files of runs, statuses, bad input."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import BOARD, Command
from test_schemas import faults

from cyclescope import firmware
from cyclescope.board.setup.loading import Loading
from cyclescope.cli import compared_runs
from cyclescope.cli.compared_runs import Given
from cyclescope.firmware.apps import with_defaults
from cyclescope.host.interrupts import Held, Interrupted
from cyclescope.statuses import Status

Program = Callable[[str], Path]
APP = "coremark_like"
# A loop whose one operation is a macro; the rest of the program is the same, at the same addresses.
LOOP = """
#include "console.h"

__attribute__((noinline)) static unsigned work(unsigned rounds)
{
    unsigned value = 7;
    for (unsigned i = 0; i < rounds; i++)
        __asm__ volatile(OPERATION : "+r"(value) : "r"(3));
    return value;
}

int main(void)
{
    console_print("done\\n");
    return work(100) == 1;
}
"""


@pytest.fixture(scope="module")
def builds() -> tuple[Path, Path]:
    """One program by -O2 and by -Os."""
    recipe = firmware.app_recipe(
        firmware.load_app(APP), BOARD, with_defaults(APP, {"iterations": 1})
    )
    flags = tuple("-Os" if flag == "-O2" else flag for flag in recipe.flags)
    assert flags != recipe.flags
    return firmware.build(recipe), firmware.build(replace(recipe, flags=flags))


@pytest.fixture
def loop(tmp_path: Path) -> Callable[[str], Path]:
    """The loop's ELF, with an operation in it."""
    source = tmp_path / "loop.c"
    source.write_text(LOOP, encoding="utf-8")

    def build(operation: str) -> Path:
        macros = {"OPERATION": f'"{operation}"'}
        return firmware.build(firmware.board_recipe("loop", BOARD, [source], macros))

    return build


def compared(cyclescope: Command, *arguments: object) -> dict[str, Any]:
    """The comparison as JSON, which is as its schema says."""
    done = cyclescope("compare", *arguments, "--json", "-")
    assert done.status == 0, done.stderr
    data = json.loads(done.stdout)
    assert faults("compare", data) == []
    return data


def test_two_builds_sum_exactly_and_name_functions_and_causes(
    cyclescope: Command, builds: tuple[Path, Path]
) -> None:
    data = compared(cyclescope, *builds, "--board", BOARD)
    (core,) = data["cores"]
    difference = core["cycles"]["difference"]
    assert difference
    assert sum(one["cycles"]["difference"] for one in core["functions"]) == difference
    assert sum(one["cycles"]["before"] for one in core["functions"]) == core["cycles"]["before"]
    assert sum(core["causes"].values()) == difference
    for one in core["functions"]:
        assert sum(one["causes"].values()) == one["cycles"]["difference"]
    functions = {one["name"]: one for one in core["functions"]}
    crc = functions["crc16_byte"]
    assert f"{crc['instructions']['difference']:,} more instructions" in crc["why"]
    assert functions["__udivdi3"]["state"] == "new"
    assert "cpu0.i-cache.fills" in data["counters"]
    (checksum,) = (one for one in data["metrics"] if one["name"] == "checksum")
    assert checksum["verdict"] == "same"


def test_the_table_sums_with_its_last_row(cyclescope: Command, builds: tuple[Path, Path]) -> None:
    done = cyclescope("compare", *builds, "--board", BOARD, "--top", 3)
    table = done.stdout.partition("by function")[2].partition("└")[0]
    rows = [line.split("│") for line in table.splitlines() if line.startswith("│")]
    differences = [int(row[4].replace(",", "")) for row in rows if row[4].strip()]
    assert len(differences) == 5
    assert sum(differences[:-1]) == differences[-1]
    assert "other functions" in rows[-2][1]


@pytest.mark.parametrize(
    ("operation", "text"), [("div %0, %0, %1", "div "), ("mul %0, %0, %1\\nnop", "nop")]
)
def test_a_single_instruction_in_a_loop_is_found(
    operation: str, text: str, cyclescope: Command, loop: Callable[[str], Path]
) -> None:
    data = compared(cyclescope, loop("mul %0, %0, %1"), loop(operation), "--board", BOARD)
    first = data["cores"][0]["functions"][0]
    assert first["name"] == "work"
    assert first["cycles"]["difference"] >= 100
    (changed,) = first["changed_instructions"]
    assert changed["after"]["text"].startswith(text.strip())
    assert changed["after"]["place"].startswith("loop.c:")
    assert changed["after"]["executions"] == 100
    if changed["before"] is not None:
        assert changed["before"]["text"].startswith("mul ")
        assert first["instructions"]["difference"] == 0
    shown = cyclescope("compare", loop("mul %0, %0, %1"), loop(operation), "--board", BOARD).stdout
    assert "(loop.c:" in shown


def test_the_same_program_twice_is_no_difference(
    cyclescope: Command, loop: Callable[[str], Path]
) -> None:
    elf = loop("nop")
    done = cyclescope("compare", elf, elf, "--board", BOARD, "--fail-over", "0%")
    assert done.status == 0
    assert done.stdout.rstrip().endswith("no difference")
    assert compared(cyclescope, elf, elf, "--board", BOARD)["is_equal"]


def test_one_program_in_two_settings(cyclescope: Command, loop: Callable[[str], Path]) -> None:
    elf = loop("div %0, %0, %1")
    slower = "cpu0.cyclescope,divide-cycles=50"
    data = compared(cyclescope, elf, elf, "--board", BOARD, "--set-b", slower)
    assert data["after"]["label"].endswith(f" {slower}")
    work = data["cores"][0]["functions"][0]
    assert work["name"] == "work"
    assert list(work["causes"]) == ["long operations"]
    assert work["cycles"]["difference"] == work["causes"]["long operations"]
    wrong = cyclescope("compare", elf, elf, "--board", BOARD, "--set-b", "cpu0.nothing=1")
    assert wrong.status == Status.USAGE
    assert wrong.error.startswith("--set-b cpu0.nothing: ")


def test_fail_over_both_ways(cyclescope: Command, loop: Callable[[str], Path]) -> None:
    fast, slow = loop("mul %0, %0, %1"), loop("div %0, %0, %1")

    def status(before: Path, after: Path, *more: object) -> int:
        arguments = ("--board", BOARD, "--fail-over", *more)
        return cyclescope("compare", before, after, *arguments).status

    assert status(fast, slow, "0%") == Status.FAILED
    assert status(slow, fast, "0%") == Status.SUCCESS
    assert status(fast, slow, "1000%") == Status.SUCCESS
    # most of the run is not this function: what is much for it is little for the whole
    assert status(fast, slow, "60%") == Status.SUCCESS
    failed = cyclescope(
        "compare", fast, slow, "--board", BOARD, "--fail-over", "60%", "--function", "work"
    )
    assert failed.status == Status.FAILED
    assert failed.error.startswith("cpu0: work with all it calls: ")
    assert failed.error.endswith("more than 60% worse")


def test_files_of_runs_stand_in_a_programs_place(
    cyclescope: Command, loop: Callable[[str], Path], tmp_path: Path
) -> None:
    elfs = loop("mul %0, %0, %1"), loop("div %0, %0, %1")
    for number, elf in enumerate(elfs):
        on = ("--board", BOARD, "--json")
        cyclescope("run", elf, *on, f"run{number}.json", "--section", "work", "-q")
        cyclescope("profile", elf, *on, f"profile{number}.json", "-q")
    programs = compared(cyclescope, *elfs, "--board", BOARD)
    runs = compared(cyclescope, "run0.json", "run1.json")
    profiles = compared(cyclescope, "profile0.json", "profile1.json")
    mixed = compared(cyclescope, "profile0.json", elfs[1], "--board", BOARD)
    difference = programs["cores"][0]["cycles"]
    assert all(data["cores"][0]["cycles"] == difference for data in (runs, profiles, mixed))
    assert runs["cores"][0]["functions"] is None
    (section,) = runs["cores"][0]["sections"]
    assert section["name"] == "work"
    assert section["cycles"]["difference"] == sum(section["causes"].values()) > 0
    own = [(one["name"], one["causes"]) for one in programs["cores"][0]["functions"]]
    for data in (profiles, mixed):
        assert [(one["name"], one["causes"]) for one in data["cores"][0]["functions"]] == own
    shown = cyclescope("compare", "run0.json", "run1.json").stdout
    assert "long operations" in shown
    assert "work" in shown


def test_rows_of_a_bench_are_compared_one_by_one(cyclescope: Command, tmp_path: Path) -> None:
    row = {"experiment": "e", "board": "b", "settings": {"n": 1}, "metric": "t", "label": "write"}
    for name, values in {"a": (10, 400.5), "b": (11, 400.5)}.items():
        rows = [
            row | {"unit": "us", "simulated": values[0]},
            row | {"label": "rate", "unit": "kB/s", "simulated": values[1]},
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    done = cyclescope("compare", "a.json", "b.json", "--fail-over", "5%")
    assert done.status == Status.FAILED
    assert done.error == "e: write board=b metric=t n=1: 10 -> 11 us (+10.0 %): more than 5% worse"
    data = compared(cyclescope, "a.json", "b.json")
    assert [one["verdict"] for one in data["metrics"]] == ["worse", "same"]


def test_markdown_for_a_pull_request(
    cyclescope: Command, loop: Callable[[str], Path], tmp_path: Path
) -> None:
    elfs = loop("mul %0, %0, %1"), loop("div %0, %0, %1")
    done = cyclescope("compare", *elfs, "--board", BOARD, "--markdown", "sum.md")
    assert done.status == 0
    text = (tmp_path / "sum.md").read_text()
    assert text.startswith("### Cyclescope: cpu0 +")
    assert "| `work` |" in text
    assert "in place of `mul " in text
    piped = cyclescope("compare", *elfs, "--board", BOARD, "--markdown", "-")
    assert piped.stdout == text
    assert "by function" in piped.stderr


def test_a_run_that_ends_differently_is_reported_and_fails(
    cyclescope: Command, program: Program, loop: Callable[[str], Path]
) -> None:
    elfs = (loop("nop"), program("exit_main"))
    done = cyclescope("compare", *elfs, "--board", BOARD, "--fail-over", "1000000%")
    assert done.status == Status.FAILED
    assert done.error.endswith("ended with status 7")
    fault = cyclescope("compare", elfs[0], program("trap_without_handler"), "--board", BOARD)
    assert fault.status == Status.FIRMWARE_FAULT


def refused(cyclescope: Command, *arguments: object) -> str:
    done = cyclescope("compare", *arguments)
    assert done.status == Status.USAGE
    return done.error


def test_bad_input_is_one_line(
    cyclescope: Command, loop: Callable[[str], Path], tmp_path: Path
) -> None:
    elf = tmp_path / "a.elf"
    shutil.copy(loop("nop"), elf)
    for name, text in {"odd": '{"board": 1}', "cut": '{"board"', "rows": "[1]"}.items():
        (tmp_path / f"{name}.json").write_text(text)
    on = ("--board", BOARD)
    assert "expected the JSON of" in refused(cyclescope, elf, "odd.json", *on)
    assert "cut.json: not JSON: " in refused(cyclescope, elf, "cut.json", *on)
    assert "rows.json: expected" in refused(cyclescope, "rows.json", "rows.json")
    assert "missing.elf: No such file" in refused(cyclescope, elf, "missing.elf", *on)
    assert "--board is missing" in refused(cyclescope, elf, elf)
    assert "expected percent" in refused(cyclescope, elf, elf, *on, "--fail-over", "2")
    assert "--function needs" in refused(cyclescope, elf, elf, *on, "--function", "work")
    both = ("--markdown", "-", "--json", "-")
    assert "standard output" in refused(cyclescope, elf, elf, *on, *both)
    assert "would overwrite" in refused(cyclescope, elf, elf, *on, "--json", "a.elf")
    ran_in_neither = ("--fail-over", "2%", "--function", "wrok")
    assert "did you mean 'work'?" in refused(cyclescope, elf, elf, *on, *ran_in_neither)
    assert sorted(path.name for path in tmp_path.glob("*.json")) == [
        "cut.json",
        "odd.json",
        "rows.json",
    ]


def test_settings_of_a_run_that_is_not_made_are_refused(
    cyclescope: Command, loop: Callable[[str], Path]
) -> None:
    cyclescope("run", loop("nop"), "--board", BOARD, "--json", "r.json", "-q")
    on = ("--board", BOARD)
    assert "--set-b: " in refused(cyclescope, loop("nop"), "r.json", *on, "--set-b", "cpu0.x=1")
    assert "no program is run" in refused(cyclescope, "r.json", "r.json", "--limit", "1s")


def test_a_run_that_is_interrupted_is_not_compared(program: Program) -> None:
    given = Given(BOARD, (), (), Loading(), "100s", (), None, True, ())
    side = compared_runs.load(program("endless_loop"), given, is_second=False)
    held = Held()
    held.number = signal.SIGTERM
    held.stop.request()
    with pytest.raises(
        Interrupted, match=r"^interrupted by SIGTERM after .* not compared$"
    ) as left:
        compared_runs.run(side, given, held)
    assert left.value.status == Status.TERMINATED
