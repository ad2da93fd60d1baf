"""Boards: what ships is sound, what is wrong is refused with all its places."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, ROOT, Command
from tiers import mostly_long, sized

import cyclescope as package
from cyclescope import experiments, suites
from cyclescope.board.description.parameters import ASSUMED
from cyclescope.statuses import Status

Change = Callable[[str], Path]

BAD = {
    "a syntax error": ("/ {\n    uart\n};", ("changed.dts:5", "expected")),
    "an unknown compatible": ('&spi0 { compatible = "acme,spi"; };', ("spi@c4000000", "acme,spi")),
    "an overlap": ("&uart0 { reg = <0x41208000 0x10000>; };", ("41208000", "overlap")),
    "a missing property": ("&spi0 { /delete-property/ reg; };", ("spi@c4000000", "reg")),
    "a wrong value": (
        "&spi0 { xlnx,fifo-depth = <32>; };",
        ("changed.dts:3", "fifo-depth", "32", "16", "256"),
    ),
    "an unknown property": ("&spi0 { xlnx,fifo-dept = <16>; };", ("changed.dts:3", "fifo-dept")),
    "a wrong type": ('&spi0 { xlnx,fifo-depth = "deep"; };', ("changed.dts:3", "fifo-depth")),
    "an invalid range": (
        '&bram { cyclescope,sources = "cyclescope,beat-cycles: assumed few: a guess"; };',
        ("changed.dts:3", "'assumed few'", "cyclescope,beat-cycles", "2 to 8"),
    ),
    "an unknown core": (
        '&cpu0 { compatible = "arm,cortex-a8"; };',
        ("changed.dts:3", "cpu@0", "unknown compatible 'arm,cortex-a8'", "'arm,cortex-a5'"),
    ),
    "a core without a type": (
        "&cpu0 { /delete-property/ compatible; };",
        ("cpu@0", "'compatible' is missing", "arm,cortex-m4"),
    ),
    "an unknown chip": (
        '&flash0 { compatible = "micron,n25q128x13"; };',
        ("changed.dts:3", "flash@0", "did you mean 'micron,n25q128a13'"),
    ),
    "a device that nobody has": (
        '&uart0 { compatible = "zzz"; };',
        ("unknown compatible 'zzz'", "`cyclescope devices` lists"),
    ),
    "a misspelt bus": (
        '&axi_lite { compatible = "simple-buss"; };',
        ("unknown compatible 'simple-buss'; did you mean 'simple-bus'?",),
    ),
    "a misspelt clock": (
        '&sys_clk { compatible = "fixed-clok"; };',
        ("unknown compatible 'fixed-clok'; did you mean 'fixed-clock'?",),
    ),
    "a misspelt device": (
        '&uart0 { compatible = "xlnx,xps-uartlight-1.00.a"; };',
        ("did you mean 'xlnx,xps-uartlite-1.00.a'",),
    ),
    "no core": ("/ { /delete-node/ cpus; };", ("cpu",)),
}
# One of each type of core.
IN_SHORT = (
    BOARD,
    "picosoc-icebreaker",
    "minimal-armv7m",
    "stm32f4-disco",
    "sama5d2-xplained",
    "stm32mp157c-dk2",
    "ben-nanonote",
)
SHIPPED = mostly_long(package.shipped_boards(), IN_SHORT)


def test_list_names_each_board_and_experiment(cyclescope: Command) -> None:
    done = cyclescope("list")
    assert done.status == 0
    lines = done.stdout.splitlines()
    assert any(line.startswith("board") and BOARD in line for line in lines)
    assert any(line.startswith("experiment") and "quad-spi-throughput" in line for line in lines)
    known = (*package.shipped_boards(), *experiments.KNOWN, *suites.ALL)
    assert [line.split()[1] for line in lines] == list(known)


@pytest.mark.parametrize("name", SHIPPED)
def test_board_shows_everything_with_provenance(cyclescope: Command, name: str) -> None:
    done = cyclescope("board", name, "--section", "all")
    assert done.status == 0
    titles = ("cores", "clocks", "memory map", "devices", "interrupts", "serial lines")
    for title in (*titles, "timing parameters"):
        assert title in done.stdout
    shown = done.stdout.replace("\n", "")
    for parameter in package.Board(name).parameters:
        assert parameter.source, parameter
        assert parameter.property_name in shown or "…" not in shown


@pytest.mark.parametrize("name", package.shipped_boards())
def test_each_value_says_where_it_comes_from_and_what_is_assumed_what_is_plausible(
    name: str,
) -> None:
    board = package.Board(name)
    assert not board.warnings
    unknown = [
        f"{one.at}: {one.owner}: {one.property_name}: assumed without a range"
        for one in board.parameters
        if one.basis == ASSUMED and not one.plausible
    ]
    assert not unknown


@pytest.mark.parametrize("name", SHIPPED)
def test_a_board_takes_each_plausible_value(name: str) -> None:
    """Mostly a parameter has two, the ends of a range: `make test` takes one of them."""
    for parameter in package.Board(name).parameters:
        for value in parameter.plausible_values[:: sized(2, 1)]:
            package.Board(name, {f"{parameter.node}.{parameter.property_name}": value})


def test_a_users_board_may_leave_sources_out_with_a_warning(
    cyclescope: Command, changed_board: Change
) -> None:
    done = cyclescope("board", changed_board("&ddr { /delete-property/ cyclescope,sources; };"))
    assert done.status == 0
    (warning,) = done.stderr.splitlines()
    said = r"cyclescope: warning: \S+\.dts:\d+: ddr: cyclescope,[\w-]+ and 2 more: no source in "
    assert re.match(said, warning)
    assert "unstated" in done.stdout
    # the command that it names lists them
    (command,) = re.findall(r"`cyclescope (board \S+ --class unstated)`", warning)
    listed = cyclescope(*command.split()).stdout
    assert listed.count("│ ddr") == listed.count("unstated") == 3


def test_a_source_may_stand_for_all_of_a_node(cyclescope: Command, changed_board: Change) -> None:
    beat = "cyclescope,beat-cycles: assumed 1 to 2: read off"
    source = f'"*: assumed: a first guess", "{beat}"'
    board = changed_board(f"&ddr {{ cyclescope,sources = {source}; }};")
    done = cyclescope("board", board)
    assert (done.status, done.stderr) == (0, "")
    found = {
        one.property_name: one for one in package.Board(board).parameters if one.label == "ddr"
    }
    assert found["cyclescope,beat-cycles"].source == "read off"
    others = [one for name, one in found.items() if name != "cyclescope,beat-cycles"]
    assert {(one.basis, one.source) for one in others} == {(ASSUMED, "a first guess")}


def test_shipped_boards_have_a_source_for_each_value() -> None:
    for path in sorted((ROOT / "boards").glob("*.dts*")):
        assert '"*' not in path.read_text(encoding="utf-8"), path


def test_a_value_that_its_source_calls_implausible_is_reported(
    cyclescope: Command, changed_board: Change
) -> None:
    source = "cyclescope,beat-cycles: assumed 2 to 4: a guess"
    board = changed_board(f'&bram {{ cyclescope,sources = "{source}"; }};')
    done = cyclescope("board", board)
    assert done.status == 0
    assert "bram: cyclescope,beat-cycles: outside the plausible range" in done.stderr


@pytest.mark.parametrize("name", BAD)
def test_a_bad_board_is_refused_with_its_place(
    cyclescope: Command, changed_board: Change, name: str
) -> None:
    source, said = BAD[name]
    done = cyclescope("board", changed_board(source))
    assert done.status == Status.USAGE
    assert done.stdout == ""
    for text in said:
        assert text in done.stderr
    assert ".dts:" in done.error


def test_a_flash_may_be_known_by_its_part_alone(changed_board: Change) -> None:
    shipped = package.Board(BOARD)
    board = package.Board(changed_board('&flash0 { compatible = "micron,n25q128a13"; };'))
    assert [str(one.value) for one in board.parameters] == [one.value for one in shipped.parameters]


def test_all_faults_are_reported_at_once(cyclescope: Command, changed_board: Change) -> None:
    source = '&spi0 { xlnx,fifo-depth = <32>; };\n&uart0 { compatible = "acme,uart"; };'
    done = cyclescope("board", changed_board(source))
    assert done.status == Status.USAGE
    assert "fifo-depth" in done.stderr
    assert "acme,uart" in done.stderr


def test_an_unchanged_include_of_the_shipped_board_is_sound(
    cyclescope: Command, changed_board: Change
) -> None:
    assert cyclescope("board", changed_board("")).status == 0


def test_an_override_that_the_board_refuses_names_the_option(cyclescope: Command) -> None:
    done = cyclescope("board", BOARD, "--set", "spi0.xlnx,fifo-depth=32")
    assert done.status == Status.USAGE
    assert "--set" in done.error
    assert "fifo-depth" in done.error


def test_an_overridden_parameter_says_so(cyclescope: Command) -> None:
    parameter = next(p for p in package.Board(BOARD).parameters if p.label == "ddr")
    path = f"ddr.{parameter.property_name}"
    changed = package.Board(BOARD, overrides={path: 77}).parameters
    (override,) = [
        p for p in changed if p.label == "ddr" and p.property_name == parameter.property_name
    ]
    assert override.value == "77"
    assert override.basis == "override"
    assert "--set" in override.source


@pytest.mark.parametrize("name", ["kc705", "no-such-board", ""])
def test_an_unknown_board_is_refused_with_near_matches(cyclescope: Command, name: str) -> None:
    done = cyclescope("board", name)
    assert done.status == Status.USAGE
    assert BOARD in done.error


def test_a_board_file_that_is_not_there_is_named(cyclescope: Command) -> None:
    done = cyclescope("board", "./mine.dts")
    assert done.status == Status.USAGE
    assert "mine.dts" in done.error
