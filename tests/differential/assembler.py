"""Encodes the instructions that the generators choose, by the formats of the manual's listings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

R_OPS = {
    name: funct7 << 25 | funct3 << 12 | 0x33
    for name, (funct7, funct3) in {
        "add": (0x00, 0),
        "sub": (0x20, 0),
        "sll": (0x00, 1),
        "slt": (0x00, 2),
        "sltu": (0x00, 3),
        "xor": (0x00, 4),
        "srl": (0x00, 5),
        "sra": (0x20, 5),
        "or": (0x00, 6),
        "and": (0x00, 7),
        "mul": (0x01, 0),
        "mulh": (0x01, 1),
        "mulhsu": (0x01, 2),
        "mulhu": (0x01, 3),
        "div": (0x01, 4),
        "divu": (0x01, 5),
        "rem": (0x01, 6),
        "remu": (0x01, 7),
    }.items()
}
I_OPS = {
    "addi": 0x13,
    "slti": 0x2013,
    "sltiu": 0x3013,
    "xori": 0x4013,
    "ori": 0x6013,
    "andi": 0x7013,
}
SHIFTS = {"slli": 0x1013, "srli": 0x5013, "srai": 0x40005013}
LOADS = {"lb": 0x0003, "lh": 0x1003, "lw": 0x2003, "lbu": 0x4003, "lhu": 0x5003}
STORES = {"sb": 0x0023, "sh": 0x1023, "sw": 0x2023}
BRANCHES = {
    "beq": 0x0063,
    "bne": 0x1063,
    "blt": 0x4063,
    "bge": 0x5063,
    "bltu": 0x6063,
    "bgeu": 0x7063,
}
CSRS = {
    "csrrw": 0x1073,
    "csrrs": 0x2073,
    "csrrc": 0x3073,
    "csrrwi": 0x5073,
    "csrrsi": 0x6073,
    "csrrci": 0x7073,
}
LUI, AUIPC, JAL, JALR = 0x37, 0x17, 0x6F, 0x67
FENCE, FENCE_I, EBREAK, C_EBREAK, C_NOP = 0x0FF0000F, 0x100F, 0x00100073, 0x9002, 0x0001
# c.sub, c.xor, c.or, c.and
C_ARITHMETIC = (0x8C01, 0x8C21, 0x8C41, 0x8C61)


@dataclass
class Label:
    """A place in a program; its address is known once it is assembled."""

    address: int = 0


@dataclass(frozen=True)
class Instruction:
    """An instruction whose encoding may depend on where it stands."""

    length: int
    encode: Callable[[int], int]


class Align:
    """Zeroes up to the next multiple of four; nothing runs there."""


ALIGN = Align()
Item = Label | Instruction | Align


def word(encoding: int) -> Instruction:
    """A 4-byte instruction."""
    return Instruction(4, lambda _: encoding)


def half(encoding: int) -> Instruction:
    """A 2-byte instruction."""
    return Instruction(2, lambda _: encoding)


def assemble(items: Iterable[Item], base: int) -> bytes:
    """The program's bytes at address `base`; sets the labels."""
    items, address = list(items), base
    for item in items:
        if isinstance(item, Label):
            item.address = address
        else:
            address += length(item, address)
    code = b""
    for item in items:
        if isinstance(item, Instruction):
            code += item.encode(base + len(code)).to_bytes(item.length, "little")
        elif isinstance(item, Align):
            code += bytes(length(item, base + len(code)))
    return code


def length(item: Instruction | Align, address: int) -> int:
    """Bytes that it takes at an address."""
    return item.length if isinstance(item, Instruction) else -address % 4


def r_type(base: int, rd: int, rs1: int, rs2: int) -> int:
    return base | rd << 7 | rs1 << 15 | rs2 << 20


def i_type(base: int, rd: int, rs1: int, imm: int) -> int:
    return base | rd << 7 | rs1 << 15 | (imm & 0xFFF) << 20


