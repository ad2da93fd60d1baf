"""Many small random programs in one image, run compiled at once, and an instruction at a time."""

from __future__ import annotations

import hashlib
import struct
import time
from collections.abc import Callable
from random import Random

import elf32

from cyclescope._engine import EngineError, Machine
from fuzz import boards, many, many_arm_a, many_arm_m, many_mips, many_riscv
from fuzz.boards import Facts
from fuzz.inputs import Input, MisbehaviourError
from fuzz.many import Image, Small
from fuzz.ways import Seen

MAKERS: dict[str, Callable[[Random, Facts, int], Image]] = {
    "minimal-armv7m": many_arm_m.image,
    "nucleo-f411re": many_arm_m.image,
    "nucleo-f411re-sensors": many_arm_m.image,
    "nucleo-l4r5zi": many_arm_m.image,
    "nucleo-l4r5zi-n25q128a": many_arm_m.image,
    "nucleo-l4r5zi-sensors": many_arm_m.image,
    "stm32f4-disco": many_arm_m.image,
    "minimal-armv7a": many_arm_a.image,
    "sama5d2-xplained": many_arm_a.image,
    "stm32mp157c-dk2": many_arm_a.image,
    "stm32mp157c-dk2-lm75": many_arm_a.image,
    "stm32mp157c-dk2-nor": many_arm_a.image,
    "stm32mp157c-dk2-rf231": many_arm_a.image,
    "stm32mp157c-dk2-tty": many_arm_a.image,
    "minimal-rv32": many_riscv.image,
    "kc705-axi-quad-spi": many_riscv.image,
    "nios2-mmc": many_riscv.image,
    "picosoc-hx8k": many_riscv.image,
    "picosoc-icebreaker": many_riscv.image,
    "ben-nanonote": many_mips.image,
    "ben-nanonote-rf230": many_mips.image,
    "ben-nanonote-ssi": many_mips.image,
    "minimal-mips32": many_mips.image,
}
"""By board."""

# Boards that differ only in the chips on their wires have a smaller weight each.
_SHARES = {name: 0.4 for name in MAKERS if name.startswith(("nucleo-l4r5zi", "stm32mp157c"))}
_SHARES |= {name: 0.5 for name in MAKERS if name.startswith(("nucleo-f411re", "ben-nanonote"))}
# Programs of an image; the share of images whose code is compiled after one run, else after two.
_COUNT, _EARLIEST = 512, 0.03
# Bytes that are compared of each memory, from its start.
_SEEN_BYTES = 0x1_0000
# Instructions at a time, and how many at the end are run in blocks.
_TRACED, _LAST = 1 << 11, 16
# If fewer were run, the harness itself is damaged more often than not.
_LEAST = 8
# The time limit for reducing a finding.
_REDUCE_S = 5.0


class Many:
    """An image of programs. Each has to do the same when it is run in two ways.

    A program that ends its run is the last of its machine; those after it run on another one.
    """

    name = "many"

    def make(self, seed: str) -> Input:
        """A fresh image."""
        random = Random(seed)
        shares = [_SHARES.get(name, 1) for name in MAKERS]
        (board,) = random.choices(list(MAKERS), shares)
        image = MAKERS[board](random, boards.facts(board), _COUNT)
        return {
            "target": self.name,
            "board": board,
            "machine": image.machine,
            "entry": image.entry,
            "table": image.table,
            "progress": image.progress,
            "nop": image.nop,
            "tail": image.tail,
            "cycles": image.cycles,
            "segments": [[base, bytes(data)] for base, data in image.segments],
            "compile_after": 1 if random.random() < _EARLIEST else 2,
            "programs": [small.packed() for small in image.programs],
        }

    def run(self, made: Input) -> tuple[str, int]:
        """Its end, and how many programs were run."""
        programs, ran = made["programs"], 0
        while True:
            now = made | {"programs": programs[ran:]}
            compiled = _compiled(now)
            if compiled is None:
                return "refused", ran
            found = _difference(stepped(now, compiled), compiled)
            if found:
                which = _blamed(now, compiled)
                raise MisbehaviourError(f"{made['board']}, {which}: {found}")
            done = compiled["programs"]
            ran += done
            if done < _LEAST or ran >= len(programs):
                return str(compiled["outcome"]), ran

    def reduced(self, made: Input) -> Input:
        """The input with only those programs that make it fail."""
        return many.reduced(made, self._fails, time.process_time() + _REDUCE_S)

    def _fails(self, made: Input) -> bool:
        try:
            self.run(made)
        except MisbehaviourError:
            return True
        return False


