"""The apps of cards with other cards than theirs: none, unformatted, write-protected, SDHC."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tiers

from cyclescope import Board, disks, firmware
from cyclescope.board.results import RunResult, Value
from cyclescope.disks import Disk, Extent
from cyclescope.experiments import fat_write
from cyclescope.experiments.fat_write import BOARD

ChangedBoard = Callable[[str, str], Path]

FILE_BYTES = 16384
# Each app in as little time as may be.
APPS: dict[str, dict[str, Value]] = {
    "fat_write": {"transfer": "512", "file_bytes": FILE_BYTES, "gap_s": 0, "files": "each"},
    "fat_access": {"file_bytes": 65536, "calls": 1},
    "card_probe": {},
}
CARDS = {"mmc": "card0", "spi": "card1"}
# As small as FAT16 may be; in the whole tier as fat-write's.
FRESH = Disk(136 * 2**20) if tiers.ALL else Disk(18 * 2**20, sectors_per_cluster=8)
SDHC = Disk(4 * 2**30, fat_bits=32, sectors_per_cluster=8)

both_ports = pytest.mark.parametrize("port", CARDS)
# In the short tier each app has the MultiMedia card's port, and one the other: the apps share the
# drivers.
SHORT = {*((app, "mmc") for app in APPS), ("fat_write", "spi")}
every_app = pytest.mark.parametrize(
    ("app", "port"),
    [
        pytest.param(app, port, marks=() if (app, port) in SHORT else pytest.mark.long)
        for app in APPS
        for port in CARDS
    ],
)


def run(
    app: str, port: str, board: Path | str, image: Path | str = "", **settings: Value
) -> RunResult:
    elf = firmware.build_app(app, BOARD, APPS[app] | {"port": port} | settings)
    overrides = {f"{CARDS[port]}.cyclescope,image": str(image)} if image else {}
    return Board(board, overrides).load(elf).run("100s")


def assert_fails(result: RunResult, message: str) -> None:
    assert (result.outcome, result.exit_code) == ("exit", 1)
    last_line = result.console.strip().splitlines()[-1]
    assert last_line.endswith(message)


@every_app
def test_without_a_card_an_app_says_so(app: str, port: str, changed_board: ChangedBoard) -> None:
    board = changed_board(f"/delete-node/ &{CARDS[port]};", BOARD)
    assert_fails(run(app, port, board), "f_mount card: FR_NOT_READY (3); card: no card")


@every_app
def test_a_card_without_a_volume_is_distinguished_from_no_card(app: str, port: str) -> None:
    assert_fails(run(app, port, BOARD), "f_mount card: FR_NO_FILESYSTEM (13)")


@every_app
def test_a_write_protected_card_stays_as_it_is(
    app: str, port: str, changed_board: ChangedBoard
) -> None:
    board = changed_board(f"&{CARDS[port]} {{ cyclescope,write-protect; }};", BOARD)
    # the plain SPI core's slot has no switch: the first write shows it
    message = {"mmc": "FR_WRITE_PROTECTED (10)", "spi": "; card: write error"}[port]
    master = disks.image(FRESH)
    with disks.copy_of(master) as image:
        assert_fails(run(app, port, board, image), message)
        assert image.read_bytes() == master.read_bytes()


# The others take longer; what they do to a card they do by the same driver.
@pytest.mark.parametrize("app", tiers.mostly_long(APPS, ["fat_write"]))
@both_ports
def test_high_capacity_cards_with_fat32_are_used_the_same_way(app: str, port: str) -> None:
    with disks.copy_of(disks.image(SDHC)) as image:
        result = run(app, port, BOARD, image)
        assert (result.outcome, result.exit_code) == ("exit", 0)
        disks.check(image)
        if app == "fat_write":
            disks.compare(image, {"W512.BIN": fat_write.buffer(FILE_BYTES)})


@pytest.mark.parametrize("port", tiers.mostly_long(CARDS, ["spi"]))
def test_crcs_may_be_checked_on_either_port(port: str) -> None:
    with disks.copy_of(disks.image(SDHC)) as image:
        result = run("fat_write", port, BOARD, image, crc="on", transfer="4096")
        assert (result.outcome, result.exit_code) == ("exit", 0)
        disks.check(image)
        disks.compare(image, {"W4096.BIN": fat_write.buffer(FILE_BYTES)})


def test_the_probe_leaves_a_fragmented_card_alone() -> None:
    # free clusters in pieces of 480 blocks, fewer than the probes write
    pieces = (Extent(1, 60),) * 48
    disk = Disk(12 * 2**20, fat_bits=12, sectors_per_cluster=8, extents=pieces)
    with disks.copy_of(disks.image(disk)) as image:
        assert_fails(run("card_probe", "mmc", BOARD, image), "PROBE.BIN: FR_DENIED (7)")
        disks.check(image)
        used = disks.read_file(image, "USED000.BIN")
        assert used == bytes(disk.cluster_bytes)
