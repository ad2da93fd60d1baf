"""The SD driver's frames, CRCs and ends of transfers, against a card in software."""

from __future__ import annotations

from conftest import ROOT, Command

from cyclescope import firmware
from cyclescope.experiments.fat_write import BOARD

# CRC16: of "123456789", the check value of CRC-16/XMODEM; and of 512 bytes of FFh, which the SD
# specification gives (4.5). A command is its index and the last byte of its frame, CRC7 and stop
# bit: 95h of CMD0 and 87h of CMD8 are known to every driver. SD cards that refuse a block are to
# be stopped by CMD12 (7.3.3.1), others get the token FDh.
SAID = """\
CRC16 31c3 7fa1
SDHC: 0:95 8:87 55:65 41:77 58:fd 59:83 = ok
write, second block refused: 55:65 23:67 25:4b fc fc 12:61 = CRC error
write: 55:65 23:0b 25:4b fc fc fd = ok
read block 2^23: 17:df = timed out waiting for data
SDSC: 0:95 8:87 55:65 41:77 58:fd 59:83 16:15 = ok
write, second block refused: 55:65 23:67 25:b3 fc fc 12:61 = CRC error
write: 55:65 23:0b 25:b3 fc fc fd = ok
read block 2^23: = no such block
MMC: 0:95 8:87 55:65 41:e5 1:f9 59:83 16:15 = ok
write, second block refused: 25:b3 fc fc fd = CRC error
write: 25:b3 fc fc fd = ok
read block 2^23: = no such block
all bytes 00: = no card
up first: 0:95 8:87 55:65 41:77 58:fd = ok
read = timed out waiting for ready
write = timed out waiting for ready
all bytes ff: = no card
up first: 0:95 8:87 55:65 41:77 58:fd = ok
read = no answer
write = no answer
"""


def test_the_driver_speaks_to_a_card_as_the_specification_has_it(cyclescope: Command) -> None:
    app = firmware.App(
        name="sd_driver",
        include=(),
        sources=(
            str(ROOT / "tests" / "firmware" / "sd_driver.c"),
            "drivers/sd_card.c",
            "drivers/sd_spi.c",
            "runtime/string.c",
        ),
        settings={},
        crates=(),
    )
    elf = firmware.build(firmware.app_recipe(app, BOARD, {}))
    done = cyclescope("run", elf, "--board", BOARD)
    assert done.status == 0, done.stderr
    assert done.stdout.startswith(SAID)
