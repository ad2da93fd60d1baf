"""The order of FatFs R0.06 under the FatFs that is built, in firmware with a disk in memory."""

from pathlib import Path

from conftest import BOARD, ROOT, Command

from cyclescope import firmware

# What the flash sees of a file: R0.06 writes whole sectors before the older part of one that waits
# in the file's buffer. After the bar: what only closing the file writes.
ORDERS = """\
r006 64: 0 1 2 3 4 5 6 | 7
current 64: 0 1 2 3 4 5 6 | 7
r006 256: 0 1 2 3 4 5 6 | 7
current 256: 0 1 2 3 4 5 6 | 7
r006 512: 0 1 2 3 4 5 6 7 |
current 512: 0 1 2 3 4 5 6 7 |
r006 768: 0 2 3 1 5 6 4 8 | 7
current 768: 0 1 2 3 4 5 6 7 8 |
r006 1024: 0+1 2+1 4+1 6+1 |
current 1024: 0+1 2+1 4+1 6+1 |
r006 1280: 0+1 3+1 5+1 2 8+1 | 7
current 1280: 0+1 2 3+1 5+1 7 8+1 |
r006 1636: 0+2 4+1 3 7 8 6 | 9
current 1636: 0+2 3 4+1 6 7 8 | 9
r006 2048: 0+3 4+3 |
current 2048: 0+3 4+3 |
r006 1000: 0 2 1 4 3 6 5 8 7 | 9
current 1000: 0 1 2 3 4 5 6 7 8 | 9
"""


def write_order_program() -> Path:
    app = firmware.App(
        name="write_order",
        include=("drivers/fatfs", "{fatfs-embedded}/fatfs/source"),
        sources=(
            str(ROOT / "tests" / "firmware" / "write_order.c"),
            "drivers/fatfs/fatfs.c",
            "drivers/fatfs/write_order.c",
            "runtime/string.c",
        ),
        settings={},
        crates=("fatfs-embedded",),
    )
    return firmware.build(firmware.app_recipe(app, BOARD, {}))


def test_sectors_are_written_in_the_chosen_order_and_none_is_lost(cyclescope: Command) -> None:
    done = cyclescope("run", write_order_program(), "--board", BOARD)
    assert done.status == 0, done.stderr
    assert done.stdout.startswith(ORDERS)
