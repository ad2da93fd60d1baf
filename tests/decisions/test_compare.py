"""`scripts/compare` finds what differs between two results, and nothing where nothing does."""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import shutil
import subprocess
import sys
import unittest.mock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiers
from conftest import ROOT

SCRIPT = ROOT / "scripts" / "compare"
STACK = [
    {"cause": "execute", "cycles": 70, "ps": 700},
    {"cause": "load: ddr", "cycles": 30, "ps": 300},
]


def _row(label: str, simulated: int, **changes: Any) -> dict[str, Any]:
    own = {"experiment": "copy", "board": "desk", "label": label, "settings": {"size": 4}}
    measured = {"metric": "time", "unit": "us", "simulated": simulated, "published": 100}
    return own | measured | {"error_pct": simulated - 100, "basis": "predicted"} | changes


def _run() -> dict[str, Any]:
    core = {"name": "cpu0", "hz": 10**11, "instructions": 60, "cycles": 100, "stack": STACK}
    section = {"name": "copy_all", "calls": 1, "instructions": 9, "stack": STACK[:1]}
    window = {"section": "copy_all", "begin_ps": 5, "end_ps": 905, "cores": []}
    result = {
        "console": "ready\ndone\n",
        "cores": [core | {"sections": [section]}],
        "counters": {"spi0: frames": 7},
        "notes": ["slow"],
        "windows": [window],
    }
    return {"label": "copy size=4", "board": "desk", "settings": {"size": 4}, "result": result}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder as the bench writes it, with what runs printed."""
    folder = tmp_path / "before"
    folder.mkdir()
    rows = [_row("read", 90), _row("write", 120), _row("ratio", 1, basis="derived")]
    experiment = {"name": "copy", "notes": [], "rows": rows, "runs": [_run()], "title": "Copies"}
    _write(folder / "results.json", rows)
    _write(folder / "notes.json", {"copy": {"notes": ["two sizes"], "failures": []}})
    _write(folder / "runs.json", {"copy": experiment})
    (folder / "results.csv").write_text("experiment,board\ncopy,desk\n")
    (folder / "report.html").write_text("<p>Cyclescope 1.2.3</p>\n<p>90 us</p>\n")
    return folder


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data))


def compared(before: Path, after: Path, *arguments: str) -> tuple[int, str]:
    """The script's status, and what it prints."""
    given = [str(SCRIPT), str(before), str(after), *arguments]
    out, error = io.StringIO(), io.StringIO()
    with (
        unittest.mock.patch.object(sys, "argv", given),
        unittest.mock.patch.dict(sys.modules),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(error),
        pytest.raises(SystemExit) as ended,
    ):
        runpy.run_path(str(SCRIPT), run_name="__main__")
    status = ended.value.code
    assert isinstance(status, int)
    return status, out.getvalue() + error.getvalue()


def changed(results: Path, name: str, change: Callable[[Any], None]) -> tuple[int, str]:
    """The comparison with a copy in which one file is changed."""
    after = results.parent / "after"
    shutil.copytree(results, after)
    data = json.loads((after / name).read_text())
    change(data)
    _write(after / name, data)
    return compared(results, after, "--results")


def test_the_script_runs_as_a_program(results: Path) -> None:
    command = [sys.executable, SCRIPT, results, results, "--results"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == compared(results, results, "--results")[1]


def test_equal_results_are_counted(results: Path) -> None:
    status, output = compared(results, results, "--results")
    assert status == 0
    assert "3 of 3 rows are equal" in output
    assert "2 of 2 published cells of copy are equal" in output
    assert "1 of 1 runs are equal" in output
    assert "2 of 2 stacks are equal" in output
    for kind in ("sections", "counters", "windows", "console texts"):
        assert f"1 of 1 {kind} are equal" in output
    assert "2 of 2 files are equal" in output
    assert "->" not in output


def test_a_changed_cycle_count_is_found(results: Path) -> None:
    def change(runs: Any) -> None:
        runs["copy"]["runs"][0]["result"]["cores"][0]["stack"][1]["cycles"] = 31

    status, output = changed(results, "runs.json", change)
    assert status == 1
    assert "1 of 2 stacks are equal" in output
    place = "copy / runs / copy size=4 on desk / result / cores / cpu0 / stack / load: ddr / cycles"
    assert f"{place}: 30 -> 31" in output


def test_a_changed_cause_is_found(results: Path) -> None:
    def change(runs: Any) -> None:
        runs["copy"]["runs"][0]["result"]["cores"][0]["stack"][0]["cause"] = "executing"

    status, output = changed(results, "runs.json", change)
    assert status == 1
    assert 'stack / execute: {"cause": "execute", "cycles": 70, "ps": 700} -> (missing)' in output
    assert "stack / executing: (missing) -> " in output


def test_causes_in_another_order_are_found(results: Path) -> None:
    def change(runs: Any) -> None:
        runs["copy"]["runs"][0]["result"]["cores"][0]["stack"].reverse()

    status, output = changed(results, "runs.json", change)
    assert status == 1
    assert "stack / order" in output


def test_a_missing_row_is_found(results: Path) -> None:
    status, output = changed(results, "results.json", lambda rows: rows.pop(1))
    assert status == 1
    assert "2 of 3 rows are equal" in output
    assert "1 of 2 published cells of copy are equal" in output
    assert "copy / rows / write (time) on desk: size=4: {" in output
    assert "-> (missing)" in output


def test_a_row_that_only_looks_equal_is_found(results: Path) -> None:
    status, output = changed(results, "results.json", lambda rows: rows[0].update(simulated=90.0))
    assert status == 1
    assert "simulated: 90 -> 90.0" in output


def test_a_changed_console_is_reported_by_its_line(results: Path) -> None:
    def change(runs: Any) -> None:
        runs["copy"]["runs"][0]["result"]["console"] = "ready\nDone\n"

    status, output = changed(results, "runs.json", change)
    assert status == 1
    assert 'result / console / line 2: "done" -> "Done"' in output
    assert "0 of 1 console texts are equal" in output


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("counters", {"spi0: frames": 8}, "counters"),
        ("notes", ["fast"], "notes"),
        ("windows", [], "windows"),
    ],
)
def test_counters_of_a_run_are_compared(results: Path, key: str, value: Any, kind: str) -> None:
    def change(runs: Any) -> None:
        runs["copy"]["runs"][0]["result"][key] = value

    status, output = changed(results, "runs.json", change)
    assert status == 1
    assert f"{kind} are equal" in output
    assert f"/ result / {key}" in output


