"""The plugin for pytest: its fixture, snapshots, what it says, and what it imports."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import BOARD, ROOT, plugin_is_installed

from cyclescope.board import Board
from cyclescope.board.results import RunResult
from cyclescope.errors import UsageError

pytest_plugins = ["pytester"]

# an installation from before the plugin has no entry point, and one with it may not get it twice
PLUGIN = () if plugin_is_installed() else ("-p", "cyclescope.testing.plugin")
Program = Callable[[str], Path]
TEST = f"""
    def test_time(cyclescope):
        board = cyclescope.board("{BOARD}", overrides={{"cpu0.cyclescope,divide-cycles": DIVIDE}})
        result = board.run("app.elf", sections=["main"])
        assert result.outcome == "exit"
        cyclescope.check(result, tolerance="TOLERANCE")
"""


@pytest.fixture
def bench(pytester: pytest.Pytester, program: Program) -> Callable[..., pytest.RunResult]:
    """Runs pytest with the plugin, on tests beside a program as app.elf."""
    (pytester.path / "app.elf").write_bytes(program("division").read_bytes())

    def run(test: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(test_app=test)
        return pytester.runpytest_inprocess(*PLUGIN, *arguments)

    return run


def source(divide: int = 34, tolerance: str = "0%") -> str:
    return TEST.replace("DIVIDE", str(divide)).replace("TOLERANCE", tolerance)


def snapshot(pytester: pytest.Pytester, name: str = "test_time") -> Path:
    return pytester.path / "__cyclescope__" / "test_app" / f"{name}.json"


def test_a_snapshot_is_asked_for_written_and_kept(
    bench: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    missing = bench(source())
    missing.assert_outcomes(failed=1)
    path = "__cyclescope__/test_app/test_time.json"
    missing.stdout.fnmatch_lines(
        [f"*no snapshot {path}: run `pytest --cyclescope-update` to write it"]
    )
    missing.stdout.no_fnmatch_line("*Errno*")
    assert not snapshot(pytester).exists()
    written = bench(source(), "--cyclescope-update")
    written.assert_outcomes(passed=1)
    written.stdout.fnmatch_lines([f"cyclescope: wrote {path}"])
    data = json.loads(snapshot(pytester).read_text())
    assert data["cores"]["cpu0"]["sections"]["main"]["calls"] == 1
    assert sum(data["cores"]["cpu0"]["causes"].values()) == data["cores"]["cpu0"]["cycles"]
    bench(source()).assert_outcomes(passed=1)
    again = bench(source(), "--cyclescope-update")
    again.assert_outcomes(passed=1)
    again.stdout.no_fnmatch_line("cyclescope: wrote*")


def test_a_changed_metric_is_named_with_its_cause(
    bench: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    bench(source(), "--cyclescope-update").assert_outcomes(passed=1)
    before = snapshot(pytester).read_text()
    moved = bench(source(divide=60))
    moved.assert_outcomes(failed=1)
    moved.stdout.fnmatch_lines(
        [
            "test_app.py::test_time: the run differs from the snapshot:",
            "  cpu0: * -> * cycles (+*, +*%): *long operations +*",
            "  cpu0, section main: * -> * cycles (+*, +*%): *long operations +*",
            "The snapshot is __cyclescope__/test_app/test_time.json; to accept the change,*",
        ]
    )
    moved.stdout.no_fnmatch_line("*Traceback*")
    assert snapshot(pytester).read_text() == before
    bench(source(divide=60, tolerance="1000%")).assert_outcomes(passed=1)


def test_metrics_ends_and_boards_are_held_to_the_snapshot(
    bench: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    bench(source(), "--cyclescope-update").assert_outcomes(passed=1)
    data: dict[str, Any] = json.loads(snapshot(pytester).read_text())
    data["metrics"].append({"name": "rate", "unit": "kB/s", "value": 5})
    data |= {"exit_code": 3, "board": "another"}
    del data["cores"]["cpu0"]["sections"]["main"]
    snapshot(pytester).write_text(json.dumps(data))
    moved = bench(source(tolerance="50%"))
    moved.assert_outcomes(failed=1)
    moved.stdout.fnmatch_lines(
        [
            "*the run differs from the snapshot by more than 50%:",
            f"  board: another -> {BOARD}",
            "  outcome: status 3 -> status 0",
            "  cpu0, section main: new",
            "  rate (kB/s): gone",
        ]
    )
    snapshot(pytester).write_text("<<<<<<< HEAD\n")
    damaged = bench(source())
    damaged.assert_outcomes(failed=1)
    damaged.stdout.fnmatch_lines(
        ["*test_time.json is not a snapshot: run `pytest --cyclescope-update`*"]
    )


def test_each_test_and_each_name_has_its_own_file(
    bench: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    test = f"""
        import pytest

        class TestApp:
            @pytest.mark.parametrize("what", ["a/b", "a_b", "plain"])
            def test_it(self, what, cyclescope):
                result = cyclescope.board("{BOARD}").run("app.elf")
                cyclescope.check(result)
                cyclescope.check(result, name="again")

        def test_twice(cyclescope):
            result = cyclescope.board("{BOARD}").run("app.elf")
            cyclescope.check(result)
            cyclescope.check(result)
    """
    done = bench(test, "--cyclescope-update")
    done.assert_outcomes(passed=3, failed=1)
    done.stdout.fnmatch_lines(["*this test already has a check without a name*"])
    names = sorted(path.name for path in snapshot(pytester).parent.iterdir())
    assert len(names) == 7
    assert {"TestApp.test_it[plain].json", "TestApp.test_it[plain].again.json"} <= set(names)
    bench(test, "-k", "TestApp").assert_outcomes(passed=3)


def test_a_fault_is_never_stored(
    bench: Callable[..., pytest.RunResult], pytester: pytest.Pytester, program: Program
) -> None:
    bench("")
    (pytester.path / "app.elf").write_bytes(program("trap_without_handler").read_bytes())
    test = source().replace('"exit"', '"fault"').replace('sections=["main"]', "")
    failed = bench(test, "--cyclescope-update")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*test_time: the run ended with a fault: *"])
    assert not snapshot(pytester).exists()


def test_at_its_start_pytest_gets_nothing_heavy() -> None:
    code = "import sys, cyclescope.testing.plugin as _\n"
    code += "print(sorted(name for name in sys.modules if 'cyclescope' in name))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    known = ["cyclescope", "cyclescope.testing", "cyclescope.testing.plugin"]
    assert done.stdout.strip() == str(known)


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"cyclescope": "cyclescope.testing.plugin"}


# ---- what results give by name


@pytest.fixture(scope="module")
def result(program: Program) -> RunResult:
    return Board(BOARD).load(program("division")).run(sections=["main"])


def test_sections_cores_and_metrics_are_had_by_their_names(result: RunResult) -> None:
    section = result.section("main")
    assert section is result.cores[0].sections[0]
    assert result.section("cpu0:main") is section
    assert section.cycles == sum(entry.cycles for entry in section.stack) > 0
    assert result.core("cpu0") is result.cores[0]
    with pytest.raises(UsageError, match=r"^the run has no section mian; it has cpu0:main, main$"):
        result.section("mian")
    with pytest.raises(UsageError, match=r"^the run has no core cpu1; it has cpu0$"):
        result.core("cpu1")


def test_a_run_without_sections_says_how_to_ask_for_them(program: Program) -> None:
    result = Board(BOARD).load(program("exit_main")).run()
    with pytest.raises(UsageError, match=r"it has none; sections=\[...\] of the run names those"):
        result.section("main")


def test_a_metric_is_had_by_its_name_and_settings() -> None:
    lines = [
        '{"metric":"read","unit":"us","value":5,"bytes":1}',
        '{"metric":"read","unit":"us","value":9,"bytes":2}',
    ]
    result = RunResult("b", "f", "exit", 0, None, 1, "\n".join(lines), (), {})
    assert result.metric("read").value == 5
    assert result.metric("read", bytes=2).value == 9
    with pytest.raises(
        UsageError, match="no metric read bytes=3; it has read bytes=1, read bytes=2"
    ):
        result.metric("read", bytes=3)
