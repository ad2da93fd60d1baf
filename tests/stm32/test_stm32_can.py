"""bxCAN of STM32s, by a program: looped back, alone, beside a script's node, two on a bus."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from waveforms import NEEDS_SIGROK, annotations, only_scope, without_pauses

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.can import (
    CanNode,
    ExpectFrame,
    Frame,
    SendFrame,
    parse_can_script,
    parse_frame,
)
from cyclescope.board.results import RunResult
from cyclescope.board.scripts import At, End, Wait
from cyclescope.cli.options.can import read_nodes
from cyclescope.errors import UsageError

BOARD = "stm32f4-disco"
JOINED = """
&can2 {
    cyclescope,can-bus = <&canbus1>;
};
"""


@pytest.fixture(scope="module")
def elf() -> Path:
    source = ROOT / "tests" / "firmware" / "stm32" / "can.c"
    return firmware.build(firmware.board_recipe("can", BOARD, [source]))


def lines_of(result: RunResult) -> dict[str, str]:
    assert (result.exit_code, result.notes) == (0, ()), (result.console, result.notes)
    return dict(line.split(": ", 1) for line in result.console.splitlines())


def test_alone_on_the_bus_nobody_acknowledges(elf: Path) -> None:
    result = package.Board(BOARD).load(elf).run("1s")
    said = lines_of(result)
    joined, sent = map(int, re.findall(r"in (\d+)", said["loop back"]))
    # 11 bits of 32 cycles, and some instructions.
    assert 11 * 32 <= joined <= 11 * 32 + 60
    # 44 + 64 bits and 3 of stuff, 7 of the end among them: 2 us each.
    assert 105 * 32 <= sent <= 125 * 32
    assert said["loop back"].endswith("status 3")
    assert said["looped"] == "123 8 4030201 8070605"
    # RQCP and TERR; the acknowledge is missing, and 8 errors are counted.
    assert said["once"] == "status 9, errors 80030"
    # 128 errors, passive; no second node heard of it.
    assert said["again"] == "status 8, errors 800033"
    assert result.counters["can1.frames_sent"] == 1
    assert result.counters["canbus1.errors"] > 80


def test_a_node_acknowledges_and_its_frames_come(elf: Path, tmp_path: Path) -> None:
    steps = [ExpectFrame(Frame(0x124), any_data=True), SendFrame(Frame(0x321, b"\x0a\x0b"))]
    steps += [ExpectFrame(Frame(0x125, bytes([3, 0, 0, 0, 4, 0, 0, 0])))]
    board = package.Board(BOARD).load(elf)
    vcd = tmp_path / "can.vcd"
    node = CanNode(steps, log=True, bits_per_second=500_000)
    result = board.run("1s", can={"can1": node}, waves=vcd)
    said = lines_of(result)
    assert said["once"] == "status 3, errors 0"
    assert said["again"] == "status 3, errors 0"
    assert said["first"] == "321 2 b0a 0"
    lines = [line.split(" ") for line in result.streams["can1"].splitlines()]
    assert [frame for _, _, frame in lines] == [
        "124#0100000002000000",
        "321#0A0B",
        "125#0300000004000000",
    ]
    assert re.fullmatch(r"\(0000000000\.\d{6}\)", lines[0][0])
    # the waveform has the same frames, as another program reads them
    text = only_scope(vcd.read_text(), "can1")
    assert {"tx", "rx"} <= set(text.split())


@NEEDS_SIGROK
def test_sigrok_reads_the_frames(elf: Path, tmp_path: Path) -> None:
    vcd = tmp_path / "can.vcd"
    package.Board(BOARD).load(elf).run("1s", can={"can1": CanNode()}, waves=vcd)
    alone = tmp_path / "alone.vcd"
    alone.write_text(without_pauses(only_scope(vcd.read_text(), "can1")))
    decoder = "can:can_rx=rx:nominal_bitrate=500000"
    said = " ".join(annotations(alone, decoder, "can", step_ps=100_000))
    assert all(part in said for part in ("292 (0x124)", "293 (0x125)", "ACK")), said
    assert "NACK" not in said, said


def test_an_stm32l4r5_has_one_of_them() -> None:
    board = "nucleo-l4r5zi"
    source = ROOT / "tests" / "firmware" / "stm32" / "can.c"
    elf = firmware.build(firmware.board_recipe("can", board, [source], {"STM32L4": "1"}))
    loaded = package.Board(board).load(elf)
    assert lines_of(loaded.run("1s"))["again"] == "status 8, errors 800033"
    node = CanNode([SendFrame(Frame(0x7, b"\x05"))], bits_per_second=500_000)
    said = lines_of(loaded.run("1s", can={"can1": node}))
    assert (said["once"], said["first"]) == ("status 3, errors 0", "7 1 5 0")


@pytest.mark.parametrize("signal", ["TX", "RX"])
@pytest.mark.parametrize("board", [BOARD, "nucleo-l4r5zi"])
def test_without_a_pin_it_is_bus_off(board: str, signal: str) -> None:
    source = ROOT / "tests" / "firmware" / "stm32" / "can.c"
    values = {f"WITHOUT_{signal}": "1"} | ({} if board == BOARD else {"STM32L4": "1"})
    elf = firmware.build(firmware.board_recipe("can", board, [source], values))
    node = CanNode(log=True, bits_per_second=500_000)
    result = package.Board(board).load(elf).run("1s", can={"can1": node})
    said = dict(line.split(": ", 1) for line in result.console.splitlines())
    # Loop back needs no pins.
    assert said["looped"] == "123 8 4030201 8070605"
    assert said["once"].startswith("status 9, errors ")
    # A dominant bit that was recessive (5), error-passive and bus-off (7): TEC is beyond 255.
    assert said["again"] == "status 8, errors 57"
    # 16 errors in a row, then 16 frames with an error each; the last 15 frames follow a request.
    assert result.counters["canbus1.errors"] == 32
    assert result.counters["can1.frames_sent"] == 1
    assert result.streams.get("can1", "") == ""
    (note,) = result.notes
    assert note.startswith(f"can1: no pin carries its {signal}: a frame is begun, but "), note
    assert "its start is a bit error (CAN_ESR.LEC)" in note
    assert f"PD{int(signal == 'TX')} (alternate function 9; now an" in note


def test_another_rate_destroys_the_frames(elf: Path) -> None:
    result = (
        package.Board(BOARD)
        .load(elf)
        .run("1s", can={"can1": CanNode(bits_per_second=250_000, log=True)})
    )
    said = lines_of(result)
    assert said["once"].startswith("status 9")
    assert result.streams.get("can1", "") == ""


def test_two_controllers_share_a_bus(elf: Path, changed_board: Callable[..., Path]) -> None:
    result = package.Board(changed_board(JOINED, BOARD)).load(elf).run("1s")
    said = lines_of(result)
    # the second one acknowledges only once it is there
    assert said["once"] == "status 9, errors 80030"
    assert said["again"].startswith("status 3")
    assert said["second"] == "125 8 3 4"


def test_a_script_that_fails_and_a_bus_that_is_not_there(elf: Path) -> None:
    board = package.Board(BOARD).load(elf)
    node = parse_can_script("expect 7FF within 1ms\n", "p.txt")
    result = board.run("1s", can={"can1": node})
    assert result.outcome == "script"
    assert str(result.message).startswith("p.txt:1: 7FF did not come within 1.000 ms")
    result = board.run("1s", can={"can1": parse_can_script("expect 7FF", "p.txt")})
    assert (result.outcome, "the firmware has ended" in str(result.message)) == ("script", True)
    assert "takes the firmware's, 500000 bit/s" in result.notes[0]
    with pytest.raises(UsageError, match="no CAN controller 'can3': the board's are can1, can2"):
        board.run("1s", can={"can3": CanNode()})
    with pytest.raises(UsageError, match="are on the same CAN bus"):
        board.run("1s", can={"can1": CanNode(), "canbus1": CanNode()})


def test_options_are_nodes_and_logs(tmp_path: Path) -> None:
    file = tmp_path / "p.txt"
    file.write_text("bitrate 125000\n1FFFFFFF#\n")
    values = ("can1=ack:250000", "can2=log:out.log", f"can3={file}", "can3=log", "can4=ack")
    nodes, files = read_nodes(values)
    assert files == {"can2": "out.log"}
    assert nodes["can1"] == CanNode(bits_per_second=250_000)
    assert nodes["can2"] == CanNode(None, log=True)
    assert (nodes["can3"].log, nodes["can3"].bits_per_second) == (True, 125_000)
    assert nodes["can3"].steps == [SendFrame(Frame(0x1FFFFFFF, extended=True))]
    for value in ("can1", "can1=", "=ack", "can1=ack:fast"):
        with pytest.raises(UsageError, match="--can "):
            read_nodes([value])
    with pytest.raises(UsageError, match="can1 already has a node"):
        read_nodes(["can1=ack", "can1=ack"])


def test_all_that_a_file_can_say() -> None:
    text = """
    bitrate 125000   # of the node
    expect 123#0102 within 20ms
    expect 124
    send 321#DEADBEEF
    (0000000001.250000) can0 12345678#R4
    (0000000002.000000) can0 001#11.22 R
    wait 5ms
    at 3s end 4
    #comment"""
    node = parse_can_script(text)
    assert node.bits_per_second == 125_000
    assert node.steps == [
        ExpectFrame(Frame(0x123, b"\x01\x02"), 20 * 10**9),
        ExpectFrame(Frame(0x124), any_data=True),
        SendFrame(Frame(0x321, b"\xde\xad\xbe\xef")),
        At(1_250_000_000_000),
        SendFrame(Frame(0x12345678, b"", True, True, 4)),
        At(2_000_000_000_000),
        SendFrame(Frame(1, b"\x11\x22")),
        Wait(5 * 10**9),
        At(3 * 10**12),
        End(4),
    ]
    assert [item[0] for item in node.items() or []][:2] == ["script:3", "script:4"]
    assert parse_frame("123#1122334455667788_9")[0].length == 9


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("123", "a frame without data is 123#"),
        ("800#", "an identifier of 3 digits has 11 bits, 7FF at most"),
        ("20000000#", "29 bits, 1FFFFFFF at most"),
        ("123##1AA", "CAN FD is not modelled"),
        ("123#012", "up to 8 bytes follow #"),
        ("bitrate 5", "expected a bit rate of 10000 to 1000000 bit/s"),
        ("expect 123 by 5ms", "expected FRAME, expect FRAME"),
        ("(0.5) can0 123#", "expected FRAME"),
    ],
)
def test_an_unknown_step_is_reported(line: str, why: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_can_script(f"\n{line}\n", "f.txt")
    assert str(error.value).startswith("f.txt:2: ")
    assert why in str(error.value)
    assert "\n" not in str(error.value)
