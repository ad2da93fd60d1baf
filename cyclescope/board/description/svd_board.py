"""A board file from a chip's CMSIS-SVD file: the core, memories, and stubs for peripherals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from cyclescope.board.description.svd import STUB, Chip, Core, Peripheral, Range, named_in
from cyclescope.errors import UsageError
from cyclescope.units import format_hz

# The Cortex-M core that has a model.
MODELLED = "CM4"
_CORTEX_M = re.compile(r"^CM\d+")
_MOST_INTERRUPTS = 240
_PRIORITY_BITS = range(3, 9)


@dataclass(frozen=True)
class Memory:
    """A memory of the chip; `name` is its label."""

    name: str
    base: int
    size_bytes: int


def board_source(chip: Chip, clock_hz: int, memories: tuple[Memory, ...]) -> str:
    """The .dts of a chip whose core and memories run at one clock.

    Raises `UsageError` for a core without a model, for missing memories and for overlapping ones.
    """
    core = chip.core
    if core is None or not _CORTEX_M.match(core.name):
        found = core.name if core else "not named in the file"
        raise UsageError(f"{chip.name}: the core is {found}: new-board supports only a Cortex-M")
    _check(memories)
    lines = [
        *_head(chip.name, clock_hz),
        *_core(core),
        *(line for memory in memories for line in _memory(memory)),
        *_systick(),
    ]
    taken = [(memory.base, memory.base + memory.size_bytes) for memory in memories]
    for peripheral in chip.peripherals:
        lines += _stub(peripheral, taken)
    return "\n".join([*lines, "};", ""])


def _check(memories: tuple[Memory, ...]) -> None:
    if not memories:
        raise UsageError(
            "a board needs memory: give --memory NAME=ADDRESS:SIZE, such as ram=0x20000000:128Ki"
        )
    by_address = sorted(memories, key=lambda memory: memory.base)
    for one, other in pairwise(by_address):
        if one.base + one.size_bytes > other.base:
            raise UsageError(f"the memories {one.name} and {other.name} overlap")


def _head(name: str, clock_hz: int) -> Iterator[str]:
    yield "/*"
    yield f" * {name}, from its CMSIS-SVD file: peripherals keep what is stored in them,"
    yield " * and do nothing. Bits that firmware waits for can be set in their registers, as in"
    yield ' * "CR 0x0 reset 0x83 ones 0x02000000". Memories answer without wait states.'
    yield " */"
    yield "/dts-v1/;"
    yield ""
    yield "/ {"
    yield f'\tmodel = "{name}";'
    yield f'\tcompatible = "cyclescope,{_word(name)}";'
    yield "\t#address-cells = <1>;"
    yield "\t#size-cells = <1>;"
    yield "\t/* Accesses to unmapped addresses are answered with 0, and reported at the end. */"
    yield '\tcyclescope,unmapped = "warn";'
    yield ""
    yield f"\t/* {format_hz(clock_hz)}, whatever firmware sets. */"
    yield "\tsys_clk: clock-sys {"
    yield '\t\tcompatible = "fixed-clock";'
    yield "\t\t#clock-cells = <0>;"
    yield f"\t\tclock-frequency = <{clock_hz}>;"
    yield "\t};"
    yield ""


def _core(core: Core) -> Iterator[str]:
    bits = min(max(core.priority_bits, _PRIORITY_BITS[0]), _PRIORITY_BITS[-1])
    interrupts = min(max(core.interrupts, 1), _MOST_INTERRUPTS)
    yield "\tcpus {"
    yield "\t\t#address-cells = <1>;"
    yield "\t\t#size-cells = <0>;"
    yield ""
    yield "\t\tcpu0: cpu@0 {"
    yield '\t\t\t/include/ "cortex-m4.dtsi"'
    yield "\t\t\treg = <0>;"
    yield "\t\t\tclocks = <&sys_clk>;"
    yield f"\t\t\tcyclescope,external-interrupts = <{interrupts}>;"
    yield f"\t\t\tcyclescope,priority-bits = <{bits}>;"
    yield ""
    yield "\t\t\tnvic: interrupt-controller {"
    yield '\t\t\t\tcompatible = "arm,armv7m-nvic";'
    yield "\t\t\t\tinterrupt-controller;"
    yield "\t\t\t\t#interrupt-cells = <1>;"
    yield "\t\t\t\t#address-cells = <0>;"
    yield "\t\t\t};"
    yield "\t\t};"
    yield "\t};"


def _memory(memory: Memory) -> Iterator[str]:
    yield ""
    yield f"\t{memory.name}: memory@{memory.base:x} {{"
    yield '\t\tdevice_type = "memory";'
    yield f"\t\treg = <{memory.base:#010x} {memory.size_bytes:#x}>;"
    yield "\t\tclocks = <&sys_clk>;"
    yield "\t\tcyclescope,first-word-cycles = <0>;"
    yield "\t\tcyclescope,beat-cycles = <0>;"
    yield "\t\tcyclescope,beat-bytes = <4>;"
    yield "\t\tcyclescope,sources ="
    yield (
        '\t\t\t"cyclescope,first-word-cycles, cyclescope,beat-cycles: assumed 0 to 8: '
        "no wait states; the chip's manual has the flash's\";"
    )
    yield "\t};"


def _systick() -> Iterator[str]:
    yield ""
    yield "\tsystick: timer@e000e010 {"
    yield '\t\tcompatible = "arm,armv7m-systick";'
    yield "\t\treg = <0xe000e010 0x10>;"
    yield "\t\tclocks = <&sys_clk>;"
    yield "\t\tinterrupt-parent = <&nvic>;"
    yield "\t\tinterrupts = <255>;"
    yield "\t};"


def _stub(peripheral: Peripheral, taken: list[Range]) -> Iterator[str]:
    """The node of a peripheral, unless its addresses are taken; adds its addresses to `taken`."""
    ranges = peripheral.ranges
    if any(begin < other[1] and other[0] < end for begin, end in ranges for other in taken):
        yield ""
        yield f"\t/* {peripheral.name} at {ranges[0][0]:#010x}: other nodes have its addresses. */"
        return
    taken += ranges
    cells = " ".join(f"{begin:#010x} {end - begin:#x}" for begin, end in ranges)
    yield ""
    yield f"\t{_word(peripheral.name)}: {peripheral.name.lower()}@{ranges[0][0]:x} {{"
    yield f'\t\tcompatible = "{STUB}";'
    yield f"\t\treg = <{cells}>;"
    registers = list(named_in(peripheral, ranges[0]))
    if registers:
        yield "\t\tcyclescope,registers ="
        for register in registers[:-1]:
            yield f'\t\t\t"{register}",'
        yield f'\t\t\t"{registers[-1]}";'
    yield "\t};"


def _word(name: str) -> str:
    """A name in the form of a label."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII)
