"""`cyclescope sweep`: its output, files and errors; it resumes after an interruption."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, Command
from tiers import sized

import cyclescope as package

Program = Callable[[str], Path]
WORDS = "ddr.cyclescope,first-word-cycles"
# Values of a setting: it may have a million.
MANY = sized(10_000, 1_000_000)


def test_the_files_have_what_python_gives(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    elf = program("results")
    out = tmp_path / "out"
    options = ("--vary", f"{WORDS}=20,40", "--vary", "cpu0.d-cache-size=0,16K")
    done = cyclescope("sweep", elf, "--board", BOARD, *options, "--out", out, "--json", "-")
    assert done.status == 0, done.stderr
    vary = {WORDS: "20,40", "cpu0.d-cache-size": "0,16K"}
    rows = package.sweep(elf, BOARD, vary).rows
    data = json.loads(done.stdout)
    assert [row["values"] for row in data["rows"]] == [dict(row.values) for row in rows]
    assert json.loads((out / "sweep.json").read_text()) == data
    assert len((out / "sweep.csv").read_text().splitlines()) == 5
    assert (out / "sweep.html").read_text().startswith("<!DOCTYPE html>")
    assert "effects on" in done.stderr
    assert "4 runs" in done.stderr


def test_rows_effects_and_prices_are_printed(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    done = cyclescope(
        "sweep",
        program("results"),
        "--board",
        BOARD,
        "--metric",
        "elapsed_ps",
        "--vary",
        "cpu0.d-cache-size=0,16K",
        "--vary",
        f"{WORDS}=20,40",
        "--price",
        "cpu0.d-cache-size=0:0,16K:0.5",
        "--out",
        tmp_path / "out",
    )
    assert done.status == 0, done.stderr
    assert "d-cache-size" in done.stdout
    assert "16K" in done.stdout
    assert "worth their price" in done.stdout
    assert "% of the variance" in done.stdout


def test_failed_rows_are_reported_once_and_all_failed_is_a_failure(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    elf = program("endless_loop")
    done = cyclescope(
        "sweep",
        elf,
        "--board",
        BOARD,
        "--limit",
        "1ms",
        "--vary",
        f"{WORDS}=20,30,40",
        "--out",
        tmp_path / "out",
    )
    assert done.status == 1
    assert done.stdout.count("failed: ") == 1
    assert "and 2 others: it did not end within its limit" in done.stdout
    assert "3 failed; " in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--vary", "ddr.x=1,2"), "--vary ddr.x: no such board property"),
        (
            ("--vary", f"{WORDS}=1:{MANY}:1", "--vary", f"cpu0.d-cache-size=1:{MANY}:1"),
            f"would be {MANY * MANY:,} runs",
        ),
        (("--vary", f"{WORDS}=20,40", "--price", f"{WORDS}=20:1"), "40 has no price"),
        (("--vary", f"{WORDS}=20:40", "--sampling", "latin"), "say how many with --samples"),
        (("--vary", f"{WORDS}=20,40", "--limit", "1 week"), "time '1 week'"),
        (("--vary", f"{WORDS}=20,40", "--zip", f"{WORDS} b"), "b is not varied"),
    ],
)
def test_bad_input_is_one_line_before_anything_runs(
    cyclescope: Command, program: Program, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    out = tmp_path / "out"
    done = cyclescope("sweep", program("results"), "--board", BOARD, *options, "--out", out)
    assert done.status == 121
    assert words in done.error
    assert done.stderr.count("\n") == 1
    assert not out.exists()


def test_a_result_never_replaces_what_is_swept(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    elf = tmp_path / "own.elf"
    elf.write_bytes(program("results").read_bytes())
    before = elf.read_bytes()
    done = cyclescope(
        "sweep",
        elf,
        "--board",
        BOARD,
        "--vary",
        f"{WORDS}=20,40",
        "--out",
        tmp_path / "out",
        "--json",
        elf,
    )
    assert done.status == 121
    assert "the program to sweep" in done.error
    assert elf.read_bytes() == before


def test_an_interrupted_sweep_resumes(
    cyclescope: Command, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # more than what is run while the signal comes
    count = sized(100, 600)
    vary = f"{WORDS}=2:{count + 1}:1"
    arguments = ["sweep", str(program("results")), "--board", BOARD, "--vary", vary]
    arguments += ["--jobs", "1"]
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path / "cache"))
    first = subprocess.Popen(
        [sys.executable, "-m", "cyclescope", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert first.stderr is not None
    while f"{count // 10} of {count} runs" not in (line := first.stderr.readline()):
        assert line, "it ended"
    first.send_signal(signal.SIGINT)
    _, errors = first.communicate(timeout=60)
    assert first.returncode == 130
    assert "the same command continues from there" in errors
    part = json.loads((tmp_path / "sweep" / "sweep.json").read_text())["rows"]
    assert count // 10 <= len(part) < count
    second = cyclescope(*arguments)
    assert second.status == 0, second.stderr
    assert f", {len(part)} of them cached" in second.stdout
    whole = json.loads((tmp_path / "sweep" / "sweep.json").read_text())["rows"]
    assert whole[: len(part)] == part
    assert len(whole) == count


def test_the_user_says_which_row_is_better(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    """Calls have no better or worse of their own: less is taken for it, unless one says so."""
    elf, out = program("results"), tmp_path / "out"
    options = ["--board", BOARD, "--vary", f"{WORDS}=20,40", "--section", "main", "--out", out]
    options += ["--metric", "main.calls"]
    guessed = cyclescope("sweep", elf, *options)
    assert "less of main.calls counts as better" in guessed.stdout
    assert "less of main.calls counts as better" in (out / "sweep.html").read_text()
    ways = (("--less-is-worse", "less"), ("--more-is-worse", "more"))
    for option, way in ways[: sized(1, 2)]:
        done = cyclescope("sweep", elf, *options, option, "main.calls", "--json", "-")
        assert done.status == 0, done.stderr
        assert "counts as better" not in done.stderr + (out / "sweep.html").read_text()
        (metric,) = json.loads(done.stdout)["metrics"]
        assert metric["worse_by"] == way
