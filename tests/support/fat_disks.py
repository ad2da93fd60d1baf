"""FatFs on a virtual card: a fresh volume, one run on it, and the files that the run leaves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from cyclescope import Board, _engine, disks, firmware
from cyclescope.board.results import RunResult, Value
from cyclescope.disks import SECTOR_BYTES, Disk
from cyclescope.experiments import fat_write
from cyclescope.host import kept

BOARD, APP = fat_write.BOARD, fat_write.APP
# The smallest that is FAT16 with clusters of 64 sectors.
FRESH = Disk(136 * 2**20)
CARD, PORT = "card0", "mmc0"
FILE_BYTES = 16384
# One size, in whole sectors and in order, in as little time as may be.
SHORT: dict[str, Value] = {
    "write_order": "current",
    "transfer": "512",
    "file_bytes": FILE_BYTES,
    "gap_s": 0,
    "files": "each",
}


def put(image: Path, name: str, contents: bytes) -> None:
    """A file in the root directory, written by another program than the firmware's FatFs."""
    _engine.fat_add(image, [(name, contents, 1)])


@dataclass(frozen=True)
class Left:
    """A run, and its volume before and afterwards."""

    result: RunResult
    master: Path
    image: Path

    @property
    def last_line(self) -> str:
        """The last line of the app: on an error, its message."""
        return self.result.console.strip().splitlines()[-1]

    @property
    def changed(self) -> list[int]:
        """The sectors that are not as they were."""
        assert self.master.stat().st_size == self.image.stat().st_size
        with self.master.open("rb") as master, self.image.open("rb") as image:
            before, after = (dict(kept.chunks(file.fileno())) for file in (master, image))
        zeros = bytes(kept.CHUNK_BYTES)
        return [
            (start + at) // SECTOR_BYTES
            for start in sorted(before.keys() | after.keys())
            if before.get(start) != after.get(start)
            for at in range(0, kept.CHUNK_BYTES, SECTOR_BYTES)
            if before.get(start, zeros)[at : at + SECTOR_BYTES]
            != after.get(start, zeros)[at : at + SECTOR_BYTES]
        ]

    @property
    def reported_bytes(self) -> int:
        """The number of bytes written before the error, as the app reports it."""
        found = re.search(r" after (\d+) bytes", self.last_line)
        assert found is not None, self.last_line
        return int(found[1])

    def counter(self, name: str) -> int:
        """One of the card's totals."""
        return self.result.counters[f"{PORT}.{CARD}.{name}"]

    def stored(self, contents: bytes) -> list[int]:
        """Which sectors of a file's contents are in the image; the others must be as they were.

        The file is the first of an empty volume: it lies from the first cluster on.
        """
        first = data_start(self.image) // SECTOR_BYTES
        changed = [sector - first for sector in self.changed if sector >= first]
        with self.image.open("rb") as volume:
            for sector in changed:
                volume.seek((first + sector) * SECTOR_BYTES)
                at = sector * SECTOR_BYTES
                assert volume.read(SECTOR_BYTES) == contents[at : at + SECTOR_BYTES], sector
        return changed


def data_start(image: Path) -> int:
    """The offset of a FAT volume's first cluster: after boot sectors, FATs and root directory."""
    with image.open("rb") as volume:
        boot = volume.read(SECTOR_BYTES)

    def word(at: int) -> int:
        return int.from_bytes(boot[at : at + 2], "little")

    reserved, fats, root_entries, fat_sectors = word(14), boot[16], word(17), word(22)
    return (reserved + fats * fat_sectors) * SECTOR_BYTES + root_entries * 32


def run(image: Path, settings: dict[str, Value], **card: object) -> Left:
    """The app on a volume; `card` are properties of its card (removed_after_blocks=3)."""
    overrides = {
        f"{CARD}.cyclescope,{name.replace('_', '-')}": str(value) for name, value in card.items()
    }
    elf = firmware.build_app(APP, BOARD, SHORT | settings)
    board = Board(BOARD, overrides | {f"{CARD}.cyclescope,image": str(image)})
    return Left(board.load(elf).run("100s"), disks.image(FRESH), image)
