"""Conditions over a board's activities: when they become true, and their actions."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import logger_firmware
import pytest
from conftest import BOARD
from debugged import TARGETS, Target
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from shipped_programs import built, loaded
from tiers import mostly_long, sized

import cyclescope
from cyclescope import cli
from cyclescope._engine import Machine, snapshot_time_ps
from cyclescope.board.observing import triggers
from cyclescope.board.results import TriggerResult
from cyclescope.errors import UsageError
from cyclescope.statuses import Status

# activities that are recorded only when they are over
RECORDED_AT_END = (".idle", ".held_in_reset")


def without_triggers(result: cyclescope.RunResult) -> dict[str, Any]:
    data = result.to_dict()
    data.pop("triggers", None)
    return data


def recorded(board: cyclescope.Board, path: Path) -> dict[str, list[tuple[int, int]]]:
    """The changes of each signal in a run's waveform."""
    board.run(waves=path, vcd_timescale="1ps")
    names: dict[str, str] = {}
    changes: dict[str, list[tuple[int, int]]] = {}
    scope, now_ps, begun = "", 0, False
    for line in path.read_text().splitlines():
        words = line.split()
        if line.startswith("$scope"):
            scope = words[2]
        elif line.startswith("$var"):
            names[words[3]] = f"{scope}.{words[4]}"
        elif line.startswith("$dumpvars"):
            begun = True
        elif line.startswith("#"):
            now_ps = int(line[1:])
        elif begun and line[:1] in ("0", "1"):
            changes.setdefault(names[line[1:]], []).append((now_ps, int(line[0])))
    return changes


def rises(changes: list[tuple[int, int]], end_ps: int) -> tuple[int, int]:
    """The number of a signal's rising edges, and its total time at the high level."""
    count, high_ps, since = 0, 0, None
    # spans that a device recorded ahead are there, too
    for at_ps, level in (change for change in changes if change[0] < end_ps):
        if level and since is None:
            count, since = count + 1, at_ps
        elif not level and since is not None:
            high_ps, since = high_ps + at_ps - since, None
    return count, high_ps + (end_ps - since if since is not None else 0)


@pytest.mark.parametrize(
    "name",
    mostly_long(
        ["rv32-flash", "rv32-interrupts", "a7-and-m4-talking", "mips-pins", "picorv32"],
        {"rv32-interrupts", "a7-and-m4-talking"},
    ),
)
def test_signals_are_seen_as_waveforms_have_them(name: str, tmp_path: Path) -> None:
    board = loaded(name)
    plain = board.run()
    changes = recorded(loaded(name), tmp_path / "waves.vcd")
    wanted = [
        signal
        for signal in changes
        if any(level for _, level in changes[signal]) and not signal.endswith(RECORDED_AT_END)
    ]
    conditions = [f'node("{scope}")["{name}"]' for scope, name in map(split, wanted)]
    result = board.run(count_when=conditions)
    assert without_triggers(result) == without_triggers(plain)
    seen = {trigger.condition: trigger for trigger in result.triggers}
    found = {
        signal: (seen[condition].count, seen[condition].true_ps)
        for signal, condition in zip(wanted, conditions, strict=True)
    }
    expected = {signal: rises(changes[signal], plain.elapsed_ps) for signal in wanted}
    assert found == expected


def split(signal: str) -> tuple[str, str]:
    scope, _, name = signal.rpartition(".")
    return scope, name


CALLS = '"write_page" in cpu0.calls'
PAGES = 12


@pytest.fixture(scope="module")
def logger(tmp_path_factory: pytest.TempPathFactory) -> cyclescope.Board:
    elf = logger_firmware.build(tmp_path_factory.mktemp("logger"))
    return cyclescope.Board(BOARD).load(elf)


def counted(board: cyclescope.Board, *conditions: str) -> list[TriggerResult]:
    return list(board.run(count_when=conditions).triggers)


def test_a_call_lasts_from_its_first_instruction_to_its_return(logger: cyclescope.Board) -> None:
    result = logger.run(sections=["write_page"], count_when=[CALLS])
    (section,), (trigger,) = result.cores[0].sections, result.triggers
    assert (trigger.count, trigger.true_ps) == (section.calls, section.ps)
    assert section.calls == PAGES


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_calls_are_seen_on_each_kind_of_core(target: Target) -> None:
    board, name = target.load(), target.function
    core = board.describe()["cores"][0]["name"]
    result = board.run(limit="3s", sections=[name], count_when=[f'"{name}" in {core}.calls'])
    (section,), (trigger,) = result.cores[0].sections, result.triggers
    # one that an interrupt, or another task, makes within one is no new begin
    assert section.calls - 1 <= trigger.count <= section.calls
    assert section.calls > 0


