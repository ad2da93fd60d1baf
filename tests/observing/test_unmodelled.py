"""Start-up code meets peripherals without a model: it reaches main, and a table lists them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
import vendor
from conftest import Command

import cyclescope as package
from cyclescope.board.observing.unmodelled import UnmodelledRegister
from cyclescope.statuses import Status

NOTHING_CONVERTED = "main: no conversion\n"
M4_BOARD = "stm32mp157c-dk2"
CLOCK = "perhaps: clocks or wait states, by its name"
ADC_WAIT = "yes: 100 loads in a row, a wait"

# Register, address, loads, stores, function and line of the first access, what it means for time.
Row = tuple[str, int, int, int, str, str]
SAMA5D2: list[Row] = [
    ("adc+0x0", 0xFC030000, 0, 2, "sama5d2.c:38", "no"),
    ("adc+0x4", 0xFC030004, 0, 1, "sama5d2.c:39", "no"),
    ("adc+0x10", 0xFC030010, 0, 1, "sama5d2.c:40", "no"),
    ("adc+0x20", 0xFC030020, 1, 0, "sama5d2.c:44", "no"),
    ("adc+0x30", 0xFC030030, 100, 0, "sama5d2.c:42", ADC_WAIT),
    ("pioBU+0x0", 0xFC040000, 0, 1, "sama5d2.c:55", "no"),
]
STM32MP157: list[Row] = [
    ("adc+0x0", 0x48003000, 100, 0, "stm32mp157_m4.c:45", ADC_WAIT),
    ("adc+0x8", 0x48003008, 2, 2, "stm32mp157_m4.c:44", "no"),
    ("adc+0x40", 0x48003040, 1, 0, "stm32mp157_m4.c:48", "no"),
    ("hdp+0x0", 0x5002A000, 0, 3, "stm32mp157_m4.c:30", "no"),
    ("hdp+0x4", 0x5002A004, 0, 1, "stm32mp157_m4.c:32", "no"),
    ("hdp+0x10", 0x5002A010, 1, 0, "stm32mp157_m4.c:33", "no"),
]
# With the ready bits as ones: two loads of CR before each is set, and as many in the waits.
ACME: list[Row] = [
    ("IWDG.KR", 0x40003000, 0, 1, "acme.c:52", "no"),
    ("ADC.SR", 0x40012000, 100, 0, "acme.c:38", ADC_WAIT),
    ("ADC.CR2", 0x40012008, 1, 2, "acme.c:36", "no"),
    ("ADC.DR", 0x4001204C, 1, 0, "acme.c:40", "no"),
    ("OSC.TRIM", 0x40014001, 1, 1, "acme.c:53", CLOCK),
    ("GPIOA.MODER", 0x40020000, 1, 1, "acme.c:50", "no"),
    ("GPIOA.BSRR", 0x40020018, 0, 1, "acme.c:51", "no"),
    ("RCC.CR", 0x40023800, 4, 2, "acme.c:22", CLOCK),
    ("RCC.CFGR", 0x40023808, 1, 1, "acme.c:29", CLOCK),
    ("RCC.AHB1ENR", 0x40023830, 1, 1, "acme.c:32", CLOCK),
    ("FLASH.ACR", 0x40023C00, 0, 1, "acme.c:28", CLOCK),
]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("vendor")
    return {name: vendor.built(name, folder) for name in ("sama5d2", "stm32mp157_m4", "acme")}


def row(register: UnmodelledRegister) -> Row:
    place = register.places[0].rpartition("/")[2].rstrip(")")
    counts = register.reads, register.writes
    return register.full_name, register.address, *counts, place, register.effect_on_time


@pytest.mark.parametrize(
    ("board", "program", "expected"),
    [("sama5d2-xplained", "sama5d2", SAMA5D2), (M4_BOARD, "stm32mp157_m4", STM32MP157)],
)
def test_start_up_code_gets_to_main_and_the_table_is_right(
    programs: dict[str, Path], board: str, program: str, expected: list[Row]
) -> None:
    done = package.Board(board, unmapped="warn").load(programs[program]).run("1s")
    assert (done.outcome, done.exit_code, done.console) == ("exit", 0, NOTHING_CONVERTED)
    assert [row(one) for one in done.unmodelled] == expected
    notes = [note for note in done.notes if "it has no model" in note]
    assert [note.partition(":")[0] for note in notes] == list(
        dict.fromkeys(one.device for one in done.unmodelled)
    )


def chip_board(cyclescope: Command, folder: Path) -> Path:
    """The board that is made of the chip's file."""
    memories = ["--memory", "flash=0x8000000:512Ki", "--memory", "ram=0x20000000:128Ki"]
    made = cyclescope("new-board", vendor.SVD, "--clock", "168M", *memories)
    assert made.status == 0, made.stderr
    board = folder / "acme.dts"
    board.write_text(made.stdout)
    return board


