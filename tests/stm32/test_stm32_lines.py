"""The console's line at its own rate, and accesses right after the enable of a clock."""

from __future__ import annotations

from conftest import ROOT, Command

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.scripts import parse_script
from cyclescope.statuses import Status

BOARD = "stm32f4-disco"


def test_a_line_at_another_rate_is_heard_as_its_receiver_samples_it() -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "line_rates.c"
    elf = firmware.build(firmware.board_recipe("line_rates", BOARD, [source]))
    session = parse_script('expect "near"\nwait 3ms\nsend "p"\n')
    done = package.Board(BOARD).load(elf).run("1s", script=session)
    # 2 % off is heard. At half the rate each bit of 'h' is two: 80h and 9Eh. Of 'p', whose bits are
    # half as long as the USART's, it takes each second one, at the edges: FEh, with NF.
    assert (done.exit_code, done.console) == (0, "near\n\ufffd\ufffdreceived fe flags 4\n")
    rates, clock = done.notes
    assert rates.startswith(
        "usart2: it is set to 57554 baud 8N1, and its line is at 115200 baud 8N1 "
        "(/chosen's stdout-path, or --baud): both ends receive wrong characters, as a receiver at "
        "another rate samples them"
    )
    # GPIOC's enable was read back.
    assert clock.startswith("gpiob: it was accessed ")


def test_the_line_has_the_rate_that_the_user_gives_it(cyclescope: Command) -> None:
    elf = firmware.build_app("hello", BOARD, {})
    heard = cyclescope("run", elf, "--board", BOARD, "--baud", "115200").stdout
    call = ("run", elf, "--board", BOARD, "--quiet", "--baud")
    followed = cyclescope(*call, "firmware")
    assert followed.stdout.strip()
    assert heard.startswith(followed.stdout)
    # as --baud 9600 has it
    garbled = package.Board(BOARD, {"chosen.stdout-path": ":9600n8"}).load(elf).run("1s")
    assert "hello" not in garbled.console.lower()
    (note,) = garbled.notes
    assert "its line is at 9600 baud 8N1 (/chosen's stdout-path, or --baud): " in note
    wrong = cyclescope(*call, "0")
    assert wrong.status == Status.USAGE
    assert "expected 1 to 50,000,000 baud, or firmware" in wrong.stderr