def test_the_report_may_name_another_version(results: Path) -> None:
    after = shutil.copytree(results, results.parent / "after")
    report = after / "report.html"
    report.write_text(report.read_text().replace("1.2.3", "1.3.0"))
    assert compared(results, after)[0] == 0
    report.write_text(report.read_text().replace("90 us", "91 us"))
    status, output = compared(results, after)
    assert status == 1
    assert 'report.html / line 2: "<p>90 us</p>" -> "<p>91 us</p>"' in output


def test_differences_are_bounded(results: Path) -> None:
    after = shutil.copytree(results, results.parent / "after")
    rows = [_row(f"row {number}", number) for number in range(50)]
    _write(after / "results.json", rows)
    status, output = compared(results, after, "--most", "5")
    assert status == 1
    assert output.count("->") == 5
    assert "more (--most sets how many are listed)" in output


def test_only_the_experiments_that_are_named_are_compared(results: Path) -> None:
    after = shutil.copytree(results, results.parent / "after")
    _write(
        after / "results.json", [*json.loads((after / "results.json").read_text()), _row("x", 1)]
    )
    rows = json.loads((after / "results.json").read_text())
    rows[-1]["experiment"] = "other"
    _write(after / "results.json", rows)
    assert compared(results, after)[0] == 1
    status, output = compared(results, after, "copy")
    assert status == 0
    assert "after has more experiments than these: results.csv and report.html are not" in output
    assert compared(results, after, "none")[0] == 2
    status, output = compared(results, after, "copy", "ohter", "other")
    assert status == 2
    assert "neither has results of ohter; similar names: other" in output


def test_a_missing_file_is_a_difference(results: Path) -> None:
    after = shutil.copytree(results, results.parent / "after")
    (after / "results.csv").unlink()
    (after / "report.html").unlink()
    status, output = compared(results, after)
    assert status == 1
    assert "0 of 2 files are equal" in output
    assert 'results.csv: "experiment,board\\ncopy,desk\\n" -> (missing)' in output
    (results / "results.csv").unlink()
    (results / "report.html").unlink()
    status, output = compared(results, after)
    assert status == 0
    assert "neither has results.csv and report.html" in output


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("results.json", [{"a": 1}]),
        ("results.json", {"copy": []}),
        ("results.json", [1]),
        ("results.json", [_row("read", 90, settings=4)]),
        ("results.json", [_row("read", 90, experiment=4)]),
        ("notes.json", ["copy"]),
        ("notes.json", {"copy": []}),
        ("runs.json", ["copy"]),
        ("runs.json", {"copy": {"rows": [], "runs": [{}]}}),
    ],
)
def test_files_of_another_shape_are_no_results(results: Path, name: str, data: Any) -> None:
    after = shutil.copytree(results, results.parent / "after")
    _write(after / name, data)
    status, output = compared(results, after)
    assert status == 2
    assert f"{after}: is no result of a bench" in output
    (after / "report.html").write_bytes(b"\xff")
    assert compared(results, after)[0] == 2


def test_without_runs_the_rest_is_compared(results: Path) -> None:
    after = shutil.copytree(results, results.parent / "after")
    (after / "runs.json").unlink()
    status, output = compared(results, after)
    assert status == 0
    assert "after has no runs.json" in output
    assert "3 of 3 rows are equal" in output


