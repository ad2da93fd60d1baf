"""Output of commands on 80 and 60 columns: no number is broken, and pages fit a screen."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from conftest import BOARD, ROOT, Command
from rich.console import Console
from rich.text import Text

import cyclescope as package
from cyclescope import firmware
from cyclescope.cli.tables.columns import Fitted, shortened
from cyclescope.statuses import Status

WIDTHS = (80, 60)
# With its unit: what stands in a cell, whole.
NUMBER = re.compile(r"\d[\d,.]*")


def rendered(table: Fitted, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_columns_go_and_names_are_shortened_before_a_number_is_broken() -> None:
    table = Fitted(show_footer=True)
    table.add_column("function", is_name=True, footer="total")
    for number, heading in enumerate(("cycles", "total", "longest")):
        goes = None if number == 0 else 3 - number
        table.add_column(heading, justify="right", goes=goes, footer="1,234,567,890")
    table.add_row(Text("core::fmt::Formatter::write_formatted_parts"), *["1,234,567,890"] * 3)
    wide = rendered(table, 120)
    assert "core::fmt::Formatter::write_formatted_parts" in wide
    assert "too narrow" not in wide
    for width, gone in ((80, ""), (60, "longest"), (44, "total, longest"), (30, "total, longest")):
        text = rendered(table, width)
        assert max(map(len, text.splitlines())) <= width
        assert text.count("1,234,567,890") == 2 * (3 - len(gone.split()))
        assert ("too narrow for: " + gone in text) is bool(gone)
        assert "…" in text or width == 80
    assert shortened(Text("abcdefghij"), 5) == Text("ab…ij")
    assert shortened("abcdefghij", 5) == "abcdefghij"


@pytest.mark.parametrize("columns", [200, 60, 30, 12])
def test_of_very_many_columns_the_last_are_left_out(columns: int) -> None:
    table = Fitted()
    table.add_column("name", is_name=True)
    for number in range(20):
        table.add_column(f"value of {number}", justify="right")
    table.add_row(Text("a_long_name_of_something"), *["1,234,567"] * 20)
    text = rendered(table, columns)
    assert set(NUMBER.findall(text.split("too narrow")[0].split("┡")[1])) <= {"1,234,567"}
    assert max(map(len, text.splitlines())) <= columns
    assert "too narrow for: " in " ".join(text.split())


@pytest.fixture(scope="module")
def hello() -> Path:
    return firmware.build_app("hello", "stm32f4-disco", {})


@pytest.mark.parametrize("columns", WIDTHS)
def test_numbers_of_all_tables_stay_whole(
    columns: int, hello: Path, cyclescope: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each number of a cell is one that a wide screen has, too."""
    run = ("--board", "stm32f4-disco", "--quiet", "--no-console")
    calls = [
        ("profile", hello, *run, "--function", "console_uart_put"),
        ("profile", hello, *run, "--by", "line", "--waits", "--by", "file"),
        ("run", hello, *run[:2], "--waits", "--calls", "console_uart_put"),
        ("compare", hello, hello, "--set-b", "cpu0.cyclescope,taken-branch-cycles=3", *run[:2]),
        ("board", "stm32f4-disco", "--section", "all"),
        ("annotate", hello, "console_uart_put", *run),
    ]
    for call in calls:
        monkeypatch.setenv("COLUMNS", "400")
        wide = cyclescope(*call)
        monkeypatch.setenv("COLUMNS", str(columns))
        narrow = cyclescope(*call)
        assert (narrow.status, wide.status) == (0, 0), narrow.stderr
        known = set(NUMBER.findall(wide.stdout))
        rows = [line for line in narrow.stdout.splitlines() if line.startswith("│")]
        assert rows or call[0] == "annotate"
        assert all(len(line) <= columns for line in rows)
        found = {number for line in rows for number in NUMBER.findall(line)}
        # host time is another each time; sources are wrapped between words
        assert not {one for one in found - known if "," in one}, call


