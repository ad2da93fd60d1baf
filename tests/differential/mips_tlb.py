"""Random work with a MIPS32 core's TLB: entries written, read and probed, and accesses by them.

Each step is a piece of code that leaves its result in a record. On the engine the steps run as one
program. Its handler records the exceptions' registers of coprocessor 0, and continues with the next
step. Unicorn runs the steps one by one.

Entries match different addresses, or different address spaces: the result of two matching entries
is undefined. EntryHi and EntryLo have no bits within the page, which a core may keep or not.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import assembler as asm
import elf32
import mips_assembler as mips
import mips_harness as harness
import mips_reference as reference
import unicorn
from assembler import Item, Label, word
from choices import Rng
from mips_choices import K1, KERNEL
from unicorn import mips_const

from cyclescope import _engine

# Physical addresses.
REFILL, GENERAL, COMMON, READER = 0x000, 0x180, 0x200, 0x300
RECORDS, WINDOW, CODE = 0x1_0000, 0x4_0000, 0x8_0000
WINDOW_BYTES, PAGE = 0x4_0000, 0x1000
RECORD_WORDS = 8
RECORD_BYTES = 4 * RECORD_WORDS
# In a record: what the step read; what an exception left.
CAUSE, INDEX, VECTOR = 1, 5, 6
# Entries that both have, and address spaces.
ENTRIES, SPACES = 16, 4
# Regions that an entry lies in: kuseg and kseg2.
REGION_BYTES, MIB = 0x0200_0000, 0x10_0000
REGIONS = [region * REGION_BYTES for region in (*range(12), *range(0x60, 0x66))]
SIZES = [PAGE << 2 * power for power in range(7)]
CONTEXT, TLB_REFILL, TLB_OTHER = 4, 1, 2
TLBR, TLBWI, TLBP, SSNOP = 0x42000001, 0x42000002, 0x42000008, 0x00000040
V0, A0, T0, RESUME, RECORD, RA = 2, 4, 8, 22, 23, 31
ADDIU, LW, SW = mips.IMMEDIATES["addiu"], mips.LOADS["lw"], mips.STORES["sw"]
NOT_FOUND = 1 << 31
# Cause.ExcCode by QEMU's number of an exception: a store to a page that is not writable.
CODES = reference.CODES | {25: 1}


@dataclass
class Entry:
    """A pair of pages of the TLB."""

    region: int
    page_bytes: int
    asid: int
    is_global: bool
    # The address of the pair.
    address: int

    @property
    def is_alone(self) -> bool:
        """Its region is its own: through another's larger pages, no memory would answer."""
        return self.is_global or self.page_bytes >= MIB


@dataclass
class Steps:
    """Code with a record for each step."""

    rng: Rng
    # Each with where it begins and ends.
    items: list[Item] = field(default_factory=list)
    places: list[tuple[Label, Label]] = field(default_factory=list)
    entries: dict[int, Entry] = field(default_factory=dict)

    def add(self, middle: list[Item]) -> None:
        begin, end = Label(), Label()
        record = KERNEL + RECORDS + RECORD_BYTES * len(self.places)
        prologue = [*mips.load_immediate(RECORD, record), *mips.load_address(RESUME, end)]
        self.items += [begin, *prologue, *middle, end]
        self.places.append((begin, end))


def to_cp0(register: int, value: int) -> list[Item]:
    return [*mips.load_immediate(T0, value), word(mips.mtc0(T0, register))]


def keep(register: int, at: int) -> list[Item]:
    """A register of coprocessor 0 into word `at` of the record."""
    return [word(mips.mfc0(T0, register)), word(mips.immediate(SW, T0, RECORD, 4 * at))]


def free_regions(steps: Steps, asid: int | None) -> list[int]:
    """An address at which a page, of one address space or of all, matches no other page."""
    taken = {
        entry.region
        for entry in steps.entries.values()
        if asid is None or entry.is_alone or entry.asid == asid
    }
    return [region for region in REGIONS if region not in taken]