def test_a_folder_without_results_is_reported(results: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    status, output = compared(results, empty)
    assert status == 2
    assert "no such file" in output


@pytest.fixture
def checkout(results: Path, tmp_path: Path) -> Path:
    """A checkout whose bench writes the stored results, or runs what `stub` has in their place."""
    checkout = tmp_path / "checkout"
    (checkout / "engine").mkdir(parents=True)
    (checkout / "pyproject.toml").write_text("")
    shutil.copytree(results, checkout / "stored")
    _set_stub(checkout, 'cp stored/* "$out"')
    return checkout


def _set_stub(checkout: Path, does: str) -> None:
    folder = checkout / ".venv" / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cyclescope").write_text("")
    output = 'echo "$@" > arguments; out=$(dirname "$2")'
    (folder / "python").write_text(f"#!/bin/sh\n{output}\n{does}\n")
    (folder / "python").chmod(0o755)


def test_a_checkout_runs_its_own_bench(results: Path, checkout: Path, tmp_path: Path) -> None:
    status, output = compared(results, checkout)
    assert status == 0, output
    arguments = (checkout / "arguments").read_text().split()
    assert arguments[0] == str(ROOT / "scripts" / "compare" / "recorded_bench.py")
    assert arguments[2:4] == ["--all", "--out"]
    status, output = compared(checkout, results, "copy", "--quick", "--out", str(tmp_path / "kept"))
    assert status == 0, output
    assert (checkout / "arguments").read_text().split()[2:4] == ["copy", "--quick"]
    assert compared(tmp_path / "kept" / "before", results)[0] == 0
    assert not (tmp_path / "kept" / "after").exists()


def test_a_failed_run_is_compared(results: Path, checkout: Path) -> None:
    _set_stub(checkout, 'cp stored/* "$out"; exit 1')
    assert compared(results, checkout)[0] == 0


@pytest.mark.parametrize(
    ("does", "output"),
    [
        ("exit 1", "status 1, and without results.json and runs.json"),
        ('cp stored/runs.json "$out"; exit 1', "status 1, and without results.json;"),
        ('cp stored/results.json "$out"; exit 0', "status 0, and without runs.json;"),
        ('cp stored/* "$out"; exit 70', "status 70"),
    ],
)
def test_results_of_an_earlier_bench_are_not_taken_for_new(
    results: Path, checkout: Path, tmp_path: Path, does: str, output: str
) -> None:
    kept = tmp_path / "kept"
    assert compared(results, checkout, "--out", str(kept))[0] == 0
    assert (kept / "after" / "results.json").is_file()
    _set_stub(checkout, does)
    status, said = compared(results, checkout, "--out", str(kept))
    assert status == 2
    assert f"{checkout}: the bench ended with {output}" in said


@pytest.mark.parametrize("side", ["before", "after"])
def test_compared_results_are_not_overwritten(checkout: Path, tmp_path: Path, side: str) -> None:
    kept = tmp_path / "kept"
    shutil.copytree(checkout / "stored", kept / side)
    (tmp_path / "link").symlink_to(kept)
    for given in (kept / side, tmp_path / "link" / side):
        for places in ((checkout, given), (given, checkout)):
            status, output = compared(*places, "--out", str(kept))
            assert status == 2
            assert f"{given}: --out {kept} would write over it; name another" in output
    assert not (checkout / "arguments").exists()
    assert {path.name for path in kept.iterdir()} == {side}


@pytest.mark.parametrize("missing", ["python", "cyclescope"])
def test_a_checkout_that_is_not_built_is_reported(
    results: Path, checkout: Path, missing: str
) -> None:
    (checkout / ".venv" / "bin" / missing).unlink()
    status, output = compared(results, checkout)
    assert status == 2
    assert "run `make build` there" in output


# of one run, and of several
@pytest.mark.parametrize("experiment", tiers.mostly_long(["m4-rules", "card-probe"], ["m4-rules"]))
def test_the_bench_records_what_its_runs_printed(tmp_path: Path, experiment: str) -> None:
    script = ROOT / "scripts" / "compare" / "recorded_bench.py"
    command = [sys.executable, script, tmp_path / "runs.json", experiment, "--quick"]
    shorter = [] if tiers.ALL else ["--no-profiles"]
    done = subprocess.run(
        [*command, *shorter, "--out", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    runs = json.loads((tmp_path / "runs.json").read_text())[experiment]["runs"]
    assert all(run["result"]["console"] and run["result"]["counters"] for run in runs)
    assert all("wall_ns" not in run["result"] for run in runs)
    assert str(ROOT) not in (tmp_path / "runs.json").read_text()
    status, output = compared(tmp_path, tmp_path)
    assert status == 0
    assert f"{len(runs)} of {len(runs)} runs are equal" in output
