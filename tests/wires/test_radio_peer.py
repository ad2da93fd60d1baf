"""The transceiver and its peer on the air: what drivers read from and write to the frame buffer."""

from __future__ import annotations

from pathlib import Path

import pytest
from ben_nanonote import BOARD
from tiers import mostly_long
from waveforms import sampled

import cyclescope as package
from cyclescope import firmware
from cyclescope.board.results import RunResult, Value

PINS = ["spi-gpio", "spi-gpio-atben", "spi-jz4740-gpio", "spi_atben"]
CONTROLLER = "spi-jz4740-ssi"
BUSES = {**dict.fromkeys(PINS, "atben"), CONTROLLER: "ssi"}
# Commands of the frame buffer, and the best link quality.
READ_FRAME, WRITE_FRAME, LQI = 0x20, 0x60, 0xFF
FRAME_BYTE = 0x33
# A frame that comes in: preamble, SFD and PHR, 6 bytes, and its own at 250 kbit/s.
BYTE_US, BEFORE_BYTES = 32, 6
# The report's rates.
RARELY_US, OFTEN_US = 7168, 4928


def board_of(stack: str) -> str:
    return "ben-nanonote-ssi" if stack == CONTROLLER else BOARD


def run(
    stack: str, lengths: list[int], interval_us: int, vcd: Path | None = None, **settings: Value
) -> RunResult:
    elf = firmware.build_app("bitbang_spi", board_of(stack), {"stack": stack} | settings)
    air: dict[str, int | list[int]] = {
        "transceiver.cyclescope,air-frame-bytes": lengths,
        "transceiver.cyclescope,air-interval-us": interval_us,
    }
    board = package.Board(board_of(stack), air)
    return board.load(elf).run("10s", vcd=vcd)


def counter(result: RunResult, name: str) -> int:
    (count,) = (
        count for path, count in result.counters.items() if path.endswith(f".transceiver.{name}")
    )
    return count


def check_sequence(payload: bytes) -> bytes:
    """IEEE 802.15.4-2006, 7.2.1.9: x^16 + x^12 + x^5 + 1, low bits first."""
    remainder = 0
    for bit in (byte >> place & 1 for byte in payload for place in range(8)):
        out = remainder & 1 ^ bit
        remainder = remainder >> 1 ^ (0x8408 if out else 0)
    return remainder.to_bytes(2, "little")


def peers_frame(number: int, length: int) -> bytes:
    """The peer counts from its frame's number on, and ends with the check sequence."""
    if length < 3:
        return bytes((number + index) % 256 for index in range(length))
    payload = bytes((number + index) % 256 for index in range(length - 2))
    return payload + check_sequence(payload)


def test_the_check_sequence_is_the_standards() -> None:
    # the example of 7.2.1.9: an acknowledgement
    assert check_sequence(bytes([0x02, 0x00, 0x6A])) == bytes([0xE4, 0x79])


def frames_read(vcd: Path, bus: str) -> list[bytes]:
    """The results of frame buffer reads. The first byte of each is the frame's length."""
    command = bytes([READ_FRAME])
    frames = sampled(vcd.read_text(), bus)
    return [frame.miso[1:] for frame in frames if frame.mosi[:1] == command]


def whole(number: int, length: int) -> bytes:
    """The expected read of the peer's frame: its length, the frame, the link's quality."""
    return bytes([length]) + peers_frame(number, length) + bytes([LQI])


@pytest.mark.parametrize("stack", mostly_long(BUSES, {"spi-gpio", CONTROLLER}))
def test_the_frames_read_are_the_peers_frames(stack: str, tmp_path: Path) -> None:
    lengths = [5, 127, 1, 60]
    vcd = tmp_path / "out.vcd"
    result = run(stack, lengths, RARELY_US, vcd, operation="reception", frames=3)
    assert (result.exit_code, result.notes) == (0, ())
    frames = [whole(number, length) for number, length in enumerate(lengths)]
    # the length alone, then all of it
    wanted = [read for frame in frames for read in (frame[:1], frame)]
    assert frames_read(vcd, BUSES[stack]) == wanted
    assert counter(result, "frames_received") == len(lengths)
    assert counter(result, "bytes_received") == sum(lengths)


