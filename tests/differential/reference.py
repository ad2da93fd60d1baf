"""Unicorn's RV32 core, read after each instruction.

The hook and the registers' addresses go straight to Unicorn's C interface: its Python wrapper takes
fifteen times as long for a full set of registers.
"""

from __future__ import annotations

import ctypes

import numpy as np
import unicorn
from unicorn import riscv_const as riscv
from unicorn.unicorn_py3 import unicorn as wrapper

# pc, x0 to x31: the order of the engine's trace.
REGISTERS = [riscv.UC_RISCV_REG_PC, *(riscv.UC_RISCV_REG_X0 + index for index in range(32))]
ROW_BYTES = 4 * len(REGISTERS)
ON_CODE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_void_p)


def machine(memory_base: int, memory_bytes: int) -> unicorn.Uc:
    """A core in machine mode with integer instructions only, and memory."""
    core = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
    core.ctl_set_cpu_model(riscv.UC_CPU_RISCV32_SIFIVE_E31)
    core.mem_map(memory_base, memory_bytes)
    return core


def trace(core: unicorn.Uc, begin: int, end: int, most: int) -> np.ndarray:
    """Runs from `begin` until `end`, `most` instructions at the most: registers before each.

    One row an instruction, and one for the state at the end.
    """
    rows = np.zeros((most + 1, len(REGISTERS)), dtype=np.uint32)
    identifiers = (ctypes.c_int * len(REGISTERS))(*REGISTERS)
    places = rows.ctypes.data + 4 * np.arange(len(REGISTERS), dtype=np.uint64)
    read = wrapper.uclib.uc_reg_read_batch
    read.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    arguments = (core._uch, ctypes.addressof(identifiers), places.ctypes.data, len(REGISTERS))

    def on_code(_core: int, _address: int, _size: int, _data: int) -> None:
        nonlocal places
        read(*arguments)
        places += ROW_BYTES

    callback, hook = ON_CODE(on_code), ctypes.c_size_t()
    status = wrapper.uclib.uc_hook_add(
        core._uch,
        ctypes.byref(hook),
        unicorn.UC_HOOK_CODE,
        ctypes.cast(callback, ctypes.c_void_p),
        None,
        ctypes.c_uint64(1),
        ctypes.c_uint64(0),
    )
    assert status == unicorn.UC_ERR_OK
    core.emu_start(begin, end, count=most)
    wrapper.uclib.uc_hook_del(core._uch, hook)
    read(*arguments)
    count = int(places[0] - rows.ctypes.data) // ROW_BYTES
    return rows[: count + 1]
