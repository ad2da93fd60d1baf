"""As `arm_unpredictable`, for 32-bit T32 encodings: the first halfword is on top."""

from __future__ import annotations

from arm_unpredictable import PC, bits, only_elsewhere

SP = 13
# Opcodes of data processing whose destination may be 1111: and, eor, add, sub with flags.
COMPARE = (0, 4, 8, 13)
# orr, orn: their first operand may be 1111.
MOVE = (2, 3)


def bad(*registers: int) -> bool:
    """True if one of the registers is the stack pointer or the program counter."""
    return SP in registers or PC in registers


def t32(encoding: int) -> bool:
    """True if Unicorn has no say."""
    top = bits(encoding, 31, 24)
    if top in (0xEF, 0xFF) or encoding & 0xFF100000 == 0xF9000000:
        return True  # Advanced SIMD
    groups = {
        0xE8: memory_of_several,
        0xE9: memory_of_several,
        0xEA: shifted,
        0xEB: shifted,
        0xEC: coprocessor,
        0xED: coprocessor,
        0xEE: coprocessor,
        0xF8: single,
        0xF9: single,
        0xFA: registers,
        0xFB: registers,
        0xFC: coprocessor,
        0xFD: coprocessor,
        0xFE: coprocessor,
    }
    return groups.get(top, immediate_or_control)(encoding)


def memory_of_several(encoding: int) -> bool:
    """ldm and stm with lists that may not be; ldrd and strd; exclusive accesses; rfe, srs, tbb."""
    rn, rt, rt2 = bits(encoding, 19, 16), bits(encoding, 15, 12), bits(encoding, 11, 8)
    writes_back, is_load = bits(encoding, 21, 21), bits(encoding, 20, 20)
    if not encoding >> 22 & 1:
        listed = bits(encoding, 15, 0)
        never = 0x2000 if is_load else 0xA000
        odd = bool(listed & never) or listed.bit_count() < 2 or rn == PC
        odd |= bool(listed >> rn & 1 and writes_back) or listed & 0xC000 == 0xC000
        return odd or bits(encoding, 24, 23) in (0, 3)
    if not encoding >> 24 & 1 and not writes_back:
        return True  # exclusive accesses and tbb
    overlaps = (writes_back and rn in (rt, rt2)) or (is_load and rt == rt2)
    return bool(overlaps) or bad(rt, rt2) or (rn == PC and not is_load)


def shifted(encoding: int) -> bool:
    opcode, rd = bits(encoding, 24, 21), bits(encoding, 11, 8)
    if bits(encoding, 15, 15):
        return True
    return data_processing(encoding, opcode, rd) or bad(bits(encoding, 3, 0))


def data_processing(encoding: int, opcode: int, rd: int) -> bool:
    """The first operand and the destination."""
    rn, sets_flags = bits(encoding, 19, 16), bits(encoding, 20, 20)
    compares = rd == PC and opcode in COMPARE and sets_flags
    moves = rn == PC and opcode in MOVE
    return (bad(rd) and not compares) or (bad(rn) and not moves)


def coprocessor(encoding: int) -> bool:
    number = bits(encoding, 11, 8)
    rt, rt2 = bits(encoding, 15, 12), bits(encoding, 19, 16)
    if number not in (10, 11) or encoding >> 28 == 15 or only_elsewhere(encoding):
        return True
    if encoding & 0x0FE00000 == 0x0C400000:
        return bad(rt, rt2) or rt == rt2
    if encoding & 0x0F000010 == 0x0E000010:
        return bad(rt)
    if encoding & 0x0E000000 == 0x0C000000:
        return rt2 == PC
    return encoding & 0x0FBA0ED0 == 0x0EBA0A40 and bits(encoding, 3, 0) > 7


def single(encoding: int) -> bool:
    """Loads and stores of one register, and preloads."""
    rn, rt = bits(encoding, 19, 16), bits(encoding, 15, 12)
    has_byte_offset = rn != PC and not encoding >> 23 & 1 and encoding >> 11 & 1
    writes_back = has_byte_offset and encoding >> 8 & 1
    by_register = rn != PC and not encoding >> 23 & 1 and not encoding >> 11 & 1
    if by_register and bad(bits(encoding, 3, 0)):
        return True
    is_preload = encoding >> 20 & 1 and rt == PC
    return (bad(rt) and not is_preload) or bool(writes_back and rn == rt) or is_preload


def registers(encoding: int) -> bool:
    """Shifts, extensions, parallel arithmetic, multiplications, divisions."""
    rn, ra = bits(encoding, 19, 16), bits(encoding, 15, 12)
    rd, rm = bits(encoding, 11, 8), bits(encoding, 3, 0)
    if encoding & 0xFFC00000 == 0xFB800000 and encoding & 0x00900000 == 0x00900000:
        return True  # sdiv, udiv
    if bits(encoding, 31, 23) == 0x1F7:
        divides = bits(encoding, 22, 20) in (1, 3)
        return divides or bad(rn, rm, rd, ra) or ra == rd
    if bits(encoding, 31, 24) == 0xFB:
        # Without a minuend smmls is unpredictable; mls is undefined then.
        subtracts = encoding & 0xFFF000E0 == 0xFB600000
        return bad(rn, rm, rd) or ra == SP or (subtracts and ra == PC)
    extends = bits(encoding, 23, 23) == 0 and bits(encoding, 7, 7) == 1
    if encoding & 0xFFC0F0C0 == 0xFA80F080 and rn != rm:
        return True  # clz and so on have their operand twice
    return bad(rd, rm) or (bad(rn) and not (extends and rn == PC))


def immediate_or_control(encoding: int) -> bool:
    """Immediates; branches, status registers, hints."""
    rd, rn = bits(encoding, 11, 8), bits(encoding, 19, 16)
    if encoding >> 15 & 1:
        # Status registers and hints: what is unpredictable or only in privileged modes.
        return encoding & 0xFFE0D000 in (0xF3808000, 0xF3A08000, 0xF3E08000, 0xF3C08000)
    if not encoding >> 25 & 1:
        return data_processing(encoding, bits(encoding, 24, 21), rd)
    operation = bits(encoding, 24, 20)
    if operation in (18, 26) and encoding & 0x30:
        return True  # ssat16, usat16: bits that should be 0
    return bad(rd) or rn == SP or (rn == PC and operation not in (0, 4, 10, 12, 22))
