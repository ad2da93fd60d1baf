"""Disk images for cards: FAT volumes, made for a run and checked after it.

Start at `images`. `fat_layout` says what a volume looks like, `fat_volume` reads one, `fat_check`
finds what is wrong with it, and `fat_tools` asks other people's programs. Nothing here knows
boards or firmware.
"""

from cyclescope.disks.fat_layout import SECTOR_BYTES
from cyclescope.disks.images import (
    Disk,
    Extent,
    check,
    clusters_of,
    compare,
    compare_deleted,
    copy_into,
    copy_of,
    copy_sparse,
    image,
    read_file,
)

__all__ = [
    "SECTOR_BYTES",
    "Disk",
    "Extent",
    "check",
    "clusters_of",
    "compare",
    "compare_deleted",
    "copy_into",
    "copy_of",
    "copy_sparse",
    "image",
    "read_file",
]