@pytest.mark.parametrize("stack", mostly_long(BUSES, {"spi_atben", CONTROLLER}))
def test_the_bytes_sent_are_the_bytes_written(stack: str, tmp_path: Path) -> None:
    lengths = [1, 1, 120, 125]
    vcd = tmp_path / "out.vcd"
    result = run(stack, [5], OFTEN_US, vcd, operation="transmission", frames=3)
    assert result.exit_code == 0
    writes = [
        frame.mosi[1:]
        for frame in sampled(vcd.read_text(), BUSES[stack])
        if frame.mosi[:1] == bytes([WRITE_FRAME])
    ]
    # the length includes the check sequence, which the transceiver appends
    assert writes == [bytes([length + 2] + [FRAME_BYTE] * length) for length in lengths]
    assert counter(result, "frames_sent") == len(lengths)
    assert counter(result, "frames_sent_invalid") == 0
    assert counter(result, "bytes_sent") == sum(length + 2 for length in lengths)
    # meanwhile the receiver is off, or set not to receive: the peer's frames are lost
    assert counter(result, "frames_missed") > 0
    assert counter(result, "frames_received") == 0
    assert not [note for note in result.notes if "TRX_UR" in note]


def test_a_peer_that_nobody_listens_to_waits() -> None:
    result = run("spi_atben", [5], 1000, operation="access", loops=1)
    assert (result.exit_code, result.notes) == (0, ())
    assert counter(result, "frames_received") == counter(result, "frames_missed") == 0


def test_a_slow_driver_still_reads_a_frame_when_the_next_one_comes() -> None:
    slow, fast = (
        run(stack, [127], OFTEN_US, operation="reception", frames=4)
        for stack in ("spi-gpio", "spi-jz4740-gpio")
    )
    assert any("TRX_UR: the frame buffer was read ahead" in note for note in slow.notes)
    # the read is ahead of the reception: the frame is complete
    assert slow.exit_code == 0
    assert (fast.exit_code, fast.notes) == (0, ())


@pytest.mark.parametrize(("stack", "is_whole"), [("spi-gpio", False), ("spi-jz4740-gpio", True)])
def test_a_short_frame_spoils_what_is_still_read(
    stack: str, is_whole: bool, tmp_path: Path
) -> None:
    vcd = tmp_path / "out.vcd"
    run(stack, [127, 1], OFTEN_US, vcd, operation="reception", frames=2)
    first, second, *_ = (read for read in frames_read(vcd, BUSES[stack]) if len(read) > 1)
    assert (first == whole(0, 127)) == is_whole
    # bytes read before the next frame came are right
    assert first[:40] == whole(0, 127)[:40]
    assert second == whole(1, 1)


def test_a_frame_that_is_not_read_yet_is_not_overwritten(tmp_path: Path) -> None:
    length, frames, vcd = 5, 4, tmp_path / "out.vcd"
    # back to back: each begins as the one before ends
    result = run(
        "spi_atben",
        [length],
        BYTE_US * (BEFORE_BYTES + length),
        vcd,
        operation="reception",
        frames=frames,
    )
    assert result.exit_code == 0
    numbers = [read[1] for read in frames_read(vcd, "atben") if len(read) > 1]
    # every other one finds the buffer taken
    assert numbers[: frames + 1] == list(range(0, 2 * frames + 1, 2))
    assert counter(result, "frames_missed") >= frames


def test_frames_come_at_the_peers_rate() -> None:
    result = run("spi_atben", [20], RARELY_US, operation="reception", frames=3)
    (period,) = (metric.value for metric in result.metrics if metric.name == "period")
    assert period == pytest.approx(RARELY_US, rel=0.001)