def with_ready_bits(source: str) -> str:
    """The chip's board, in which what the firmware waits for is ready."""
    ready = {"CR 0x0 reset 0x83": "ones 0x02020000", "CFGR 0x8": "ones 0x8"}
    for register, ones in ready.items():
        assert f'"{register}"' in source
        source = source.replace(f'"{register}"', f'"{register} {ones}"')
    return source


def test_a_board_from_an_svd_runs_start_up_code(
    programs: dict[str, Path], cyclescope: Command, tmp_path: Path
) -> None:
    board = chip_board(cyclescope, tmp_path)
    waiting = cyclescope("run", programs["acme"], "--board", board, "--limit", "1ms")
    assert waiting.status != 0
    assert "RCC.CR: 33598 loads in a row returned the same value" in waiting.stderr
    assert "acme.c:23" in waiting.stderr

    board.write_text(with_ready_bits(board.read_text()))
    done = package.Board(board).load(programs["acme"]).run("1s")
    assert (done.outcome, done.exit_code, done.console) == ("exit", 0, NOTHING_CONVERTED)
    assert [row(one) for one in done.unmodelled] == ACME


def test_an_svd_file_gives_a_boards_gaps_names_and_resets() -> None:
    """A program by hand: KR is written, and the exit status is the low byte of what RLR reads."""
    code = (0x4803, 0x2107, 0x6001, 0x6882, 0x4802, 0x6002, 0xE7FE, 0xBF00)
    vectors = struct.pack("<2I", 0x20001000, 0x41).ljust(0x40, b"\0")
    program = vectors + struct.pack("<8H2I", *code, 0x40003000, 0x40100000)
    board = package.Board("minimal-armv7m", svd=vendor.SVD)
    names = {region["name"] for region in board.describe()["map"]}
    assert {"uart0", "IWDG", "RCC", "GPIOB"} <= names
    done = board.load(program, base=0).run("1ms")
    assert (done.outcome, done.exit_code) == ("exit", 0xFF)
    used = [(one.full_name, one.reads, one.writes, one.places) for one in done.unmodelled]
    assert used == [("IWDG.KR", 0, 1, ("0x00000044",)), ("IWDG.RLR", 1, 0, ("0x00000046",))]


# By hand, at 0x80000000: a load, and a store to the next word, of what no device has; then exit.
BY_HAND = {
    "minimal-rv32": "500002b7 0002a303 0062a223 001003b7 0003a023 0000006f",
    "minimal-armv7a": "e3a00205 e5901000 e5801004 e3a02601 e3a03000 e5823000 eafffffe",
    "minimal-mips32": "3c08b500 8d090000 ad090004 3c0ab010 ad400000 1000ffff 00000000",
}


@pytest.mark.parametrize("board", BY_HAND)
def test_the_instruction_of_an_access_is_its_own_on_each_core(board: str) -> None:
    words = [int(word, 16) for word in BY_HAND[board].split()]
    program = struct.pack(f"<{len(words)}I", *words)
    done = package.Board(board, unmapped="warn").load(program, base=0x80000000).run("1ms")
    assert (done.outcome, done.exit_code) == ("exit", 0)
    used = [(one.reads, one.writes, one.places) for one in done.unmodelled]
    assert used == [(1, 0, ("0x80000004",)), (0, 1, ("0x80000008",))]


