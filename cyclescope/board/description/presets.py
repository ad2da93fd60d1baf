"""Bits of registers that are set before `main`, as start-up code could set them: for what-ifs.

The run is halted at the start of `main`, the core itself stores to the device, and runs start from
a snapshot of that state. A program without `main` is halted at reset, on a Cortex-M after its first
instruction. So the effect of a register is measured without another build of the firmware. Later
stores of the firmware to the register take effect as usual.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cyclescope.board.board import Board
from cyclescope.board.debugger import Core
from cyclescope.errors import EngineError

MAIN = "main"

# A store of a word by a core: its two registers (value, address), and the instruction.
_T32 = ("r0", "r1", bytes.fromhex("0860"))  # str r0, [r1]
_A32 = ("r0", "r1", bytes.fromhex("000081e5"))
_RISCV = ("a0", "a1", bytes.fromhex("23a0a500"))  # sw a0, 0(a1)
_MIPS = ("r2", "r3", bytes.fromhex("000062ac"))  # sw v0, 0(v1)
_CPSR_T = 1 << 5
_STACK_POINTERS = {"r0": "sp", "a0": "sp", "r2": "r29"}
# Interrupts push less than this.
_BELOW = 256


@dataclass(frozen=True)
class Preset:
    """Bits of a 32-bit register: the bits in `mask` get their values in `bits`.

    `register` is the address of a device's register, or the name of one of the core's own.
    """

    register: int | str
    mask: int
    bits: int

    def value(self, before: int) -> int:
        """The register's value with these bits."""
        return before & ~self.mask | self.bits


def snapshot(board: Board, presets: Iterable[Preset], limit: str) -> bytes:
    """A snapshot at the start of `main` with registers set: for `start_from` of `Board.run`.

    Raises `EngineError` for a register that can't be set, and if `main` is not reached in `limit`
    of simulated time.
    """
    debugger = board.debug()
    if any(name == MAIN for _, _, name in board.functions(debugger.core.name)):
        halt = debugger.run(until=MAIN, limit=limit)
        if halt.reason != "break":
            raise EngineError(f"{MAIN} was not reached in {limit}")
    elif "xpsr" in debugger.core.regs:
        # a Cortex-M gets its stack pointer from the vector table with its first instruction
        debugger.core.step()
    core = debugger.core
    isa = next(one["isa"] for one in board.describe()["cores"] if one["name"] == core.name)
    for preset in presets:
        name = preset.register if isinstance(preset.register, str) else f"{preset.register:#010x}"
        try:
            _set(core, isa, preset)
        except KeyError:
            raise EngineError(f"{name}: the core has no such register") from None
        except EngineError as error:
            raise EngineError(f"{name}: can't be set before {MAIN}: {error}") from None
    return debugger.snapshot()


def _set(core: Core, isa: str, preset: Preset) -> None:
    if isinstance(preset.register, str):
        core.regs[preset.register] = preset.value(core.regs[preset.register])
        return
    before = core.mem.u32(preset.register)
    _store(core, _store_instruction(core, isa), preset.register, preset.value(before))


def _store_instruction(core: Core, isa: str) -> tuple[str, str, bytes]:
    """The instruction that stores a word in the core's current instruction set."""
    if isa.startswith("ARM"):
        is_thumb = "cpsr" not in core.regs or core.regs["cpsr"] & _CPSR_T
        return _T32 if is_thumb else _A32
    return _MIPS if isa.startswith("MIPS") else _RISCV


def _store(core: Core, how: tuple[str, str, bytes], addr: int, value: int) -> None:
    """Have the core store a word, and restore all other state.

    The instruction is written below the stack: the code at the PC may have been fetched already.
    Raises `EngineError` if no memory there can run code.
    """
    of_value, of_addr, instruction = how
    pc, kept = core.pc, {name: core.regs[name] for name in (of_value, of_addr)}
    place = core.regs[_STACK_POINTERS[of_value]] - _BELOW & ~15
    before = core.mem.read(place, len(instruction))
    core.mem.write(place, instruction)
    core.regs["pc"], core.regs[of_value], core.regs[of_addr] = place, value, addr
    core.step()
    is_done = core.pc & ~1 == place + len(instruction)
    core.mem.write(place, before)
    for name, number in kept.items():
        core.regs[name] = number
    core.regs["pc"] = pc
    if not is_done:
        raise EngineError(f"the core's store at {place:#010x} has failed")