def s_type(base: int, rs1: int, rs2: int, imm: int) -> int:
    return base | rs1 << 15 | rs2 << 20 | (imm & 0x1F) << 7 | (imm >> 5 & 0x7F) << 25


def b_type(base: int, rs1: int, rs2: int, imm: int) -> int:
    low = (imm >> 1 & 0xF) << 8 | (imm >> 11 & 1) << 7
    return base | rs1 << 15 | rs2 << 20 | low | (imm >> 5 & 0x3F) << 25 | (imm >> 12 & 1) << 31


def j_type(rd: int, imm: int) -> int:
    high = (imm >> 12 & 0xFF) << 12 | (imm >> 20 & 1) << 31
    return JAL | rd << 7 | high | (imm >> 11 & 1) << 20 | (imm >> 1 & 0x3FF) << 21


def u_type(base: int, rd: int, upper: int) -> int:
    return base | rd << 7 | (upper & 0xFFFFF) << 12


def load_immediate(rd: int, value: int) -> list[Item]:
    """Any 32-bit value into `rd`: lui and addi."""
    upper = (value + 0x800) >> 12
    return [word(u_type(LUI, rd, upper)), word(i_type(I_OPS["addi"], rd, rd, value))]


def load_address(rd: int, label: Label, offset: int = 0) -> list[Item]:
    """The address of a label, and `offset` more, into `rd`: lui and addi."""

    def upper(_: int) -> int:
        return u_type(LUI, rd, (label.address + offset + 0x800) >> 12)

    def lower(_: int) -> int:
        return i_type(I_OPS["addi"], rd, rd, label.address + offset)

    return [Instruction(4, upper), Instruction(4, lower)]


def branch(name: str, rs1: int, rs2: int, target: Label) -> Instruction:
    """A branch to a label at most 4 KiB away."""
    return Instruction(4, lambda pc: b_type(BRANCHES[name], rs1, rs2, target.address - pc))


def jump(rd: int, target: Label) -> Instruction:
    """A jal to a label at most 1 MiB away."""
    return Instruction(4, lambda pc: j_type(rd, target.address - pc))


def c_immediate(base: int, rd: int, imm: int) -> int:
    """A CI-type instruction, rd in 11:7 and the 6-bit immediate in 12 and 6:2."""
    return base | rd << 7 | (imm & 0x1F) << 2 | (imm >> 5 & 1) << 12


def c_branch(base: int, rs1_narrow: int, target: Label) -> Instruction:
    """c.beqz or c.bnez; a c.nop where the target is out of its 256 bytes."""

    def encode(pc: int) -> int:
        imm = target.address - pc
        if not -256 <= imm < 256:
            return C_NOP
        high = (imm >> 8 & 1) << 12 | (imm >> 3 & 3) << 10
        low = (imm >> 6 & 3) << 5 | (imm >> 1 & 3) << 3 | (imm >> 5 & 1) << 2
        return base | rs1_narrow << 7 | high | low

    return Instruction(2, encode)


def c_jump(base: int, target: Label) -> Instruction:
    """c.j or c.jal; a c.nop where the target is out of its 2 KiB."""

    def encode(pc: int) -> int:
        imm = target.address - pc
        if not -2048 <= imm < 2048:
            return C_NOP
        places = (
            (11, 12),
            (4, 11),
            (9, 10),
            (8, 9),
            (10, 8),
            (6, 7),
            (7, 6),
            (3, 5),
            (2, 4),
            (1, 3),
            (5, 2),
        )
        return base | sum((imm >> bit & 1) << place for bit, place in places)

    return Instruction(2, encode)


def c_word_offset(offset: int) -> int:
    """The offset of c.lw and c.sw: [5:3] in 12:10, [2] in 6, [6] in 5."""
    return (offset >> 3 & 7) << 10 | (offset >> 2 & 1) << 6 | (offset >> 6 & 1) << 5
