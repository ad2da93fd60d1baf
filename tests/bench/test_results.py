import dataclasses
import sys

import pytest

from cyclescope.bench.rows import PREDICTED, Row, RunRecord, Step, Steps
from cyclescope.board.results import (
    CoreResult,
    Metric,
    RunResult,
    StackEntry,
    Window,
    parse_metrics,
)


def run_result(console: str = "") -> RunResult:
    stack = (StackEntry("issue", 2, 20_000), StackEntry("load: ddr", 1, 10_000))
    core = CoreResult("cpu0", 100_000_000, 2, 3, stack)
    return RunResult("b", "f", "exit", 0, None, 30_000, console, (core,), {"z": 1, "a": 2})


def test_metrics_are_the_json_lines_of_the_console() -> None:
    console = (
        "Write started\r\n"
        '{"metric":"write_time","unit":"us","value":94338}\r\n'
        "{ not json\n"
        '{"metric":"data_check","value":"ok"}\n'
        '{"metric":"flag","value":true}\n'
        '{"value":1}\n'
        '{"metric":"ratio","value":1.5}'
    )
    assert list(parse_metrics(console)) == [
        Metric("write_time", "us", 94338),
        Metric("ratio", "", 1.5),
    ]


def test_a_run_converts_to_a_data_frame_where_pandas_is_installed() -> None:
    pytest.importorskip("pandas")
    frame = run_result().to_dataframe()
    assert list(frame.columns) == ["core", "cause", "cycles", "ps"]
    assert frame["ps"].sum() == 30_000


def test_without_pandas_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'cyclescope\[pandas\]'"):
        run_result().to_dataframe()


def test_host_time_is_in_no_file_and_no_comparison() -> None:
    result = run_result()
    assert "wall" not in str(result.to_dict())
    assert list(result.to_dict()["counters"]) == ["a", "z"]


def test_a_board_that_takes_no_results_has_none() -> None:
    assert run_result().results == {}
    assert run_result().to_dict()["results"] == {}


def test_a_rounded_number_is_met_by_all_numbers_that_print_the_same() -> None:
    run = RunRecord("run", "app", "b", {}, None)
    row = Row("x", "b", {}, "cycles", "cycles", 233_500, 2e5, PREDICTED, "row", run, digits=1)
    assert row.printed == "2E+05"
    assert row.is_exact
    assert row.error_pct == 0
    far = dataclasses.replace(row, simulated=251_000)
    assert not far.is_exact
    assert far.error_pct == 0.4
    assert dataclasses.replace(row, digits=None).error_pct == 16.75


def window(section: str, begin_ps: int, end_ps: int) -> Window:
    return Window(section, begin_ps, end_ps, (CoreResult("cpu0", 10**9, 0, 0, ()),))


def test_steps_divide_a_time_by_events_of_any_core() -> None:
    steps = Steps(
        "test",
        (
            Step("crc", True, "sum"),
            Step("cm4:log", False, "way"),
            Step("cm4:log", True, "log", is_last=True),
            Step("absent", True, "nothing"),
            Step("crc", True, "earlier"),
        ),
        "rest",
    )
    assert steps.windows == ("crc", "cm4:log", "absent")
    others = [
        window("crc", 100_000, 130_000),
        window("log", 0, 10_000),
        window("log", 150_000, 160_000),
        window("log", 170_000, 180_000),
        window("log", 400_000, 500_000),
    ]
    parts = steps.of(window("test", 100_000, 200_000), others)
    assert [(part.cause, part.ps, part.cycles) for part in parts] == [
        ("sum", 30_000, 30),
        ("way", 20_000, 20),
        ("log", 30_000, 30),
        ("nothing", 0, 0),
        ("earlier", 0, 0),
        ("rest", 20_000, 20),
    ]