@pytest.mark.parametrize("columns", WIDTHS)
def test_annotate_begins_with_the_source(
    columns: int, hello: Path, cyclescope: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    call = ("annotate", hello, "console_uart_put", "--board", "stm32f4-disco", "--sources", ROOT)
    lines = cyclescope(*call, "--no-console", "--quiet").stdout.splitlines()
    assert lines[0].startswith("cpu0: console_uart_put at firmware/")
    head, *source = lines[2:]
    assert head.split()[:2] == ["cycles", "share"]
    begin = head.index("firmware/")
    assert begin <= columns - 40
    assert source[0][:begin].strip() == ""
    assert re.fullmatch(r" +\d+ \|.*", source[0])


@pytest.mark.parametrize("name", package.shipped_boards())
def test_a_board_is_a_page_with_sections_to_ask_for(
    name: str, cyclescope: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = cyclescope("board", name).stdout.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert "--section cores" in "".join(lines)


def test_sections_of_a_board_are_shown_alone(cyclescope: Command) -> None:
    done = cyclescope("board", "stm32f4-disco", "--section", "serial", "--section", "interrupts")
    assert "usart2 │ the console" in done.stdout
    assert re.search(r"usart2 +│ nvic +│ 38 ", done.stdout)
    assert "timing parameters" not in done.stdout
    wrong = cyclescope("board", "stm32f4-disco", "--section", "pinz")
    assert wrong.status == Status.USAGE
    assert "'pinz' is not one of 'cores', " in wrong.error


def test_without_arguments_there_is_help(cyclescope: Command) -> None:
    done = cyclescope()
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == cyclescope("--help").stdout
    assert done.stdout.startswith("Usage: cyclescope [OPTIONS] COMMAND")


def test_consoles_are_not_shown_if_nobody_wants_them(hello: Path, cyclescope: Command) -> None:
    for command in (("run",), ("profile",), ("annotate",)):
        more = ("main",) if command == ("annotate",) else ()
        call = (*command, hello, *more, "--board", "stm32f4-disco")
        assert "hello" in cyclescope(*call).stdout.lower()
        assert "Hello" not in cyclescope(*call, "--no-console").stdout


def test_results_show_a_few_lines_of_themselves(hello: Path) -> None:
    result = package.Board("stm32f4-disco").load(hello).run(profile=True, sections=["main"])
    swept = package.sweep(hello, "stm32f4-disco", {"hsi.clock-frequency": ["8M", "16M"]})
    for one in (result, result.profile, *result.cores, *result.cores[0].sections, swept):
        assert len(repr(one)) < 24 * 80
        assert repr(one).startswith(f"{type(one).__name__}(")
    assert "outcome='exit', exit_code=0" in repr(result)
    assert "varied=['hsi.clock-frequency'], " in repr(swept)
    assert "rows=2, failures=0" in repr(swept)


def test_advice_is_not_given_for_a_metric_that_there_is_not(cyclescope: Command) -> None:
    endless = firmware.build(
        firmware.board_recipe("endless_loop", BOARD, [ROOT / "tests/firmware/endless_loop.c"])
    )
    done = cyclescope("advise", endless, "--board", BOARD, "--metric", "nope", "--limit", "10us")
    assert done.status == Status.USAGE
    assert done.error.startswith("--metric nope: no run has it; there are elapsed_ps, cpu0.cycles")


def test_a_sweep_has_scripts_and_says_what_to_do_with_endless_firmware(
    cyclescope: Command, tmp_path: Path
) -> None:
    shell = firmware.build_app("shell", "stm32f4-disco", {})
    call = (
        "sweep",
        shell,
        "--board",
        "stm32f4-disco",
        "--vary",
        "usart2.cyclescope,start-cycles=1,2",
    )
    call = (*call, "--again", "--limit", "200ms", "--out", tmp_path / "out")
    done = cyclescope(*call)
    assert done.status == 1
    assert (
        "did not end within its limit of simulated time: raise --limit, let a --script end it"
        in (" ".join(done.stdout.split()))
    )
    script = tmp_path / "end.script"
    script.write_text('expect "> " within 100ms\nend\n')
    done = cyclescope(*call, "--script", script)
    assert (done.status, "failed" in done.stdout) == (0, False), done
    assert "elapsed_ps" in done.stdout
    wrong = cyclescope(*call, "--script", f"uart9={script}")
    assert wrong.status == Status.USAGE
    assert "no serial port 'uart9': the board's serial ports are usart2" in wrong.error
    script.write_text("wiat 1s\n")
    assert f"{script}:1" in cyclescope(*call, "--script", script).error