def new_entry(steps: Steps, asid: int) -> Entry:
    """For a global entry, `asid` only is in EntryHi."""
    rng = steps.rng
    size = rng.choice(SIZES)
    entry = Entry(0, size, asid, rng.random() < 0.3, 0)
    entry.region = rng.choice(free_regions(steps, None if entry.is_alone else asid))
    # Accessed data have the same offset in each MiB as in memory.
    is_small = 2 * size <= WINDOW_BYTES
    inside = WINDOW + rng.randrange(WINDOW_BYTES // (2 * size)) * 2 * size if is_small else 0
    entry.address = entry.region + inside
    return entry


def write(steps: Steps, index: int, entry: Entry) -> None:
    """Puts an entry into the TLB, with some pages."""
    rng, size = steps.rng, entry.page_bytes
    steps.entries[index] = entry
    items = to_cp0(mips.INDEX, index) + to_cp0(mips.ENTRY_HI, entry.address | entry.asid)
    for register in (mips.ENTRY_LO_0, mips.ENTRY_LO_1):
        flags = rng.choice([2, 3]) << 3 | rng.choice([0, 2, 4, 6, 6, 6]) | entry.is_global
        at = WINDOW + rng.randrange(WINDOW_BYTES // size) * size if size <= WINDOW_BYTES else 0
        items += to_cp0(register, at >> 6 | flags)
    items += to_cp0(mips.PAGE_MASK, 2 * size - 1 & ~0x1FFF)
    steps.add([*items, word(SSNOP), word(TLBWI)])


def write_entry(steps: Steps) -> None:
    index = steps.rng.randrange(ENTRIES)
    steps.entries.pop(index, None)
    write(steps, index, new_entry(steps, steps.rng.randrange(SPACES)))


def rewrite_entry(steps: Steps) -> None:
    """Another entry in the place of one that is in use, or the same with other pages.

    The address space stays: what was known of the page has to go for no other reason.
    """
    if not steps.entries:
        return
    index, entry = steps.rng.choice(list(steps.entries.items()))
    page = page_of(steps, entry)
    access(steps, page, entry.asid)
    if steps.rng.random() < 0.5:
        write(steps, index, new_entry(steps, entry.asid))
    else:
        write(steps, index, entry)
    access(steps, page, entry.asid)


def read_entry(steps: Steps) -> None:
    if not steps.entries:
        return
    items = [*to_cp0(mips.INDEX, steps.rng.choice(list(steps.entries))), word(SSNOP), word(TLBR)]
    kept = (mips.ENTRY_HI, mips.ENTRY_LO_0, mips.ENTRY_LO_1, mips.PAGE_MASK)
    # The word for the cause is left out.
    steps.add(
        [
            *items,
            *(item for at, each in zip((0, 2, 3, 4), kept, strict=True) for item in keep(each, at)),
        ]
    )


def probe(steps: Steps) -> None:
    hi = a_page(steps) & ~0x1FFF | steps.rng.randrange(SPACES)
    steps.add([*to_cp0(mips.ENTRY_HI, hi), word(SSNOP), word(TLBP), *keep(mips.INDEX, INDEX)])


def page_of(steps: Steps, entry: Entry) -> int:
    """The address of a page that an entry maps to the window."""
    rng = steps.rng
    if 2 * entry.page_bytes <= WINDOW_BYTES:
        return entry.address + rng.randrange(2 * entry.page_bytes // PAGE) * PAGE
    # The pages at the window's place: the second of a pair of 256 KiB.
    half = 0 if entry.page_bytes < MIB else rng.randrange(2) * entry.page_bytes
    return entry.region + half + WINDOW + rng.randrange(WINDOW_BYTES // PAGE) * PAGE


def a_page(steps: Steps) -> int:
    """The address of one that is mapped, perhaps in another space, or of none."""
    rng = steps.rng
    if steps.entries and rng.random() < 0.9:
        return page_of(steps, rng.choice(list(steps.entries.values())))
    base = rng.choice([*REGIONS, KERNEL, KERNEL + 0x2000_0000])
    return base + WINDOW + rng.randrange(WINDOW_BYTES // PAGE) * PAGE


def access_anything(steps: Steps) -> None:
    """In any address space, or in the one that is current."""
    rng = steps.rng
    access(steps, a_page(steps), None if rng.random() < 0.4 else rng.randrange(SPACES))


def access(steps: Steps, page: int, asid: int | None) -> None:
    """A load, a store, or a call of the code that each page begins with."""
    rng = steps.rng
    items = [] if asid is None else to_cp0(mips.ENTRY_HI, page & ~0x1FFF | asid)
    items += to_cp0(CONTEXT, rng.getrandbits(32))
    offset = rng.randrange(0x100, PAGE, 4)
    if rng.random() < 0.1:
        offset += rng.randrange(4)
    name = rng.choice(["lw", "lw", "lh", "lbu", "sw", "sw", "sb", "call"])
    if name == "call":
        call = [word(mips.JALR | T0 << 21 | RA << 11), word(mips.NOP)]
        items += [*mips.load_immediate(T0, page), *call]
    else:
        opcode = (mips.LOADS | mips.STORES)[name]
        items += [
            *mips.load_immediate(V0, rng.getrandbits(32)),
            *mips.load_immediate(T0, page + offset),
            word(mips.immediate(opcode, V0, T0, 0)),
        ]
    steps.add([*items, word(mips.immediate(SW, V0, RECORD, 0))])


def generate(seed: int, count: int) -> Steps:
    steps = Steps(Rng(seed))
    # Entries that were never written differ between both sides.
    for index in range(ENTRIES):
        nowhere = KERNEL + 0x2000 * index
        hi, lo = to_cp0(mips.ENTRY_HI, nowhere), (mips.ENTRY_LO_0, mips.ENTRY_LO_1, mips.PAGE_MASK)
        zeros = [item for register in lo for item in to_cp0(register, 0)]
        steps.add([*to_cp0(mips.INDEX, index), *hi, *zeros, word(SSNOP), word(TLBWI)])
    kinds = [write_entry] * 3 + [rewrite_entry] * 2 + [read_entry, probe] + [access_anything] * 8
    while len(steps.places) < count:
        steps.rng.choice(kinds)(steps)
    return steps


def kept_by_handler() -> list[Item]:
    """BadVAddr, Context, EntryHi, and the entry that tlbp finds for it."""
    items = [
        item
        for at, each in ((2, mips.BAD_VADDR), (3, CONTEXT), (4, mips.ENTRY_HI))
        for item in keep(each, at)
    ]
    return [*items, word(TLBP), *keep(mips.INDEX, INDEX)]


def vectors() -> bytes:
    """The handlers, followed by the code that Unicorn runs in their place."""
    common, end = Label(), Label()
    handler = [
        *keep(mips.CAUSE, CAUSE),
        *kept_by_handler(),
        word(mips.immediate(SW, K1, RECORD, 4 * VECTOR)),
        word(mips.mtc0(RESUME, mips.EPC)),
        word(mips.ERET),
    ]
    common_code = asm.assemble([common, *handler], KERNEL + COMMON)

    def stub(number: int, at: int) -> bytes:
        go = [mips.jump(mips.J, common), word(mips.immediate(ADDIU, K1, 0, number))]
        return asm.assemble(go, KERNEL + at)

    image = stub(TLB_REFILL, REFILL).ljust(GENERAL, b"\0") + stub(TLB_OTHER, GENERAL)
    image = (image.ljust(COMMON, b"\0") + common_code).ljust(READER, b"\0")
    return image + asm.assemble([*kept_by_handler(), end], KERNEL + READER)


def window() -> bytes:
    """Pages that begin with a function that identifies the page."""
    pages = []
    for number in range(WINDOW_BYTES // PAGE):
        code = struct.pack("<2I", mips.JR | RA << 21, mips.immediate(ADDIU, V0, 0, 0x100 + number))
        pages.append(code.ljust(0x100, b"\0") + bytes([number]) * (PAGE - 0x100))
    return b"".join(pages)


def image(steps: Steps) -> bytes:
    start = to_cp0(mips.STATUS, 0)
    end = [word(each) for each in (0x24190001, 0x24040000, 0x7000007F)]
    code = asm.assemble([*start, *steps.items, *end], KERNEL + CODE)
    assert CODE + len(code) <= harness.RAM_BYTES
    assert RECORDS + RECORD_BYTES * len(steps.places) <= WINDOW
    return code


Record = tuple[int, ...]


def records(data: bytes) -> list[Record]:
    return [
        struct.unpack_from(f"<{RECORD_WORDS}I", data, at)
        for at in range(0, len(data), RECORD_BYTES)
    ]


def on_engine(steps: Steps, board: str) -> tuple[list[Record], bytes]:
    """Records, and the window at the end."""
    machine = _engine.Machine(harness.tree(board))
    parts = [(0, vectors()), (WINDOW, window()), (CODE, image(steps))]
    segments = [elf32.Segment(KERNEL + at, data) for at, data in parts]
    entry = KERNEL + CODE
    machine.load(elf32.executable(*segments, entry=entry, machine=elf32.EM_MIPS), "steps")
    report = machine.run(10**12, None)
    assert (report["outcome"], report["code"]) == ("exit", 0), report["message"]
    length = RECORD_BYTES * len(steps.places)
    return records(machine.read_memory(RECORDS, length)), machine.read_memory(WINDOW, WINDOW_BYTES)


def on_unicorn(steps: Steps) -> tuple[list[Record], bytes]:
    """Unicorn's record; exceptions are left to us: word VECTOR stays 0, Cause has a code."""
    core = reference.machine(harness.RAM_BYTES)
    for at, data in ((0, vectors()), (WINDOW, window()), (CODE, image(steps))):
        core.mem_write(at, data)
    raised: list[int] = []

    def interrupt(_core: unicorn.Uc, number: int, _data: object) -> None:
        raised.append(number)
        core.emu_stop()

    core.hook_add(unicorn.UC_HOOK_INTR, interrupt)
    core.emu_start(KERNEL + CODE, steps.places[0][0].address)
    reader_end = KERNEL + READER + 4 * len(kept_by_handler())
    for number, (begin, end) in enumerate(steps.places):
        try:
            core.emu_start(begin.address, end.address, count=1000)
        except unicorn.UcError:
            # Unicorn's errors about accesses, in addition to the exception.
            assert raised
        if raised:
            at = RECORDS + RECORD_BYTES * number
            core.mem_write(at + 4 * CAUSE, struct.pack("<I", CODES[raised.pop()] << 2))
            core.reg_write(mips_const.UC_MIPS_REG_0 + RECORD, KERNEL + at)
            core.emu_start(KERNEL + READER, reader_end, count=1000)
    length = RECORD_BYTES * len(steps.places)
    return records(bytes(core.mem_read(RECORDS, length))), bytes(
        core.mem_read(WINDOW, WINDOW_BYTES)
    )