def _machine(made: Input, compile_after: int) -> Machine | None:
    fresh = boards.machine(made["board"])
    programs = [Small(*packed) for packed in made["programs"]]
    segments = [(base, data) for base, data in made["segments"]]
    segments += [(made["table"], many.table(programs)), *many.code_segments(programs)]
    elf = elf32.executable(
        *(elf32.Segment(base, data) for base, data in segments),
        machine=made["machine"],
        entry=made["entry"],
    )
    try:
        fresh.load(elf, "firmware")
    except EngineError:
        return None
    fresh.compile_after(compile_after)
    fresh.skip_polling(False)
    return fresh


def _limit_ps(made: Input) -> int:
    facts = boards.facts(made["board"])
    return (len(made["programs"]) + 20) * made["cycles"] * facts.cycle_ps


def _seen(made: Input, machine: Machine) -> Seen:
    """The whole state of a run that continues up to its end, for comparisons."""
    report = machine.run(_limit_ps(made), None)
    keys = ("cycles", "instructions", "stack", "counters", "mispredictions")
    digest = hashlib.blake2b()
    for base, size in boards.facts(made["board"]).memories:
        digest.update(machine.read_memory(base, min(size, _SEEN_BYTES)))
    ended = {key: report.get(key) for key in ("outcome", "code", "message", "elapsed_ps")}
    return ended | {
        "programs": _programs(made, machine),
        "cores": [{key: core.get(key) for key in keys} for core in report["cores"]],
        "registers": machine.registers(),
        "memory": digest.hexdigest(),
    }


def _programs(made: Input, machine: Machine) -> int:
    """The number of programs that were started."""
    (place,) = struct.unpack("<I", machine.read_memory(made["progress"], 4))
    number, rest = divmod(place - made["table"], many.ENTRY_BYTES)
    count = len(made["programs"])
    # one has written there, perhaps
    return min(number + 1, count) if 0 <= number <= count and not rest else 0


def _blamed(made: Input, compiled: Seen) -> str:
    """The way whose result differs from that of uncompiled blocks."""
    return "compiled" if _difference(_in_blocks(made), compiled) else "stepped"


def _difference(one: Seen | None, other: Seen | None) -> str:
    """The difference in a line; empty without a difference."""
    if one is None or other is None:
        return "" if one is other else "one is refused"
    keys = [key for key in one if one[key] != other[key]]
    cores = zip(one["cores"], other["cores"], strict=True)
    inner = [key for core, its in cores for key in core if core[key] != its[key]]
    counts = "; ".join(
        f"{key} {core[key]} and {its[key]}"
        for core, its in zip(one["cores"], other["cores"], strict=True)
        for key in ("cycles", "instructions")
        if core[key] != its[key]
    )
    return f"{', '.join([*keys, *inner])} differ ({counts})" if keys else ""


def _compiled(made: Input) -> Seen | None:
    machine = _machine(made, made["compile_after"])
    return None if machine is None else _seen(made, machine)


def _in_blocks(made: Input) -> Seen | None:
    machine = _machine(made, 0)
    return None if machine is None else _seen(made, machine)


def stepped(made: Input, compiled: Seen) -> Seen | None:
    """An instruction at a time, without blocks, up to the last few."""
    machine = _machine(made, 0)
    if machine is None:
        return None
    left = compiled["cores"][0]["instructions"] - _LAST
    while left > 0:
        machine.trace(min(left, _TRACED))
        left -= _TRACED
    return _seen(made, machine)
