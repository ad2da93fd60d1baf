"""Input on serial lines in simulated time: by characters and scripts, the same each time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tiers
from conftest import Command
from shell import BOARDS, session, shell

import cyclescope
from cyclescope.board.results import RunResult
from cyclescope.board.scripts import End, Expect, Send, Wait
from cyclescope.board.wiring.lines import Session
from cyclescope.errors import EngineError, UsageError
from cyclescope.statuses import Status

BOARD = "minimal-rv32"
AGAIN = (BOARD, "nucleo-l4r5zi")
# 115200 baud from 100 MHz: a divider of 54, so a character of 10 bits takes 8640 clocks.
CHARACTER_PS = 10 * 16 * 54 * 10_000


def run(board: str, **options: object) -> RunResult:
    return cyclescope.Board(board).load(shell(board)).run(**options)  # type: ignore[arg-type]


def facts(result: RunResult) -> tuple[object, ...]:
    """Results that must not depend on the way of simulation."""
    return result.console, result.elapsed_ps, result.counters, result.cores, result.notes


# the STM32MP157's run takes longest; the tests below have it
@pytest.mark.parametrize(
    "board", tiers.mostly_long(BOARDS, lambda board: board != "stm32mp157c-dk2")
)
def test_a_session_at_each_uart_is_the_same_to_the_cycle(board: str) -> None:
    uart, result = BOARDS[board], run(board, script=session())
    assert (result.outcome, result.exit_code) == ("exit", 0), result.message
    # "ekho", three characters of it are deleted, and the rest
    assert result.counters[f"{uart}.rx_characters"] == 5 + (4 + 3 + 15) + 5 + 7
    assert result.counters[f"{uart}.rx_lost_characters"] == 0
    assert result.elapsed_ps > 500 * 10**9
    # the short tier has a session again on few boards: each takes long where nothing is compiled
    if not tiers.ALL and board not in AGAIN:
        return
    # waits on clocks that are not in step with the core's are run, and take long without compiling
    is_slow = board in ("sama5d2-xplained", "stm32mp157c-dk2")
    again = run(board, script=session(), compile_after=None if is_slow else 0)
    assert facts(again) == facts(result)


@pytest.mark.parametrize("board", ["minimal-rv32", "nios2-mmc", "stm32mp157c-dk2"])
def test_a_wait_for_characters_is_skipped_without_a_difference(board: str) -> None:
    steps = [Expect("> "), Wait(2 * 10**9), Send("uptime\r"), Expect(" us\r\n> "), Wait(10**9)]
    script = [*steps, End()]
    skipping, whole = run(board, script=script), run(board, script=script, skip_polling=False)
    assert facts(skipping) == facts(whole)


def test_firmware_that_is_slower_than_its_line_loses_characters() -> None:
    result = run("picosoc-icebreaker", script=[Expect("> "), Send("help\r"), Wait(10**10), End()])
    assert result.counters["uart0.rx_characters"] == 5
    assert result.counters["uart0.rx_lost_characters"] > 0
    assert any("one is lost (overrun)" in note for note in result.notes)


def test_characters_of_a_file_follow_each_other_at_the_lines_rate(
    cyclescope: Command, tmp_path: Path
) -> None:
    (tmp_path / "typed.txt").write_bytes(b"exit 7\r")
    options = ["--board", BOARD, "--console", "file:typed.txt", "--json", "run.json"]
    done = cyclescope("run", shell(BOARD), *options)
    assert (done.status, done.stderr) == (7, "")
    result = json.loads((tmp_path / "run.json").read_text())
    assert result["counters"]["uart0.rx_characters"] == 7
    # the shell reads as fast as they come, and the prompt before is long
    assert result["elapsed_ps"] > 7 * CHARACTER_PS
    assert done.stdout.splitlines()[1] == "> exit 7"
    assert facts(run(BOARD, typed=b"exit 7\r"))[1] == result["elapsed_ps"]


def test_a_wait_that_fails_ends_the_run_with_what_came_instead(
    cyclescope: Command, tmp_path: Path
) -> None:
    (tmp_path / "s.txt").write_text('expect "> " within 50ms\nsend "x\\r"\nexpect "ok" within 20ms')
    done = cyclescope("run", shell(BOARD), "--board", BOARD, "--script", "s.txt")
    assert done.status == Status.SCRIPT
    assert done.error.startswith('s.txt:3: "ok" did not come within 20.000 ms, it is ')
    assert done.error.endswith(r'what came: "x\r\nx: no such command; help lists them\r\n> "')
    assert "simulated time" in done.stdout


class Keys:
    """A terminal on which a key is pressed at every fifth look, and one more while it is sent."""

    is_over = False
    wants_end = False
    takes_output = True

    def __init__(self, text: bytes) -> None:
        self._rest = text
        self._looks = 0
        self.shown = b""

    def read(self) -> bytes:
        self._looks += 1
        count = 2 if self._looks % 5 == 0 else 1
        if self._looks % 5 > 1:
            return b""
        data, self._rest = self._rest[:count], self._rest[count:]
        return data

    def write(self, data: bytes) -> None:
        self.shown += data

    def flush(self) -> bool:
        return True


@pytest.mark.parametrize("board", ["minimal-rv32", "stm32mp157c-dk2", "nios2-mmc"])
def test_a_saved_session_repeats_the_run_as_a_script(board: str) -> None:
    keys, session = Keys(b"echo ab\rexit 2\r"), Session()
    typed = run(board, terminals={None: keys}, pace=False, session=session, limit=None)
    assert (typed.exit_code, keys.shown.decode()) == (2, typed.console)
    steps = session.steps(BOARDS[board])
    assert b"".join(step.text for step in steps if isinstance(step, Send)) == b"echo ab\rexit 2\r"
    assert facts(run(board, script=steps)) == facts(typed)


def test_a_text_that_is_expected_when_the_firmware_ends_is_a_failure() -> None:
    result = run(BOARD, script=[Expect("> "), Send("exit 3\r"), Expect("never")])
    assert result.outcome == "script"
    assert result.message is not None
    assert result.message.startswith('step 3: "never" did not come, it is ')
    assert result.message.endswith("the firmware has ended with status 3")
    done = run(BOARD, script=[Expect("> "), Send("exit 3\r")])
    assert (done.outcome, done.exit_code) == ("exit", 3)


def test_a_script_that_is_not_done_at_the_limit_is_reported() -> None:
    result = run(BOARD, script=[Expect("> "), Wait(10**12), End()], limit="100ms")
    assert result.outcome == "limit"
    assert [
        note for note in result.notes if "script at uart0 was not done: step 2: the wait" in note
    ]


def test_input_that_no_receiver_takes_waits_and_is_reported() -> None:
    result = run("sama5d2-xplained", typed={"uart0": b"abc", None: b"exit 0\r"}, limit="20ms")
    assert "uart0.rx_characters" not in result.counters
    notes = [note for note in result.notes if note.startswith("uart0: 3 characters of the input")]
    assert len(notes) == 1


def test_without_input_a_result_says_nothing_of_it() -> None:
    result = run(BOARD, limit="50ms")
    assert not [name for name in result.counters if "rx_" in name]
    assert result.outcome == "limit"


def test_lines_that_can_not_be_are_refused(cyclescope: Command, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("end\n")
    elf = shell(BOARD)
    for options, message in (
        (["--console", "uart9=pty"], "no serial port 'uart9': the board's serial ports are uart0"),
        (["--console", "phone"], "--console phone: expected stdio, pty, tcp,"),
        (["--console", "tcp:99999"], "--console tcp:99999: a port is a number"),
        (["--script", "s.txt", "--console", "pty"], "--console pty: uart0 already has an input"),
        (["--save-script", "x"], "--save-script needs exactly one serial line"),
        (["--script", "missing.txt"], "missing.txt: "),
        (["--console", "stdio", "--stdin", "-"], "another option already uses the standard input"),
        (["--console", "stdio", "--console", "uart0=stdio"], "uart0 already has an input"),
    ):
        done = cyclescope("run", elf, "--board", BOARD, *options)
        assert done.status == Status.USAGE, options
        assert message in done.error, done.error


def test_unknown_labels_and_steps_are_refused() -> None:
    with pytest.raises(UsageError, match="no serial port 'x'"):
        run(BOARD, typed={"x": b""})
    with pytest.raises(UsageError, match="two inputs"):
        run(BOARD, typed=b"", script=[End()])
    with pytest.raises(UsageError, match="not a step of a script"):
        run(BOARD, script=["end"])
    with pytest.raises(EngineError):
        cyclescope.Board(BOARD).load(shell(BOARD)).start().attach(
            "uart0", b"", [("s", "go", b"", None)]
        )
