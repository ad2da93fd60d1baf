"""The messages on the port: the protocol of the report's client (dimtass/stm32mp1-rpmsg-test).

A test is a number of blocks, one `write()` each; the first begins with a header of three
little-endian words of 16 bits: preamble, bytes of all blocks together, CRC. The firmware answers
with the number of received bytes, in 16 bits. It does not check the CRC.

A firmware can be built to check: then the CRC covers all bytes after the header, and the answer has
the CRC of the received bytes after the count.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from cyclescope.bench import published
from cyclescope.errors import UsageError

PREAMBLE = 0xABCD
HEADER = struct.Struct("<HHH")
COUNT = struct.Struct("<H")
CHECKED = struct.Struct("<HH")
MOST_BYTES = 0xFFFF

# the buffer of the report's client: a ramp; block n begins at byte n
_BUFFER_BYTES = 32768
_RAMP = bytes(range(256)) * (_BUFFER_BYTES // 256)
# the offset of the CRC in the buffer: the size of a pointer (4 bytes), less one
_CRC_OFFSET = 3

_POLYNOMIAL = 0x8006
_TABLE = "stm32mp1_rpmsg_tty"
# five digits are enough for MOST_BYTES
_TEST = re.compile(r"0*(\d{1,5})x0*(\d{1,5})")


@dataclass(frozen=True)
class TtyTest:
    """A test: the number of blocks, and the bytes of each."""

    block_bytes: int
    blocks: int

    @property
    def total_bytes(self) -> int:
        """Bytes of all blocks, including the header."""
        return self.block_bytes * self.blocks

    @property
    def published_ns(self) -> int | None:
        """The report's time for the test; None if the report has none."""
        where = {"kind": "tty-test", "block_bytes": self.block_bytes, "blocks": self.blocks}
        time_ns = published.load(_TABLE).find("time_ns", where)
        return None if time_ns is None else int(time_ns)

    def __str__(self) -> str:
        return f"{self.block_bytes}x{self.blocks}"


def report_tests() -> tuple[TtyTest, ...]:
    """The report's tests, in its order."""
    rows = published.load(_TABLE).results
    return tuple(
        TtyTest(row["block_bytes"], row["blocks"]) for row in rows if row["kind"] == "tty-test"
    )


def parse_test(text: str) -> TtyTest:
    """A test as "512x8": bytes of a block, and blocks. Raises `UsageError`."""
    match = _TEST.fullmatch(text)
    test = TtyTest(int(match[1]), int(match[2])) if match else TtyTest(0, 0)
    if test.block_bytes < HEADER.size or not 0 < test.total_bytes <= MOST_BYTES:
        raise UsageError(
            f"test {text!r}: expected block bytes and number of blocks, as in 512x8: at least "
            f"{HEADER.size} bytes a block, at most {MOST_BYTES} together"
        )
    return test


def blocks_of(test: TtyTest, checked: bool = False) -> list[bytes]:
    """The data of each `write()` of a test; `checked` for a firmware that checks the CRC."""
    size = test.block_bytes
    ramp = _RAMP * (1 + (size + test.blocks) // len(_RAMP))
    # the header stays in the buffer; each further block begins one byte later
    header = HEADER.pack(PREAMBLE, test.total_bytes, 0)
    buffer = header + ramp[len(header) :]
    blocks = [buffer[index : index + size] for index in range(test.blocks)]
    if checked:
        crc = crc16(b"".join(blocks)[HEADER.size :])
    else:
        crc = crc16((buffer + ramp)[_CRC_OFFSET : _CRC_OFFSET + test.total_bytes])
    blocks[0] = HEADER.pack(PREAMBLE, test.total_bytes, crc) + blocks[0][HEADER.size :]
    return blocks


def crc16(data: bytes) -> int:
    """The report's CRC: bits from the least significant one, polynomial 0x8006, reflected."""
    crc = 0
    for byte in (*data, 0, 0):
        crc = (crc << 8 & 0xFFFF | _REFLECTED[byte]) ^ _REMAINDERS[crc >> 8]
    return _REFLECTED[crc & 0xFF] << 8 | _REFLECTED[crc >> 8]


def _remainder(byte: int) -> int:
    crc = byte << 8
    for _ in range(8):
        crc = crc << 1 ^ (_POLYNOMIAL | 0x10000 if crc & 0x8000 else 0)
    return crc & 0xFFFF


_REMAINDERS = tuple(map(_remainder, range(256)))
_REFLECTED = tuple(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
