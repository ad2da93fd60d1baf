"""Random programs on the engine's Cortex-M4 and on Unicorn's.

Unicorn has no system control space: a page of memory stands for it, so that programs can write
there. Its floating-point unit is always on.
"""

from __future__ import annotations

import arm_choices as choices
import arm_harness
import arm_reference as reference
import elf32
import harness
import numpy as np
import unicorn
from arm_programs import Program
from unicorn import arm_const as arm

from cyclescope import _engine

BOARD = "minimal-armv7m"
SYSTEM_CONTROL, PAGE = 0xE000E000, 0x1000
# After reset; Unicorn has 0.
RESET_LR = 0xFFFFFFFF
# Memory where the programs are.
MEMORY = """
/ {
	ram: memory@80000000 {
		device_type = "memory";
		reg = <0x80000000 0x00100000>;
		clocks = <&sys_clk>;
		cyclescope,first-word-cycles = <0>;
		cyclescope,beat-cycles = <0>;
		cyclescope,beat-bytes = <4>;
		cyclescope,sources =
			"cyclescope,first-word-cycles, cyclescope,beat-cycles: chosen: for random programs";
	};
};
"""


def machine() -> unicorn.Uc:
    """Unicorn's core, and memory."""
    core = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
    core.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
    core.mem_map(arm_harness.RAM, arm_harness.RAM_BYTES)
    core.mem_map(SYSTEM_CONTROL, PAGE)
    core.reg_write(arm.UC_ARM_REG_LR, RESET_LR)
    return core


def reference_trace(program: Program) -> tuple[np.ndarray, bytes]:
    """As `arm_harness.reference_trace`."""
    core = machine()
    core.mem_write(choices.CODE, program.code)
    core.mem_write(choices.DATA, program.data)
    status = arm.UC_ARM_REG_XPSR
    states = reference.trace(core, program.start | 1, program.end, arm_harness.MOST, status)
    return states, bytes(core.mem_read(choices.DATA, choices.DATA_BYTES))


def loaded(program: Program, board: str) -> _engine.Machine:
    """A machine with a random program."""
    machine = _engine.Machine(harness.tree(board, ()))
    segments = [elf32.Segment(choices.CODE, program.code)]
    segments += [elf32.Segment(choices.DATA, program.data)]
    elf = elf32.executable(*segments, entry=program.start | 1, machine=elf32.EM_ARM)
    machine.load(elf, "random program")
    return machine


def compare(program: Program, board: str) -> int:
    """Runs the program on both; gives the number of instructions."""
    return arm_harness.compare_machine(program, loaded(program, board), *reference_trace(program))
