"""Random programs: on all boards, on all their cores, at registers more than anywhere else."""

from __future__ import annotations

import struct
from random import Random

import elf32

from fuzz import boards, code_arm_a, code_arm_m, code_mips, code_riscv, running
from fuzz.boards import Facts
from fuzz.inputs import Input, corpus
from fuzz.program import Program

_MAKERS = {
    "kc705-axi-quad-spi": code_riscv.program,
    "minimal-rv32": code_riscv.program,
    "nios2-mmc": code_riscv.program,
    "picosoc-hx8k": code_riscv.program,
    "picosoc-icebreaker": code_riscv.program,
    "minimal-armv7a": code_arm_a.program,
    "sama5d2-xplained": code_arm_a.program,
    "stm32mp157c-dk2": code_arm_a.program_with_m4,
    "stm32mp157c-dk2-lm75": code_arm_a.program_with_m4,
    "stm32mp157c-dk2-nor": code_arm_a.program_with_m4,
    "stm32mp157c-dk2-rf231": code_arm_a.program_with_m4,
    "stm32mp157c-dk2-tty": code_arm_a.program_with_m4,
    "minimal-armv7m": code_arm_m.program,
    "nucleo-f411re": code_arm_m.program,
    "nucleo-f411re-sensors": code_arm_m.program,
    "nucleo-l4r5zi": code_arm_m.program,
    "nucleo-l4r5zi-n25q128a": code_arm_m.program,
    "nucleo-l4r5zi-sensors": code_arm_m.program,
    "stm32f4-disco": code_arm_m.program,
    "ben-nanonote": code_mips.program,
    "ben-nanonote-ssi": code_mips.program,
    "minimal-mips32": code_mips.program,
}
_MUTATED = 0.25
# Small boards take a tenth of a large one's time; two cores take the most.
_SHARES = {"minimal-rv32": 4, "minimal-armv7a": 6, "minimal-armv7m": 6, "minimal-mips32": 4}
_SHARES |= {"stm32mp157c-dk2": 0.4, "stm32mp157c-dk2-lm75": 0.2, "stm32mp157c-dk2-tty": 0.4}
_SHARES |= {"stm32mp157c-dk2-nor": 0.2, "stm32mp157c-dk2-rf231": 0.2}
_TWO_CORES_LONGEST_PS = 2 * 10**7


class Code:
    """A program for a board: segments, an entry, a machine's number in the ELF."""

    name = "code"

    def __init__(self) -> None:
        self._seeds = corpus(self.name)

    def make(self, seed: str) -> Input:
        """A fresh program, or one of the corpus with words changed."""
        random = Random(seed)
        if self._seeds and random.random() < _MUTATED:
            return _mutated(random, random.choice(self._seeds))
        shares = [_SHARES.get(name, 2) for name in boards.NAMES]
        (board,) = random.choices(boards.NAMES, shares)
        facts = boards.facts(board)
        made: Program = _MAKERS.get(board, code_riscv.program)(random, facts)
        return {
            "target": self.name,
            "board": board,
            "machine": made.machine,
            "entry": made.entry,
            "segments": [[base, bytes(data)] for base, data in made.segments],
            **_options(random, facts),
        }

    def run(self, made: Input) -> str:
        """Its end."""
        segments = [elf32.Segment(base, data) for base, data in made["segments"]]
        elf = elf32.executable(*segments, machine=made["machine"], entry=made["entry"])
        if made.get("whole"):
            return running.run_whole(made["board"], elf, made)
        return running.run_elf(boards.machine(made["board"]), elf, made)


def _options(random: Random, facts: Facts) -> Input:
    made = running.options(random)
    if facts.cores > 1 and random.random() < 0.95:
        made["limit_ps"] = min(made["limit_ps"], _TWO_CORES_LONGEST_PS)
    return made


def _mutated(random: Random, seed: Input) -> Input:
    """Some instructions changed, or words of data; other options."""
    segments = [[base, bytearray(data)] for base, data in seed["segments"]]
    facts = boards.facts(seed["board"])
    for _ in range(random.randrange(1, 6)):
        _, data = random.choice(segments)
        if len(data) >= 4:
            _change(random, facts, data)
    kept = {key: seed[key] for key in ("target", "board", "machine", "entry")}
    data = [[base, bytes(changed)] for base, changed in segments]
    return {**kept, "segments": data, **_options(random, facts)}


def _change(random: Random, facts: Facts, data: bytearray) -> None:
    at = random.randrange(len(data) - 3) & ~1
    other = random.randrange(len(data) - 3) & ~1
    match random.randrange(6):
        case 0:
            data[at + random.randrange(4)] ^= 1 << random.randrange(8)
        case 1:
            struct.pack_into("<I", data, at, boards.value(random, facts))
        case 2:
            struct.pack_into("<H", data, at, random.getrandbits(16))
        case 3:
            data[at : at + 4] = data[other : other + 4]
        case 4:
            del data[at : at + random.choice((2, 4, 8))]
        case _:
            data[at:at] = data[other : other + random.choice((2, 4, 16))]
