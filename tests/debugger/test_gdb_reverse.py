"""Going back: by an instruction, to a breakpoint, to the last store; then forward, the same way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from debugged import TARGETS, Target
from gdb_sessions import gdb_for, session
from test_gdb import SHORT, what_counts
from tiers import mostly_long

from cyclescope import firmware

pytestmark = pytest.mark.skipif(
    any(gdb_for(target) is None for target in TARGETS.values()), reason="no GDB for all cores"
)

TO_ITS_END = ("break program_exit", "continue", "delete")


@pytest.fixture(
    params=mostly_long(TARGETS.values(), SHORT, key=lambda target: target.name), ids=TARGETS
)
def target(request: pytest.FixtureRequest) -> Target:
    return request.param


def numbers(output: str) -> list[int]:
    """The output of `output` commands, between angle brackets."""
    return [int(number) for number in re.findall(r"<(\d+)>", output)]


def test_back_is_where_it_was_and_forth_again_the_same(target: Target, tmp_path: Path) -> None:
    run = target.load().run(limit="3s")
    plain = run.to_dict()
    where = 'printf "<%u>\\n<%u>\\n", $pc, $sp'
    held = session(
        target,
        tmp_path,
        f"break {target.function}",
        "continue",
        "delete",
        "set $begin = $pc",
        where,
        "stepi",
        where,
        "stepi 40",
        where,
        "reverse-stepi 40",
        where,
        "reverse-stepi",
        where,
        "stepi 41",
        where,
        "break *$begin",
        "reverse-continue",
        where,
        "delete",
        "detach",
    )
    at = numbers(held.output)
    begin, second, later, back, first, again, halted = zip(at[::2], at[1::2], strict=True)
    assert (back, first, again) == (second, begin, later), held.output
    # the program may have passed here once more
    assert halted[0] == begin[0]
    assert what_counts(held.result) == what_counts(plain)
    # output is not printed twice
    assert [held.console.count(line) for line in run.console.splitlines()] == [
        run.console.count(line) for line in run.console.splitlines()
    ]


@pytest.mark.parametrize("last", ["detach", "disconnect"])
def test_after_a_detach_in_the_past_only_the_rest_is_printed(last: str, tmp_path: Path) -> None:
    target = TARGETS["rv32"]
    run = target.load().run(limit="3s")
    held = session(
        target,
        tmp_path,
        *TO_ITS_END,
        f"break {target.function}",
        "reverse-continue",
        "reverse-continue",
        last,
    )
    assert held.console.startswith(run.console)
    assert held.console.count(run.console.splitlines()[0]) == 1
    assert what_counts(held.result) == what_counts(run.to_dict())


def test_a_write_in_the_past_changes_the_rest_of_the_run(tmp_path: Path) -> None:
    target = TARGETS["rv32"]
    run = target.load().run(limit="3s")
    held = session(
        target,
        tmp_path,
        *TO_ITS_END,
        "monitor reset",
        "set $x5 = 1",
        "detach",
    )
    # the serial line had not sent all of it
    assert held.console.count(run.console[:10]) == 2


def test_the_last_store_is_found_and_a_watchpoint_goes_back_to_it(tmp_path: Path) -> None:
    target = TARGETS["m4"]
    held = session(
        target,
        tmp_path,
        "break EXTI0_IRQHandler",
        "continue",
        "continue",
        "watch served",
        "reverse-continue",
        'printf "<%u>\\n", served',
        "stepi",
        'printf "<%u>\\n", served',
        "python gdb.execute('monitor last-write %d' % int(gdb.parse_and_eval('(long)&served')))",
        "delete",
        "detach",
    )
    before, after = numbers(held.output)
    assert after == before + 1
    assert re.search(r"stored at [\d.]+ ms \(\d+ ps\), instruction \d+ of cpu0", held.output)


def test_back_over_a_loop_that_was_skipped_and_a_transfer(tmp_path: Path) -> None:
    # the DMA engine's end is polled for: iterations are skipped, and those before them are there
    app = firmware.build_app("quad_spi_throughput", "kc705-axi-quad-spi", {"pages": 2})
    target = Target("rv32", "kc705-axi-quad-spi", lambda: app, "main")
    held = session(
        target,
        tmp_path,
        "break read_page",
        "continue",
        'printf "<%u>\\n", $minstret',
        "reverse-stepi 50",
        'printf "<%u>\\n", $minstret',
        "stepi 50",
        'printf "<%u>\\n", $minstret',
        "delete",
        "detach",
    )
    end, back, again = numbers(held.output)
    assert (end - back, again) == (50, end), held.output
