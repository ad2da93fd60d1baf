"""Output of `cyclescope run`: its summary, --quiet, --verbose, --no-color, progress."""

from __future__ import annotations

import io
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, Command
from rich.console import Console

import cyclescope as package
from cyclescope import firmware
from cyclescope._engine import Stop
from cyclescope.board.results import CoreResult, RunResult
from cyclescope.cli import run_progress
from cyclescope.cli.tables import counters as counter_tables
from cyclescope.statuses import Status

Program = Callable[[str], Path]
MS = 10**9


# ---- The summary


def result(counters: dict[str, int]) -> RunResult:
    core = CoreResult("cpu0", 100, instructions=2000, cycles=3000, stack=())
    return RunResult("b", "f", "exit", 0, None, 10, "", (core,), counters)


def printed(shown: RunResult) -> str:
    screen = Console(file=io.StringIO(), width=100)
    screen.print(*counter_tables.tables(shown))
    return screen.file.getvalue()  # type: ignore[attr-defined]


def test_misses_are_shown_by_core_and_thousand_instructions() -> None:
    text = printed(
        result(
            {
                # as RISC-V cores have them, and as others do
                "cpu0.i-cache.fills": 59,
                "cpu0.d-cache fills": 30,
                "cpu0.d-cache write-backs": 7,
                "cpu0.micro TLB misses": 5,
                "cpu0.table walks": 2,
                "cpu0.mispredicted branches": 1234,
                "cpu0.exceptions": 3,
            }
        )
    )
    # 59 misses of 2000 instructions are 29.5 of 1000
    assert re.search(r"cpu0: instruction cache +│ +59 │ +29.500 │", text)
    assert re.search(r"cpu0: data cache +│ +30 │ +15.000 │ 7 written back", text)
    assert re.search(r"cpu0: micro TLBs +│ +5 │ +2.500 │ 2 table walks", text)
    assert re.search(r"cpu0: branch prediction +│ +1,234 │ +617.000 │", text)
    assert "devices" not in text
    assert "hit rate" not in text


def test_a_second_level_cache_has_hit_rates() -> None:
    counts = {"data reads": 8, "data read hits": 6, "instruction reads": 0, "write-backs": 2}
    text = printed(result({f"L2.{what}": total for what, total in counts.items()}))
    # 6 of 8 hit
    assert re.search(r"L2: data reads +│ +2 │ +75.0 % │ of 8", text)
    # no column and no row without a figure
    assert "instruction" not in text


def test_devices_show_what_they_did_and_idle_ones_are_left_out() -> None:
    text = printed(result({"spi0.flash0.bytes_read": 4096, "spi0.frames": 1, "uart0.results": 0}))
    assert re.search(r"spi0.flash0 +│ bytes read 4,096", text)
    assert re.search(r"spi0 +│ frames 1", text)
    assert "uart0" not in text
    assert "misses" not in text
    assert printed(result({"cpu0.i-cache fills": 0, "uart0.tx_characters": 0})).strip() == ""


@pytest.mark.parametrize("board", ["kc705-axi-quad-spi", "stm32mp157c-dk2", "ben-nanonote"])
def test_the_summary_has_the_figures_that_json_has(board: str) -> None:
    elf = firmware.build_app("hello", board, {})
    found = package.Board(board).load(elf).run()
    text = printed(found)
    fills = {name: total for name, total in found.counters.items() if "fills" in name and total}
    assert fills
    for total in fills.values():
        assert re.search(rf"cache +│ +{total:,} │", text)


def test_a_second_level_cache_counts_requests_and_hits() -> None:
    elf = firmware.build_app("hello", "stm32mp157c-dk2", {})
    counters = package.Board("stm32mp157c-dk2").load(elf).run().counters
    for kind in ("data read", "data write", "instruction read"):
        assert 0 <= counters[f"L2.{kind} hits"] <= counters[f"L2.{kind}s"]
    # each miss of a first-level cache asks the second
    assert 0 < counters["L2.instruction reads"] <= counters["cpu0.i-cache fills"]


# ---- Less and more of it


def test_quiet_prints_the_console_alone(cyclescope: Command, program: Program) -> None:
    run = ("run", program("exit_main"), "--board", BOARD, "--quiet")
    done = cyclescope(*run)
    assert (done.status, done.stdout, done.stderr) == (7, "main returns 7\n", "")
    # notes and warnings go, errors stay
    noted = ("run", program("unmapped_read"), "--board", BOARD)
    assert "note" in cyclescope(*noted).stderr
    assert cyclescope(*noted, "-q").stderr == ""
    done = cyclescope("run", program("endless_loop"), "--board", BOARD, "--limit", "1ms", "-q")
    assert done.status == Status.LIMIT
    assert "limit" in done.error
    assert done.stderr.count("\n") == 1


