"""`cyclescope run` and `Board.run`: outcomes, exit status, console, cycle stacks."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, ROOT, Command

import cyclescope as package
from cyclescope.errors import EngineError, SettingError, UsageError
from cyclescope.statuses import Status

PROGRAMS = tomllib.loads((ROOT / "tests" / "firmware" / "programs.toml").read_text())
ASLEEP_STATUS, LIMIT_STATUS, FAULT_STATUS = 119, 124, 125

Program = Callable[[str], Path]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if BOARD in PROGRAMS[name]["boards"]])
def test_each_program_ends_as_its_description_says(
    cyclescope: Command, program: Program, name: str
) -> None:
    expected = PROGRAMS[name]
    done = cyclescope("run", program(name), "--board", BOARD, "--limit", "2s")
    statuses = {"limit": LIMIT_STATUS, "fault": FAULT_STATUS, "asleep": ASLEEP_STATUS}
    assert done.status == statuses.get(expected["ends"], expected.get("status")), done.stderr
    assert expected.get("console", "") in done.stdout
    if expected["ends"] != "exit":
        assert done.error


@pytest.mark.parametrize("name", [name for name in PROGRAMS if BOARD in PROGRAMS[name]["boards"]])
def test_the_cycle_stack_sums_exactly_to_the_elapsed_time(program: Program, name: str) -> None:
    result = package.Board(BOARD).load(program(name)).run(limit="200ms")
    assert result.elapsed_ps > 0
    for core in result.cores:
        assert sum(entry.ps for entry in core.stack) == result.elapsed_ps
        assert all(entry.ps >= 0 and entry.cycles >= 0 for entry in core.stack)
        assert len({entry.cause for entry in core.stack}) == len(core.stack)
        assert result.cycle_stack[core.name] == core.stack


def test_the_same_run_twice_is_the_same_to_the_last_cycle(program: Program) -> None:
    board = package.Board(BOARD).load(program("results"))
    assert board.run() == board.run()


def test_a_firmware_that_never_ends_stops_at_the_limit(
    cyclescope: Command, program: Program
) -> None:
    done = cyclescope("run", program("endless_loop"), "--board", BOARD, "--limit", "20ms")
    assert done.status == LIMIT_STATUS
    assert "limit" in done.error
    assert "looping\n" in done.stdout


def test_the_limit_is_kept_to_the_end_of_an_instruction(program: Program) -> None:
    result = package.Board(BOARD).load(program("endless_loop")).run(limit="30ms")
    assert result.outcome == "limit"
    assert 30 * 10**9 <= result.elapsed_ps < 30 * 10**9 + 10**6


def test_a_fault_names_the_place(cyclescope: Command, program: Program) -> None:
    done = cyclescope("run", program("trap_without_handler"), "--board", BOARD)
    assert done.status == FAULT_STATUS
    assert "pc 0x8000" in done.error
    assert "(main+" in done.error
    assert "mtvec" in done.error


def test_an_unmapped_access_is_noted_with_pc_and_address(program: Program) -> None:
    result = package.Board(BOARD).load(program("unmapped_read")).run()
    note = next(note for note in result.notes if "0x40000000" in note)
    assert "pc 0x8" in note
    assert "main" in note


def test_json_on_stdout_leaves_the_console_to_stderr(cyclescope: Command, program: Program) -> None:
    done = cyclescope("run", program("exit_main"), "--board", BOARD, "--json", "-")
    result = json.loads(done.stdout)
    assert done.status == result["exit_code"] == 7
    assert result["outcome"] == "exit"
    assert "main returns 7" in done.stderr
    (core,) = result["cores"]
    assert sum(entry["ps"] for entry in core["stack"]) == result["elapsed_ps"]


def test_the_summary_has_instructions_cycles_times_and_the_stack(
    cyclescope: Command, program: Program
) -> None:
    done = cyclescope("run", program("exit_main"), "--board", BOARD)
    for text in ("instructions", "cycles", "simulated time", "wall time", "cycle stack", "total"):
        assert text in done.stdout
    assert done.stdout.startswith("main returns 7\n")
    assert done.stderr == ""


def test_an_overridden_baud_rate_changes_the_time(cyclescope: Command, program: Program) -> None:
    elapsed_ps = []
    for baud in (9600, 115200):
        change = f"uart0.current-speed={baud}"
        done = cyclescope(
            "run", program("exit_main"), "--board", BOARD, "--set", change, "--json", "-"
        )
        elapsed_ps.append(json.loads(done.stdout)["elapsed_ps"])
    assert elapsed_ps[0] > 5 * elapsed_ps[1]


def test_the_console_comes_in_chunks_that_make_the_whole(program: Program) -> None:
    chunks: list[str] = []
    result = package.Board(BOARD).load(program("results")).run(console=chunks.append)
    assert "".join(chunks) == result.console
    assert result.exit_code == 0
    large = next(metric for metric in result.metrics if metric.name == "large")
    assert large.value == 0x0123456789ABCDEF


def test_an_elf_may_come_as_bytes(program: Program) -> None:
    result = package.Board(BOARD).load(program("exit_code").read_bytes()).run()
    assert (result.outcome, result.exit_code) == ("exit", 42)


def test_nothing_loaded_is_an_error() -> None:
    with pytest.raises(EngineError, match="load"):
        package.Board(BOARD).run()


@pytest.mark.parametrize(
    ("limit", "said"), [("soon", "expected a number"), ("0s", "above 0"), ("5", "expected")]
)
def test_a_limit_that_is_no_time_is_refused(
    cyclescope: Command, program: Program, limit: str, said: str
) -> None:
    done = cyclescope("run", program("exit_main"), "--board", BOARD, "--limit", limit)
    assert done.status == Status.USAGE
    assert said in done.error


def test_errors_of_the_python_interface_are_engine_errors() -> None:
    with pytest.raises(UsageError):
        package.Board("kc706")
    with pytest.raises(SettingError):
        package.Board(BOARD, overrides={"spi0.clock": 1})
    assert issubclass(SettingError, EngineError)


def test_a_watched_function_has_its_own_stack(program: Program) -> None:
    board = package.Board(BOARD).load(program("results"))
    plain = board.run()
    watched = board.run(sections=["result_number"])
    (section,) = watched.cores[0].sections
    assert section.name == "result_number"
    assert section.calls > 0
    assert 0 < sum(entry.ps for entry in section.stack) < watched.elapsed_ps
    # watching takes no time
    assert watched.elapsed_ps == plain.elapsed_ps
    assert watched.cores[0].stack == plain.cores[0].stack


def test_a_sections_stack_is_printed_after_the_runs(cyclescope: Command, program: Program) -> None:
    done = cyclescope("run", program("results"), "--board", BOARD, "--section", "result_number")
    assert done.status == 0
    run, section = done.stdout.index("cycle stack of cpu0"), done.stdout.index("result_number")
    assert run < section
    done = cyclescope("run", program("results"), "--board", BOARD, "--section", "nothing")
    assert done.status == Status.USAGE
    assert "nothing" in done.error


def test_a_function_that_is_not_there_cannot_be_watched(program: Program) -> None:
    with pytest.raises(EngineError, match="no_such_function"):
        package.Board(BOARD).load(program("results")).run(sections=["no_such_function"])


def test_the_flash_keeps_its_contents_in_a_file(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    image = tmp_path / "flash.bin"
    arguments = ("--board", BOARD, "--set", f"flash0.cyclescope,image={image}")
    assert cyclescope("run", program("flash_readback"), *arguments).status == 0
    contents = image.read_bytes()
    assert len(contents) == 16 * 2**20
    written = len(contents) - contents.count(0xFF)
    assert 200 < written <= 256
    # no half-written file stays
    assert list(tmp_path.iterdir()) == [image]
