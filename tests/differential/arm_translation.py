"""Address translation in random Arm programs: the tables, and accesses that they may not allow.

All is normal memory, so that nothing has to be aligned but what always has to be.
"""

from __future__ import annotations

import struct

from arm_choices import DATA, DATA_MIDDLE

# The first level, followed by the second level for the section of pages.
TABLE, SECTION, PAGE = 0x8008_0000, 0x10_0000, 0x1000
TABLE_BYTES = 0x4000
# Other names of the RAM: to be read only; pages; a domain whose permissions nobody checks; a domain
# without access. There is nothing at NOTHING.
RAM, READ_ONLY_RAM, NOTHING = 0x8000_0000, 0x8010_0000, 0x8020_0000
PAGES, UNCHECKED, CLOSED = 0x8030_0000, 0x8040_0000, 0x8050_0000
NORMAL_CACHED, READ_WRITE, READ_ONLY = 0x100C, 0xC00, 0x8C00
# DACR: domain 0 is checked, 1 is not, 2 has no access.
DOMAINS = 0b001101
# AP[2:0] of small pages; those that only privileged modes may read and so on. 100 is reserved.
PERMISSIONS = (0, 1, 2, 3, 5, 6, 7)
LARGE_PAGE = 16


def table() -> bytes:
    """The translation tables."""
    entries = [0] * (TABLE_BYTES // 4)
    sections = (
        (RAM, READ_WRITE),
        (READ_ONLY_RAM, READ_ONLY),
        (UNCHECKED, 1 << 5),
        (CLOSED, READ_WRITE | 2 << 5),
    )
    for at, access in sections:
        entries[at // SECTION] = RAM | NORMAL_CACHED | access | 2
    entries[PAGES // SECTION] = TABLE + TABLE_BYTES | 1
    return struct.pack(f"<{len(entries) + 256}I", *entries, *pages())


def pages() -> list[int]:
    """Pages that all are the data's: one for each permission, and a large one."""
    entries = [0] * 256
    for permission in PERMISSIONS:
        access = (permission & 3) << 4 | (permission >> 2) << 9
        entries[permission] = DATA | access | 1 << 6 | 0xC | 2
    for at in range(LARGE_PAGE, 2 * LARGE_PAGE):
        entries[at] = DATA & ~0xFFFF | 1 << 12 | 3 << 4 | 0xC | 1
    return entries


def names() -> list[int]:
    """Addresses of the data's middle under all names but its own."""
    inside = DATA_MIDDLE % PAGE
    small = [PAGES + page * PAGE + inside for page in (*PERMISSIONS, LARGE_PAGE)]
    far = DATA_MIDDLE - RAM
    return [*small, UNCHECKED + far, CLOSED + far, READ_ONLY_RAM + far, NOTHING + far]