def test_quiet_leaves_files_as_they_are(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    run = ("run", program("exit_main"), "--board", BOARD, "--json", "out.json")
    assert cyclescope(*run, "-q").status == 7
    quiet = (tmp_path / "out.json").read_text()
    assert cyclescope(*run).status == 7
    assert (tmp_path / "out.json").read_text() == quiet


def test_verbose_shows_the_memory_map_and_the_hosts_work(
    cyclescope: Command, program: Program
) -> None:
    done = cyclescope("run", program("exit_main"), "--board", BOARD, "-v")
    assert done.status == 7
    assert re.search(
        r"note: kc705-axi-quad-spi: cpu0: amd,mbv32, 100,000,000 Hz, i-cache", done.stderr
    )
    (segment, *_) = package.Board(BOARD).load(program("exit_main")).loaded
    assert f"cpu0: {segment.address:#010x}-" in done.stderr
    assert f"in ddr: {segment.file_bytes:,} bytes from the file" in done.stderr
    for text in ("counters", "uart0.tx_characters", "regions compiled", "skipped"):
        assert text in done.stdout


def test_quiet_and_verbose_exclude_each_other(cyclescope: Command, program: Program) -> None:
    done = cyclescope("run", program("exit_main"), "--board", BOARD, "-q", "-v")
    assert done.status == Status.USAGE
    assert "exclude each other" in done.error


def test_the_host_did_what_it_says(program: Program) -> None:
    board = package.Board(BOARD).load(program("results"))
    (work,) = board.run(compile_after=0).host_work
    assert (work.core, work.compiled, work.refused) == ("cpu0", 0, 0)
    assert board.run(skip_polling=False).host_work[0].skipped_cycles == 0
    assert board.run(compile_after=1).host_work[0].compiled > 0


# ---- On a terminal


def on_a_terminal(*arguments: object, until: str, environment: dict[str, str]) -> tuple[int, str]:
    """A run with its output on a terminal, interrupted once that shows a text."""
    ours, theirs = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "-m", "cyclescope", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"} | environment,
    )
    os.close(theirs)
    seen, is_stopped = "", False
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # nobody writes there any more
            break
        seen += piece.decode(errors="replace")
        if not is_stopped and until in seen:
            is_stopped = True
            command.send_signal(signal.SIGINT)
    os.close(ours)
    return command.wait(timeout=60), seen


def test_a_long_run_shows_how_far_it_is_and_takes_that_back(program: Program) -> None:
    run = ("run", program("endless_loop"), "--board", BOARD, "--limit", "100000s")
    status, seen = on_a_terminal(*run, until="of 100000 s simulated", environment={})
    assert status == Status.INTERRUPT
    assert "looping\r\n" in seen
    # the summary follows the progress line, which is erased: to column 1, and all of it
    shown, summary = seen.rindex("of 100000 s simulated"), seen.index("instructions  ")
    assert shown < seen.rindex("\r\x1b[2K") < summary
    assert "interrupted by SIGINT" in seen[summary:]


def test_no_color_turns_colours_off(program: Program) -> None:
    run = ("run", program("endless_loop"), "--board", BOARD, "--limit", "100000s")
    coloured = re.compile(r"\x1b\[[\d;]*[39]\d")
    _, seen = on_a_terminal(*run, until="simulated", environment={})
    assert coloured.search(seen)
    for more, environment in ((["--no-color"], {}), ([], {"NO_COLOR": "1"})):
        _, seen = on_a_terminal(*run, *more, until="simulated", environment=environment)
        assert not coloured.search(seen)
    assert "NO_COLOR" not in os.environ


def test_progress_in_words() -> None:
    # a quarter of the limit took 5 s: three quarters take 15
    text = run_progress.words(2500 * MS, 10_000 * MS, 5)
    assert text == " 25 %  2.5 s of 10 s simulated, at most 15 s left"
    # very few events give no rate
    assert "left" not in run_progress.words(1 * MS, 10_000 * MS, 5)
    assert run_progress.words(1_234_567_890_123, 10**16, 1).startswith("  0 %  1.234 s of 10000 s")
    assert run_progress.words(10**13, 10**12, 5).startswith("100 %  10 s of 1 s")


class Kept:
    """A sink that writes into the same place as the screen."""

    def __init__(self, file: io.StringIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._file.write(text)

    def flush(self) -> None:
        pass


def test_the_line_is_never_in_the_consoles_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    file = io.StringIO()
    screen = Console(file=file, force_terminal=True, width=80, color_system=None)
    line = run_progress.Line(Kept(file), True, Stop(), MS, wanted=False)
    line.write("one\n")
    line.show(screen)
    shown = file.getvalue()
    assert shown.startswith("one\n")
    assert "0 %" in shown
    line.write("two")
    assert file.getvalue() == f"{shown}\r\x1b[2Ktwo"
    # a line of the console is not at its end
    line.show(screen)
    assert file.getvalue() == f"{shown}\r\x1b[2Ktwo"
    line.write("\n")
    line.show(screen)
    assert file.getvalue().endswith(shown.removeprefix("one\n"))
    line.hide()
    line.hide()
    assert file.getvalue().endswith("\r\x1b[2K")
    assert file.getvalue().count("\r\x1b[2K") == 2


def test_a_console_in_a_file_holds_nothing_up() -> None:
    file = io.StringIO()
    screen = Console(file=file, force_terminal=True, width=80, color_system=None)
    line = run_progress.Line(Kept(io.StringIO()), False, Stop(), MS, wanted=False)
    line.write("no end of a line")
    line.show(screen)
    assert "0 %" in file.getvalue()


def test_no_progress_goes_into_a_file(cyclescope: Command, program: Program) -> None:
    done = cyclescope("run", program("exit_main"), "--board", BOARD)
    assert "simulated," not in done.stderr
    assert done.stderr == ""
