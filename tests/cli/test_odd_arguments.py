"""Wrong arguments of any kind: one line names the fault, and the status is not 0."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from conftest import BOARD
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tiers import mostly_long, sized

from cyclescope import board, cli
from cyclescope.board.description.overrides import paths
from cyclescope.cli.commands import board as board_command
from cyclescope.errors import EngineError
from cyclescope.ipc.protocol import parse_test
from cyclescope.statuses import Status
from cyclescope.units import parse_number, parse_time_ps

EXAMPLES = settings(
    max_examples=sized(5, 25), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
MANY = "9" * 5000
PATHS = sorted(paths(board.board_tree(BOARD)))

# Each with what makes sure that nothing is run: a file, a board or an experiment that is not there.
COMMANDS = {
    "run": ("missing.elf", "--board", BOARD),
    "profile": ("missing.elf", "--board", BOARD),
    "boot": ("--kernel", "missing"),
    "annotate": ("missing.elf", "main", "--board", BOARD),
    "compare": ("missing.elf", "missing.json", "--board", BOARD),
    "debug": ("missing.elf", "--board", BOARD),
    "bench": ("no-such-experiment",),
    "show": ("no-such-experiment",),
    "ipc": ("--board", "no-such-board"),
    "binding": ("no-such-compatible",),
    "board": ("no-such-board",),
    "new-board": ("missing.svd", "--clock", "1M", "--memory", "ram=0:4Ki"),
    "devices": ("no-such-device",),
    # nothing else is wrong with it
    "doctor": ("--no-such-option",),
    "demo": ("--no-such-option",),
    "list": (),
    "sweep": ("missing.elf", "--board", BOARD),
    "advise": ("missing.elf", "--board", BOARD),
    "fit": ("missing.elf", "--board", BOARD),
}
ODD = st.one_of(
    st.text(max_size=20),
    # bytes of an argument that are no text
    st.binary(max_size=8).map(lambda data: data.decode("utf-8", "surrogateescape")),
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(str),
    st.sampled_from(
        ["", "-", "=", ".", "/", "/dev/zero", "\0", "\n", "\udcff", "☃", MANY, f"0x{MANY}"]
    ),
    st.sampled_from([f"{MANY}s", f"0.{MANY}s", "1e9s", "-1s", "0s", "1.5ps", f"{MANY}x1", "1x0"]),
    st.tuples(st.sampled_from(PATHS), st.text(max_size=9)).map("=".join),
    st.tuples(st.sampled_from(PATHS), st.sampled_from([MANY, f"-{MANY}", "&", "\0"])).map("=".join),
).filter(lambda text: text not in ("-h", "--help", "--version"))


def called(arguments: Sequence[str]) -> tuple[int, str]:
    """The status of a call of the command line, and what it says on stderr."""
    stderr = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(stderr):
        try:
            cli.main(list(arguments))
        except SystemExit as ended:
            return int(ended.code or 0), stderr.getvalue()
    raise AssertionError("the command line came back")


def refused(arguments: Sequence[str]) -> None:
    status, stderr = called(arguments)
    assert status in (Status.FAILED, Status.USAGE), (arguments, stderr)
    assert stderr.startswith("cyclescope: error: "), (arguments, stderr)
    assert "Traceback" not in stderr
    assert "a fault of Cyclescope" not in stderr
    # a board's faults are a line each
    assert max(map(len, stderr.splitlines())) < 1000, stderr


CONTEXT = click.Context(cli.cli)
OPTIONS = [
    (name, option.opts[0])
    for name in cli.cli.list_commands(CONTEXT)
    for option in cli.cli.get_command(CONTEXT, name).params
    if option.opts[0].startswith("-") and not getattr(option, "is_flag", False)
]
# Commands share most options: each option with the first of the commands above that has it.
BY_COMMAND = sorted(OPTIONS, key=lambda case: list(COMMANDS).index(case[0]))
FIRST = {option: command for command, option in reversed(BY_COMMAND)}


@pytest.mark.parametrize(
    "case", mostly_long(OPTIONS, lambda case: FIRST[case[1]] == case[0]), ids=" ".join
)
@EXAMPLES
@given(value=ODD)
@example(value="10")
@example(value=MANY)
@example(value="\udcff")
@example(value="\0")
def test_an_odd_value_of_an_option(
    case: tuple[str, str], value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, option = case
    monkeypatch.chdir(tmp_path)
    refused([command, *COMMANDS[command], option, value])
    assert list(tmp_path.iterdir()) == []


@EXAMPLES
@given(command=st.sampled_from(sorted(COMMANDS)), words=st.lists(ODD, min_size=1, max_size=3))
@example(command="run", words=["\udcff", "--board", BOARD])
@example(command="board", words=["/dev/zero"])
@example(command="board", words=["\udcff.dts"])
def test_odd_words(
    command: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # none of the words is an experiment, a file or a board
    refused([command, *words, *COMMANDS[command]])


@given(ODD)
@example(f"{MANY}s")
@example(f"{MANY}x{MANY}")
def test_texts_as_numbers(text: str) -> None:
    for parse in (parse_number, parse_time_ps, parse_test):
        with contextlib.suppress(EngineError):
            parse(text)


def test_a_number_of_many_digits_is_out_of_every_range() -> None:
    for text in (MANY, f"0x{MANY}", f"000{MANY}"):
        number = parse_number(text)
        assert number is not None
        assert number > 2**64
    assert parse_number("0" * 5000 + "17") == 17


def test_a_fault_of_ours_is_a_line_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise KeyError("what\nnobody foresaw")

    monkeypatch.setattr(board_command, "Board", fails)
    status, stderr = called(["board", BOARD])
    assert status == Status.OWN_FAULT
    assert stderr.startswith(
        "cyclescope: error: a fault of Cyclescope at cyclescope/cli/commands/board.py:"
    )
    assert "KeyError" in stderr
    assert stderr.count("\n") == 1
    monkeypatch.setenv("CYCLESCOPE_TRACEBACK", "1")
    assert "Traceback" in called(["board", BOARD])[1]


def test_the_hosts_memory_may_not_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(board_command, "Board", fails)
    status, stderr = called(["board", BOARD])
    assert (status, stderr) == (
        Status.USAGE,
        "cyclescope: error: out of memory: this command needs more memory than the host has\n",
    )