def test_numbers_are_reached_to_the_cycle(logger: cyclescope.Board) -> None:
    whole = logger.run()
    core = whole.cores[0]
    cycle_ps = whole.elapsed_ps // core.cycles
    at_ps = 1_234_567_890
    time, cycles, after, instructions, never = counted(
        logger,
        f'time >= duration("{at_ps}ps")',
        "cpu0.cycles >= 1000000",
        "cpu0.cycles > 2 * 500000 + 77",
        "cpu0.instructions >= 5000 && cpu0.instructions < 6000",
        f"cpu0.instructions > {core.instructions}",
    )
    # an instruction takes some cycles, an interrupt's entry more
    for trigger, expected_ps in (
        (time, at_ps),
        (cycles, 1_000_000 * cycle_ps),
        (after, 1_000_078 * cycle_ps),
    ):
        assert trigger.count == 1
        assert trigger.first_ps is not None
        assert expected_ps <= trigger.first_ps < expected_ps + 100 * cycle_ps
    assert (instructions.count, never.count) == (1, 0)
    assert time.true_ps == whole.elapsed_ps - (time.first_ps or 0)


def test_a_counter_of_a_chip_is_seen_as_it_grows(logger: cyclescope.Board) -> None:
    programmed = 'flash0["pages_programmed"]'
    half, odd, bytes_sent = counted(
        logger, f"{programmed} >= {PAGES // 2}", f"{programmed} % 2 == 1", "spi0.bytes >= 200"
    )
    assert (half.count, odd.count, bytes_sent.count) == (1, PAGES // 2, 1)
    sections = logger.run(windows=["write_page"]).windows
    at_ps = half.first_ps or 0
    assert sections[PAGES // 2 - 1].begin_ps < at_ps <= sections[PAGES // 2 - 1].end_ps


@pytest.mark.parametrize(
    ("condition", "same_as"),
    [
        (f"flash0.busy && {CALLS}", "flash0.busy"),
        ("!flash0.busy == false", "flash0.busy"),
        ("true ? flash0.busy : false", "flash0.busy"),
        ('flash0["busy"] != false', "flash0.busy"),
        ("cpu0.cycles - cpu0.cycles == 0", "true"),
        (f"false || {CALLS}", CALLS),
        (f'-2 < 1 && duration("1ms") + duration("1us") > duration("1ms") && {CALLS}', CALLS),
        ("(cpu0.cycles > 1000 ? 7 : 3) * 2 / 7 % 2 == 0 && flash0.busy", "flash0.busy"),
    ],
)
def test_operators_are_what_they_are_called(
    logger: cyclescope.Board, condition: str, same_as: str
) -> None:
    first, second = counted(logger, condition, same_as)
    assert replace(first, condition=same_as) == second


def test_a_timeline_begins_where_a_condition_becomes_true(
    logger: cyclescope.Board, tmp_path: Path
) -> None:
    plain = logger.run()
    (busy,) = counted(logger, "flash0.busy")
    from_there = tmp_path / "from.pftrace"
    result = logger.run(trace=from_there, trace_when="flash0.busy", trace_for="2ms")
    assert without_triggers(result) == without_triggers(plain)
    assert [(one.action, one.first_ps) for one in result.triggers] == [("trace", busy.first_ps)]
    whole = tmp_path / "whole.pftrace"
    logger.run(trace=whole)
    assert 0 < from_there.stat().st_size < whole.stat().st_size / 2
    never = logger.run(trace=from_there, trace_when="time > duration('1h')")
    assert any("has not become true" in note for note in never.notes)


def test_a_snapshot_is_taken_where_a_condition_becomes_true(
    logger: cyclescope.Board, tmp_path: Path
) -> None:
    plain = logger.run()
    path = tmp_path / "busy.snapshot"
    result = logger.run(snapshot=path, snapshot_when=f"flash0.busy && {CALLS}")
    assert without_triggers(result) == without_triggers(plain)
    (busy,) = counted(logger, "flash0.busy")
    taken_ps = snapshot_time_ps(path.read_bytes())
    assert busy.first_ps is not None
    assert busy.first_ps <= taken_ps < busy.first_ps + 1_000_000
    assert logger.run(start_from=path) == plain
    path.unlink()
    result = logger.run(snapshot=path, snapshot_when="false")
    assert not path.exists()
    assert "false has not become true" in " ".join(result.failed_saves)


def test_a_program_in_python_halts_where_a_condition_becomes_true(logger: cyclescope.Board) -> None:
    (busy,) = counted(logger, "flash0.busy")
    debugger = logger.debug()
    seen = []
    debugger.break_when("flash0.busy", lambda halt: seen.append(halt.time_ps))
    debugger.break_when(f"flash0.busy && {CALLS} && time > duration('5ms')")
    halt = debugger.run()
    assert (halt.reason, halt.function) == ("condition", "transfer")
    assert "flash0.busy" in halt.conditions
    assert len(halt.conditions) == 2
    assert busy.first_ps is not None
    assert busy.first_ps <= seen[0] < busy.first_ps + 1_000_000
    assert seen[-1] == halt.time_ps > seen[-2]
    while debugger.run().reason != "end":
        pass
    assert debugger.result().cores == logger.run().cores


REFUSED = {
    "": "at character 1",
    "flash0.busy &&": "at character",
    "flash0": "it is a node",
    "1": "it is a number",
    "flash0.bussy": "flash0 has no signal or counter 'bussy'; did you mean 'busy'?",
    "flash1.busy": "the board has no node 'flash1'; did you mean 'flash0'?",
    "cpu0.busy": "cpu0 has no signal or counter",
    '"writepage" in cpu0.calls': "did you mean 'write_page'?",
    "write_page in cpu0.calls": "the board has no node 'write_page'",
    "cpu0.calls": "it is the calls of a core",
    "time > 5": "a time can't be compared with a number so",
    "time > 1.5": "a count is a whole number",
    "duration('1') < time": "expected a number and ps, ns",
    "cpu0.cycles / 0 > 1": "only constants above 0 divide",
    "cpu0.cycles / cpu0.cycles > 1": "only constants above 0 divide",
    "flash0.busy + 1 > 0": "true or false and a number make nothing",
    "[1, 2].exists(x, x == 1)": "of no use",
    "f(1, 2, 3)": "there is no function 'f'",
    "cpu0.idle": "what a core does is recorded only when it is over",
    "(" * 40 + "true" + ")" * 40: "nested more than 32 deep",
    "true" + " && true" * 200: "1604 bytes long",
    "a\0b": "at character",
}


@pytest.mark.parametrize("condition", REFUSED)
def test_an_invalid_condition_is_refused_in_one_line(
    logger: cyclescope.Board, condition: str
) -> None:
    with pytest.raises(UsageError) as raised:
        logger.run(count_when=[condition])
    text = str(raised.value)
    assert text.startswith("condition '")
    assert REFUSED[condition] in text
    assert "\n" not in text


WORDS = st.one_of(
    st.sampled_from(["flash0", ".", "busy", "cpu0", "calls", "cycles", '"main"', "in", "time"]),
    st.sampled_from(["&&", "||", "!", "(", ")", "<", "==", "+", "-", "*", "/", "%", "?", ":"]),
    st.sampled_from(["duration", "'1ms'", "1", "true", "[", "]", "node", "{", "}", "0x10", "1.5"]),
    st.sampled_from(["\\", "\0", "é", "has", "all", ",", "9" * 40]),
)


@given(st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=14).map(" ".join)))
@example("flash0.busy && !(cpu0.cycles > 5)")
@example("-9223372036854775808 < -cpu0.cycles")
@settings(max_examples=sized(40, 400), suppress_health_check=[HealthCheck.too_slow])
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    machine = MACHINES[0] if MACHINES else MACHINES.append(_machine()) or MACHINES[0]
    with contextlib.suppress(UsageError):
        triggers.add(machine, text, triggers.COUNT)


MACHINES: list[Machine] = []


def _machine() -> Machine:
    return loaded("rv32-flash").start()


def test_a_condition_of_the_command_line_is_checked_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = built("rv32-flash")
    wave = tmp_path / "wave.vcd"
    given = ["run", str(elf), "--board", BOARD, "--waves", str(wave)]
    for options, said in (
        (["--count-when", "flash0."], "condition 'flash0.'"),
        (["--break-when", "true"], "--break-when needs a debugger"),
        (["--trace-when", "true"], "needs --trace FILE"),
        (["--snapshot-when", "true"], "a snapshot needs a file and a time"),
        (
            ["--snapshot", "a", "--snapshot-at", "1ms", "--snapshot-when", "true"],
            "a snapshot needs a file and a time",
        ),
        (
            ["--trace", str(tmp_path / "a"), "--trace-from", "1ms", "--trace-when", "true"],
            "--trace-from and --trace-when exclude each other",
        ),
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main([*given, *options])
        assert ended.value.code == Status.USAGE
        printed = capsys.readouterr()
        assert said in printed.err
        assert not wave.exists()
