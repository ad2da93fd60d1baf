"""Encodes MIPS32 instructions, by the tables of the manual's volume II (release 1)."""

from __future__ import annotations

from assembler import Instruction, Item, Label, word

THREE = {
    "sllv": 0x04,
    "srlv": 0x06,
    "srav": 0x07,
    "movz": 0x0A,
    "movn": 0x0B,
    "add": 0x20,
    "addu": 0x21,
    "sub": 0x22,
    "subu": 0x23,
    "and": 0x24,
    "or": 0x25,
    "xor": 0x26,
    "nor": 0x27,
    "slt": 0x2A,
    "sltu": 0x2B,
    "mul": 0x70000002,
    "clz": 0x70000020,
    "clo": 0x70000021,
}
SHIFTS = {"sll": 0x00, "srl": 0x02, "sra": 0x03}
# rs and rt, into HI and LO.
PRODUCTS = {
    "mult": 0x18,
    "multu": 0x19,
    "div": 0x1A,
    "divu": 0x1B,
    "madd": 0x70000000,
    "maddu": 0x70000001,
    "msub": 0x70000004,
    "msubu": 0x70000005,
}
FROM_HI_LO = {"mfhi": 0x10, "mflo": 0x12}
TO_HI_LO = {"mthi": 0x11, "mtlo": 0x13}
IMMEDIATES = {
    "addi": 0x08,
    "addiu": 0x09,
    "slti": 0x0A,
    "sltiu": 0x0B,
    "andi": 0x0C,
    "ori": 0x0D,
    "xori": 0x0E,
    "lui": 0x0F,
}
LOADS = {"lb": 0x20, "lh": 0x21, "lwl": 0x22, "lw": 0x23, "lbu": 0x24, "lhu": 0x25, "lwr": 0x26}
STORES = {"sb": 0x28, "sh": 0x29, "swl": 0x2A, "sw": 0x2B, "swr": 0x2E}
LL, SC, PREF, CACHE = 0x30, 0x38, 0x33, 0x2F
# Bytes that an address has to be a multiple of.
SIZES = {"lh": 2, "lhu": 2, "lw": 4, "ll": 4, "sh": 2, "sw": 4, "sc": 4}
# On rs and rt; on rs; on rs and with a link.
EQUALS = {"beq": 0x04, "bne": 0x05, "beql": 0x14, "bnel": 0x15}
SIGNS = {
    "blez": 0x06 << 26,
    "bgtz": 0x07 << 26,
    "blezl": 0x16 << 26,
    "bgtzl": 0x17 << 26,
    "bltz": 1 << 26,
    "bgez": 1 << 26 | 1 << 16,
    "bltzl": 1 << 26 | 2 << 16,
    "bgezl": 1 << 26 | 3 << 16,
    "bltzal": 1 << 26 | 0x10 << 16,
    "bgezal": 1 << 26 | 0x11 << 16,
    "bltzall": 1 << 26 | 0x12 << 16,
    "bgezall": 1 << 26 | 0x13 << 16,
}
TRAPS = {"tge": 0x30, "tgeu": 0x31, "tlt": 0x32, "tltu": 0x33, "teq": 0x34, "tne": 0x36}
TRAP_IMMEDIATES = {"tgei": 8, "tgeiu": 9, "tlti": 10, "tltiu": 11, "teqi": 12, "tnei": 14}
NOP, SYSCALL, BREAK, SYNC, SDBBP = 0x00, 0x0C, 0x0D, 0x0F, 0x7000003F
JR, JALR, J, JAL = 0x08, 0x09, 0x02, 0x03
TLBWI, ERET, WAIT = 0x42000002, 0x42000018, 0x42000020
# Operations of `cache`: hits are written back and dropped; instructions are dropped.
CACHE_D_HIT, CACHE_I_HIT = 0x15, 0x10
INDEX, ENTRY_LO_0, ENTRY_LO_1, PAGE_MASK, BAD_VADDR, ENTRY_HI = 0, 2, 3, 5, 8, 10
STATUS, CAUSE, EPC = 12, 13, 14


def three(base: int, rd: int, rs: int, rt: int) -> int:
    return base | rs << 21 | rt << 16 | rd << 11


def shift(base: int, rd: int, rt: int, amount: int) -> int:
    return base | rt << 16 | rd << 11 | amount << 6


def immediate(opcode: int, rt: int, rs: int, imm: int) -> int:
    return opcode << 26 | rs << 21 | rt << 16 | imm & 0xFFFF


def trap_immediate(name: str, rs: int, imm: int) -> int:
    return 1 << 26 | rs << 21 | TRAP_IMMEDIATES[name] << 16 | imm & 0xFFFF


def mfc0(rt: int, register: int) -> int:
    return 0x40000000 | rt << 16 | register << 11


def mtc0(rt: int, register: int) -> int:
    return 0x40800000 | rt << 16 | register << 11


def load_immediate(rt: int, value: int) -> list[Item]:
    """Any 32-bit value into `rt`: lui and ori."""
    lui, ori = IMMEDIATES["lui"], IMMEDIATES["ori"]
    return [word(immediate(lui, rt, 0, value >> 16)), word(immediate(ori, rt, rt, value))]


def load_address(rt: int, label: Label) -> list[Item]:
    """The address of a label into `rt`: lui and ori."""
    lui, ori = IMMEDIATES["lui"], IMMEDIATES["ori"]
    return [
        Instruction(4, lambda _: immediate(lui, rt, 0, label.address >> 16)),
        Instruction(4, lambda _: immediate(ori, rt, rt, label.address)),
    ]


def branch(base: int, target: Label) -> Instruction:
    """A branch to a label at most 128 KiB away; `base` has its operands."""
    return Instruction(4, lambda pc: base | (target.address - pc - 4) >> 2 & 0xFFFF)


def equal_branch(name: str, rs: int, rt: int) -> int:
    return EQUALS[name] << 26 | rs << 21 | rt << 16


def jump(opcode: int, target: Label) -> Instruction:
    """A j or jal to a label in the same 256 MiB."""
    return Instruction(4, lambda _: opcode << 26 | target.address >> 2 & 0x03FFFFFF)


def has_delay_slot(encoding: int) -> bool:
    """True for branches and jumps."""
    opcode = encoding >> 26
    if opcode == 0:
        return encoding & 0x3F in (JR, JALR)
    if opcode == 1:
        return encoding >> 16 & 0x1F in (0, 1, 2, 3, 16, 17, 18, 19)
    return opcode in (2, 3, 4, 5, 6, 7, 20, 21, 22, 23)