def test_the_command_shows_the_table_and_json_has_all_of_it(
    programs: dict[str, Path], cyclescope: Command, tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    done = cyclescope(
        "run",
        programs["stm32mp157_m4"],
        "--board",
        M4_BOARD,
        "--unmapped",
        "warn",
        "--json",
        result,
    )
    assert done.status == 0
    assert "registers without a model" in done.stdout
    line = next(line for line in done.stdout.splitlines() if "hdp+0x0" in line)
    assert line.split()[1:8:2] == ["hdp+0x0", "0x5002a000", "0", "3"]
    rows = json.loads(result.read_text())["unmodelled"]
    first = {key: rows[0][key] for key in ("device", "name", "offset", "address", "reads")}
    assert first == {
        "device": "adc",
        "name": None,
        "offset": 0,
        "address": 0x48003000,
        "reads": 100,
    }
    assert rows[0]["effect_on_time"] == ADC_WAIT


def test_without_the_option_it_is_a_fault_that_names_the_peripheral(
    programs: dict[str, Path], cyclescope: Command
) -> None:
    done = cyclescope("run", programs["stm32mp157_m4"], "--board", M4_BOARD)
    assert done.status != 0
    assert "4-byte store at 0x5002a000: there is no model of hdp" in done.error
    assert done.error.endswith("; --unmapped warn goes on")
    assert "stm32mp157_m4.c:30" in done.stderr


def test_the_results_are_the_same_with_each_loop_run(programs: dict[str, Path]) -> None:
    board = package.Board(M4_BOARD, unmapped="warn").load(programs["stm32mp157_m4"])
    runs = [board.run("1s", skip_polling=skip) for skip in (True, False)]
    assert runs[0] == runs[1]


def test_polls_of_what_has_no_model_are_skipped_and_counted(
    programs: dict[str, Path], cyclescope: Command, tmp_path: Path
) -> None:
    board = chip_board(cyclescope, tmp_path)
    loaded = package.Board(board).load(programs["acme"])
    runs = [loaded.run("5ms", skip_polling=skip) for skip in (True, False)]
    assert runs[0] == runs[1]
    # 168 MHz: five cycles an iteration, of a load, a shift and a branch
    (waited,) = runs[0].unmodelled
    assert waited.most_reads_in_a_row == pytest.approx(168_000 * 5 / 5, abs=10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a CMSIS-SVD file"),
        ("<device>", "not a CMSIS-SVD file"),
        ("<device><name>X</name></device>", "not a CMSIS-SVD file"),
    ],
)
def test_an_invalid_svd_file_is_one_line(
    cyclescope: Command, tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "chip.svd"
    file.write_text(text)
    done = cyclescope("new-board", file, "--clock", "1M", "--memory", "ram=0:4Ki")
    assert (done.status, done.stdout) == (Status.USAGE, "")
    assert message in done.error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--clock", "0", "--memory", "ram=0:4Ki"], "--clock 0: expected a frequency"),
        (["--clock", "1M", "--memory", "ram"], "expected NAME=ADDRESS:SIZE"),
        (["--clock", "1M", "--memory", "ram=0xfffff000:8Ki"], "ends beyond 4 GiB"),
        (["--clock", "1M", "--memory", "a=0:8Ki", "--memory", "b=4096:8Ki"], "a and b overlap"),
    ],
)
def test_a_board_that_can_not_be_made_is_one_line(
    cyclescope: Command, arguments: list[str], message: str
) -> None:
    done = cyclescope("new-board", vendor.SVD, *arguments)
    assert done.status == Status.USAGE
    assert message in done.error


def test_a_stub_says_what_its_registers_may_be(cyclescope: Command, tmp_path: Path) -> None:
    source = Path(package.__file__).parent / "data" / "boards" / "minimal-armv7m.dts"
    board = tmp_path / "board.dts"
    stub = 'wdt@40200000 { compatible = "acme,wdt", "cyclescope,stub"; reg = <0x40200000 0x10>;'
    registers = 'cyclescope,registers = "KR 0x0 wo", "PR"; clocks = <&sys_clk>; };'
    text = source.read_text().replace("exit0:", f"{stub} {registers}\n\n\texit0:")
    board.write_text(text)
    done = cyclescope("board", board)
    assert done.status == Status.USAGE
    assert 'cyclescope,registers is "PR"; it is "NAME OFFSET", then as needed' in done.error
