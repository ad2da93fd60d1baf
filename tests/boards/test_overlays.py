"""`cyclescope,overlay`: memory that answers inside another node's range, with programs as they are.

Code of a flash with wait states that lies in an overlay without any: sums by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from elf_files import sizes, symbols
from test_flash_waits import FETCH, MOST_WAITS, ends, run, straight_code

import cyclescope as package
from cyclescope.errors import EngineError
from cyclescope.experiments.flash_waits import F407

Change = Callable[..., Path]
FUNCTION = "crc16_byte"
FLASH, ALIAS = 0x08000000, 0


def overlay(first: int, size: int, more: str = "cyclescope,overlay;") -> str:
    """A memory as the SRAM is, over the flash at both of its addresses."""
    return f"""
&ahb {{
	hot: sram@{first:x} {{
		compatible = "mmio-sram";
		reg = <{first:#x} {size:#x}>, <{first - FLASH + ALIAS:#x} {size:#x}>;
		{more}
		clocks = <&hclk>;
		cyclescope,first-word-cycles = <1>;
		cyclescope,beat-cycles = <1>;
		cyclescope,sources = "*: assumed: as of sram1";
	}};
}};
"""


@pytest.fixture(scope="module")
def plain() -> tuple[Path, package.RunResult]:
    """The app from flash, and how it went."""
    return run(F407, FUNCTION)


def on(board: Path, elf: Path) -> package.RunResult:
    result = (
        package.Board(board).load(elf).run("20s", sections=[FUNCTION], windows=["timed_rounds"])
    )
    assert result.exit_code == 0, result.console
    return result


def around_function(elf: Path) -> tuple[int, int]:
    """The multiples of 64 bytes that the function lies in: address and size."""
    first = symbols(elf)[FUNCTION] & ~1
    end = first + sizes(elf)[FUNCTION]
    begin = first // 64 * 64
    return begin, (end - begin + 63) // 64 * 64


def test_a_hot_function_in_an_overlay_waits_for_no_line(
    plain: tuple[Path, package.RunResult], changed_board: Change
) -> None:
    elf, _ = plain
    first, size = around_function(elf)
    # the core asks for a line when it is due: asking early hides some of the waits
    late = "&flash {\n\tcyclescope,words-ahead = <0>;\n};\n"
    before = on(changed_board(late, F407), elf)
    after = on(changed_board(late + overlay(first, size), F407), elf)
    assert after.console != before.console  # it prints its cycles
    lines, calls, waits = straight_code(elf, before, F407)
    slow = [result.windows[2].cores[0] for result in (before, after)]
    (was,), (now,) = ([one for one in core.sections if one.name == FUNCTION] for core in slow)
    assert waits == calls * lines * MOST_WAITS[F407] > 0
    assert {entry.cause: entry.cycles for entry in now.stack}.get(FETCH, 0) == 0
    assert was.cycles - now.cycles == waits
    assert (was.calls, was.instructions) == (now.calls, now.instructions)


def test_a_program_that_lies_in_an_overlay_runs_as_without_wait_states(
    plain: tuple[Path, package.RunResult], changed_board: Change
) -> None:
    elf, before = plain
    without, *_ = ends(before).values()
    after = ends(on(changed_board(overlay(FLASH, 0x10000), F407), elf))
    assert len(after) == 4
    for cycles, causes in after.values():
        assert cycles == without[0]
        assert not any(cause.startswith(("fetch: flash", "load: flash")) for cause in causes)


def test_interpreted_and_from_a_snapshot_it_is_the_same(
    plain: tuple[Path, package.RunResult], changed_board: Change
) -> None:
    elf, _ = plain
    board = package.Board(changed_board(overlay(FLASH, 0x10000), F407)).load(elf)
    whole = board.start().run(None, None)
    machine = board.start()
    machine.compile_after(0)
    assert machine.run(None, None)["cores"] == whole["cores"]
    machine = board.start()
    assert machine.run_to(whole["elapsed_ps"] // 2) is None
    snapshot = machine.snapshot()
    machine = board.start()
    machine.restore(snapshot)
    assert machine.snapshot() == snapshot
    assert machine.run(None, None)["cores"] == whole["cores"]


def test_all_of_a_range_is_read_at_once(
    plain: tuple[Path, package.RunResult], changed_board: Change
) -> None:
    elf, _ = plain
    whole = package.Board(F407).load(elf).start().read_memory(FLASH, 0x4000)
    machine = package.Board(changed_board(overlay(FLASH + 0x1000, 0x40), F407)).load(elf).start()
    assert machine.read_memory(FLASH, 0x4000) == whole
    assert machine.read_memory(ALIAS, 0x4000) == whole


def test_the_map_has_what_is_left_of_the_range(changed_board: Change) -> None:
    described = package.Board(changed_board(overlay(FLASH + 0x1000, 0x400), F407)).describe()
    places = [
        (place["name"], place["base"], place["size"], place["path"].split("/")[-1])
        for place in described["map"]
        if FLASH <= place["base"] < 0x10000000
    ]
    flash = "flash-controller@40023c00"
    assert places == [
        ("flash window", FLASH, 0x1000, flash),
        ("hot", FLASH + 0x1000, 0x400, "sram@8001000"),
        ("flash window", FLASH + 0x1400, 0xFEC00, flash),
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (overlay(FLASH + 0x1010, 0x40), "begins at a multiple of 64 bytes"),
        (overlay(FLASH + 0xFFFC0, 0x80), "goes beyond flash window 0x08000000-0x080fffff"),
        (overlay(FLASH + 0x1000, 0x40, ""), "overlaps flash window at 0x08000000-0x080fffff"),
    ],
)
def test_an_impossible_overlay_is_reported_with_its_line(
    changed_board: Change, source: str, message: str
) -> None:
    path = changed_board(source, F407)
    with pytest.raises(EngineError) as raised:
        package.Board(path).describe()
    assert message in str(raised.value)
    line = (
        path.read_text(encoding="utf-8")
        .splitlines()
        .index(next(one for one in source.splitlines() if "reg = " in one))
    )
    assert f"{path}:{line + 1}: sram@" in str(raised.value)
