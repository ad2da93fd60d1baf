"""Encodings in which Unicorn's Cortex-A15 has no say over a Cortex-A5, in User mode.

Most are unpredictable by the manual (ARM DDI 0406C), where Unicorn's core does one thing or another
and ours has nothing but undefined instructions; the others are what only one of the two cores has.
"""

from __future__ import annotations

PC = 15
RN, RD, RS, RM = 16, 12, 8, 0
# Fields that may not be the program counter: mask, value, where the fields are. First come, first
# served; a field that has to be 1111 is not among them.
A32_FIELDS = (
    (0x0F0000F0, 0x00000090, (RN, RD, RS, RM)),  # multiplications
    (0x0FB00FF0, 0x01000090, (RN, RD, RM)),  # swp
    (0x0F0000F0, 0x01000090, (RN, RD)),  # exclusive accesses
    (0x0E400090, 0x00000090, (RD, RM)),  # halfwords and doublewords, with a register
    (0x0E400090, 0x00400090, (RD,)),
    (0x0F900090, 0x01000080, (RN, RD, RS, RM)),  # multiplications of halves
    (0x0F9000F0, 0x01000050, (RN, RD, RM)),  # qadd and so on
    (0x0FF000F0, 0x01600010, (RD, RM)),  # clz
    (0x0FB00000, 0x01000000, (RD,)),  # mrs
    (0x0FB000F0, 0x01200000, (RM,)),  # msr
    (0x0FF000F0, 0x01200030, (RM,)),  # blx
    (0x0E000090, 0x00000010, (RN, RD, RS, RM)),  # shifts by a register
    (0x0FB00000, 0x03000000, (RD,)),  # movw, movt
    (0x0E400010, 0x06400000, (RD, RM)),  # ldrb and strb with a register
    (0x0E000010, 0x06000000, (RM,)),
    (0x0E400000, 0x04400000, (RD,)),  # with an immediate
    (0x0F800010, 0x06000010, (RN, RD, RM)),  # parallel arithmetic
    (0x0FF00030, 0x06800010, (RN, RD, RM)),  # pkh
    (0x0FF000F0, 0x068000B0, (RN, RD, RM)),  # sel
    (0x0F800010, 0x06800010, (RD, RM)),  # the rest of packing
    (0x0FF000F0, 0x07400000, (RD,)),
    (0x0FF000D0, 0x075000D0, (RN, RD, RS, RM)),  # smmls
    (0x0F800010, 0x07000010, (RN, RS, RM)),  # dual multiplications
    (0x0FF00010, 0x07800010, (RN, RS, RM)),  # usad8
    (0x0FE00010, 0x07C00010, (RD,)),  # bfi
    (0x0F800010, 0x07800010, (RD, RM)),  # sbfx, ubfx
    (0x0F000010, 0x0E000010, (RD,)),  # moves to and from coprocessors
    (0x0FE00000, 0x0C400000, (RN, RD)),
)


def is_pc(encoding: int, low: int) -> bool:
    return encoding >> low & 15 == PC


def bits(encoding: int, high: int, low: int) -> int:
    return encoding >> low & (1 << (high - low + 1)) - 1


def a32(encoding: int) -> bool:
    """True if Unicorn has no say."""
    if encoding >> 28 == 15:
        return unconditional(encoding)
    for mask, value, fields in A32_FIELDS:
        if encoding & mask == value:
            if any(is_pc(encoding, low) for low in fields):
                return True
            break
    groups = (writes_back_wrongly, repeats_registers, only_elsewhere, out_of_range)
    return any(group(encoding) for group in groups)


def unconditional(encoding: int) -> bool:
    """Advanced SIMD, setend, pld with the program counter, rfe, srs, other coprocessor ones."""
    is_simd = bits(encoding, 27, 25) == 1 or encoding & 0x0F100000 == 0x04000000
    is_setend, is_preload = encoding & 0x0FFF0000 == 0x01010000, bits(encoding, 27, 25) == 3
    system = bits(encoding, 27, 26) in (2, 3)
    return is_simd or is_setend or (is_preload and is_pc(encoding, RM)) or system


def writes_back_wrongly(encoding: int) -> bool:
    """Write-back to the program counter."""
    single = bits(encoding, 27, 26) == 1 and not (encoding >> 25 & 1 and encoding >> 4 & 1)
    other = encoding & 0x0E000090 == 0x90 and bits(encoding, 6, 5) != 0
    if not single and not other:
        return False
    post, w = not encoding >> 24 & 1, encoding >> 21 & 1
    if is_pc(encoding, RN) and (post or w):
        return True
    # As from User mode: not of the program counter.
    return bool(post and w and is_pc(encoding, RD))


def repeats_registers(encoding: int) -> bool:
    """Long multiplications with one register for both halves; swp of its address; odd pairs."""
    rn, rd, rm = (bits(encoding, low + 3, low) for low in (RN, RD, RM))
    long = encoding & 0x0F8000F0 == 0x00800090 or encoding & 0x0FF000F0 == 0x00400090
    long |= encoding & 0x0FF00090 == 0x01400080 or encoding & 0x0FF00010 == 0x07400010
    if long:
        return rn == rd
    if encoding & 0x0FB00FF0 == 0x01000090:
        return rn in (rd, rm)
    # ldrd and strd.
    if encoding & 0x0E1000D0 == 0x000000D0:
        register_offset = not encoding >> 22 & 1
        is_load = not encoding >> 5 & 1
        writes_back = not encoding >> 24 & 1 or encoding >> 21 & 1
        unaligned = not register_offset and encoding & 3 != 0
        overlaps = register_offset and is_load and rm in (rd, rd + 1)
        overlaps |= bool(writes_back and rn in (rd, rd + 1))
        return rd % 2 == 1 or rd == 14 or overlaps or unaligned
    return False


def only_elsewhere(encoding: int) -> bool:
    """Divisions, debug, SIMD's scalars, hints, bkpt, strex; what only privileged modes have."""
    divides = encoding & 0x0FD000F0 == 0x07100010
    coprocessor = bits(encoding, 27, 26) == 3 and bits(encoding, 11, 8)
    scalars = encoding & 0x0F000F10 == 0x0E000B10 and (encoding & 0x00C00060 or encoding >> 20 & 1)
    hints = encoding & 0x0FFF0000 == 0x03200000
    user_block = encoding & 0x0E400000 == 0x08400000
    saved_status = encoding & 0x0FBFF0F0 == 0x0120F000 or encoding & 0x0FF0F000 == 0x0360F000
    saved_status |= encoding & 0x0FBF00F0 == 0x010F0000
    returns = bits(encoding, 27, 26) == 0 and is_pc(encoding, RD) and encoding >> 20 & 1
    breakpoint_ = encoding & 0x0FF000F0 == 0x01200070
    # Whether it aborts where the monitor does not let it store.
    store_exclusive = encoding & 0x0F900FF0 == 0x01800F90
    others = (
        saved_status,
        store_exclusive,
        divides,
        coprocessor in (14, 15),
        scalars,
        hints,
        user_block,
        returns,
        breakpoint_,
    )
    return any(others)


def out_of_range(encoding: int) -> bool:
    """A bit field beyond the word; fixed point with a fraction longer than the number."""
    if encoding & 0x0FA00070 == 0x07A00050:
        return bits(encoding, 20, 16) + bits(encoding, 11, 7) > 31
    if encoding & 0x0FBA0ED0 == 0x0EBA0A40:
        return bits(encoding, 3, 0) == 15 or bits(encoding, 3, 0) > 8
    return False
