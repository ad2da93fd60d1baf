"""Prints LLVM's decoding of RISC-V encodings: the numbers that the engine's decoder tests pin.

Run by hand when a table changes: `python tests/differential/llvm_decode.py` (needs llvm-mc, from
Debian's package llvm). The decoder tests compute the same numbers from the engine's own tables, so
they agree only if every text does.
"""

import re
import subprocess
from collections import Counter

PC = 0x80000000
ENCODING = re.compile(r"^\s*(\S+)\s*(.*?)\s*# encoding: \[(.*)\]$")
SHIFTS = ("slli", "srli", "srai", "c.slli", "c.srli", "c.srai")

EXPANSIONS = {
    "nop": "addi zero, zero, {0}",
    "addi4spn": "addi {0}, sp, {2}",
    "addi16sp": "addi sp, sp, {1}",
    "li": "addi {0}, zero, {1}",
    "lui": "lui {0}, {1}",
    "lw": "lw {0}, {1}",
    "lwsp": "lw {0}, {1}",
    "sw": "sw {0}, {1}",
    "swsp": "sw {0}, {1}",
    "j": "jal zero, {0}",
    "jal": "jal ra, {0}",
    "jr": "jalr zero, 0({0})",
    "jalr": "jalr ra, 0({0})",
    "beqz": "beq {0}, zero, {1}",
    "bnez": "bne {0}, zero, {1}",
    "mv": "add {0}, zero, {1}",
    "ebreak": "ebreak",
}


def wrongly_accepted(mnemonic: str, args: list[str]) -> bool:
    """Encodings that LLVM 14 wrongly accepts: shifts by 32 or more, c.lui and c.addi16sp of 0."""
    if mnemonic in SHIFTS:
        return int(args[-1]) > 31
    return mnemonic in ("c.lui", "c.addi16sp") and int(args[-1]) == 0


def disassemble(encodings: list[int], length: int) -> dict[int, tuple[str, list[str]]]:
    """Mnemonic and operands of each encoding that LLVM accepts and the manual does, too."""
    lines = (
        " ".join(f"{byte:#04x}" for byte in code.to_bytes(length, "little")) for code in encodings
    )
    command = [
        "llvm-mc",
        "-disassemble",
        "-triple=riscv32",
        "-mattr=+m,+c",
        "-M",
        "no-aliases",
        "-show-encoding",
    ]
    output = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=False
    ).stdout
    found = {}
    for line in filter(None, map(ENCODING.match, output.splitlines())):
        code = int.from_bytes(bytes(int(byte, 16) for byte in line[3].split(",")), "little")
        args = line[2].split(", ") if line[2] else []
        if line[1] != "c.unimp" and not wrongly_accepted(line[1], args):
            found[code] = (line[1], args)
    return found


def expand(mnemonic: str, args: list[str]) -> str:
    """The expansion of a compressed instruction, by the list in the C chapter."""
    base = mnemonic.removeprefix("c.")
    args = [*args, "0"] if base == "nop" or base.endswith("64") else list(args)
    if base in ("j", "jal", "beqz", "bnez"):
        args[-1] = f"{PC + int(args[-1]):#x}"
    if base == "lui":
        args[-1] = f"{int(args[-1]) & 0xFFFFF:#x}"
    arithmetic = base.removesuffix("64") + " {0}, {0}, {1}"
    return EXPANSIONS.get(base, arithmetic).format(*args)


def long_form(mnemonic: str, args: list[str]) -> str:
    """LLVM's text as the engine prints it: absolute targets, upper immediates in hex."""
    args = list(args)
    if mnemonic in ("beq", "bne", "blt", "bge", "bltu", "bgeu", "jal"):
        args[-1] = f"{(PC + int(args[-1])) & 0xFFFFFFFF:#x}"
    if mnemonic in ("lui", "auipc"):
        args[-1] = f"{int(args[-1]):#x}"
    return f"{mnemonic} {', '.join(args)}"


def mix(index: int) -> int:
    """SplitMix64 of `index`."""
    mask = (1 << 64) - 1
    z = (index * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    return z ^ z >> 31


def sample(index: int) -> int:
    """An encoding to try: an opcode without fields to be ignored, mostly a defined funct7."""
    opcodes = (0x37, 0x17, 0x6F, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33, 0x33)
    bits = mix(index)
    word = bits & 0xFFFFFF80 | opcodes[(bits >> 32) % 10]
    funct7 = (0x00, 0x20, 0x01, word >> 25)[(bits >> 40) % 4]
    return word & 0x01FFFFFF | funct7 << 25


def checksum(lines: list[str]) -> int:
    """FNV-1a, 64 bits, each line with its newline."""
    value = 0xCBF29CE484222325
    for byte in "".join(f"{line}\n" for line in lines).encode():
        value = ((value ^ byte) * 0x100000001B3) & ((1 << 64) - 1)
    return value


def main() -> None:
    halves = [half for half in range(0x10000) if half & 3 != 3]
    legal = disassemble(halves, 2)
    texts = [expand(*legal[half]) if half in legal else f".half {half:#06x}" for half in halves]
    print(f"16 bits: {len(legal)} legal, checksum {checksum(texts):#018x}")
    for mnemonic, count in sorted(
        Counter(text[0].removesuffix("64") for text in legal.values()).items()
    ):
        print(f'        ("{mnemonic}", {count}),')
    words = [sample(index) for index in range(100_000)]
    found = disassemble(words, 4)
    texts = [long_form(*found[word]) if word in found else f".word {word:#010x}" for word in words]
    print(
        f"32 bits: {sum(word in found for word in words)} legal, checksum {checksum(texts):#018x}"
    )


if __name__ == "__main__":
    main()
