"""Disk images for cards: FAT volumes, made for a run and checked after it.

Start at `images`. `fat_layout` lays out a volume, `fat_volume` reads one, `fat_check` finds its
faults, and `fat_tools` calls independent programs. Nothing here knows boards or firmware.
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
