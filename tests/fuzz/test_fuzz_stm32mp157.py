"""The time of both cores of an STM32MP157 is accounted for in any program: no panic, no hang."""

from __future__ import annotations

import contextlib
import functools
import struct
from pathlib import Path
from typing import ClassVar

import elf32
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiers import sized

import cyclescope as package
from cyclescope import resources
from cyclescope.board.description import devicetree
from cyclescope.errors import EngineError

BOARD = "stm32mp157c-dk2-tty"
EXAMPLES = settings(
    max_examples=sized(8, 40), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
# The A7 runs from DDR; the M4's vectors are in RETRAM, its program in SRAM1.
A7_START, M4_START, VECTORS, STACK = 0xC000_0000, 0x1000_0000, 0x3800_0000, 0x1004_0000
# Rings and lists of DMA transfers, which devices read by themselves.
SHARED = 0x1005_0000
RCC, MDMA, VIRTIO = 0x5000_0000, 0x5800_0000, 0x5808_0000
QUANTUM_PS = 10**6
MP_GCR = RCC + 0x10C
ENABLES = (*range(RCC + 0x200, RCC + 0x221, 8), *range(RCC + 0xA00, RCC + 0xA39, 8))

Access = tuple[int, str, int, int]


class A32:
    """The A7's instructions."""

    accesses: ClassVar = {
        "ldr": 0xE590_1000,
        "str": 0xE580_1000,
        "ldrb": 0xE5D0_1000,
        "strb": 0xE5C0_1000,
    }
    word = "<I"
    # subs r2, r2, #1; bne back to it; b to itself; wfi
    delay, forever, wait = (0xE252_2001, 0x1AFF_FFFD), 0xEAFF_FFFE, 0xE320_F003

    @staticmethod
    def half(register: int, value: int, top: bool) -> list[int]:
        opcode = 0xE340_0000 if top else 0xE300_0000
        return [opcode | (value >> 12) << 16 | register << 12 | value & 0xFFF]


class T32:
    """The M4's."""

    accesses: ClassVar = {"ldr": 0x6801, "str": 0x6001, "ldrb": 0x7801, "strb": 0x7001}
    word = "<H"
    delay, forever, wait = (0x3A01, 0xD1FD), 0xE7FE, 0xBF30

    @staticmethod
    def half(register: int, value: int, top: bool) -> list[int]:
        first = (0xF2C0 if top else 0xF240) | (value >> 11 & 1) << 10 | value >> 12
        return [first, (value >> 8 & 7) << 12 | register << 8 | value & 0xFF]


def program(core: type[A32 | T32], accesses: list[Access], end: list[int]) -> bytes:
    """Accesses of r1 at r0, each followed by a pause that r2 counts."""
    code: list[int] = []
    for address, access, value, pause in accesses:
        for register, number in ((0, address), (1, value), (2, pause + 1)):
            for top in (False, True):
                code += core.half(register, number >> (16 if top else 0) & 0xFFFF, top)
        code += [core.accesses[access], *core.delay]
    return b"".join(struct.pack(core.word, word) for word in [*code, *end])


def both(a7: bytes, m4: bytes, shared: bytes = b"") -> bytes:
    """An ELF whose A7 finds the M4's program in its memory."""
    vectors = struct.pack("<16I", STACK, *[M4_START | 1] * 15)
    return elf32.executable(
        elf32.Segment(A7_START, a7),
        elf32.Segment(VECTORS, vectors),
        elf32.Segment(M4_START, m4),
        elf32.Segment(SHARED, shared),
        machine=elf32.EM_ARM,
        entry=A7_START,
    )


@functools.cache
def shipped() -> package.Board:
    return package.Board(BOARD)


def run(elf: bytes, limit_ps: int) -> None:
    """A program runs up to its end, a fault or a limit."""
    result = shipped().load(elf).run(limit=limit_ps)
    for core in result.cores:
        # one core may be ahead, by an instruction or a quantum
        assert abs(sum(entry.ps for entry in core.stack) - result.elapsed_ps) <= QUANTUM_PS


START_M4 = [(MP_GCR, "str", 1, 0)]
CLOCKS = [(enable, "str", 0xFFFF_FFFF, 0) for enable in ENABLES]


def registers() -> list[int]:
    """Addresses of registers of all devices, the first of each of their ranges."""
    entries = shipped().describe()["map"]
    devices = [entry for entry in entries if entry["kind"] == "device"]
    first = [
        entry["base"] + offset
        for entry in devices
        for offset in range(0, min(entry["size"], 0x150), 4)
    ]
    return first + [
        entry["base"] + offset for entry in devices for offset in range(0, entry["size"], 0x104)
    ]


REGISTERS = registers()
INSIDE_M4 = [0xE000_1000 + 4 * word for word in range(16)]
INSIDE_M4 += [0xE000_E000 + 4 * word for word in range(0x400)]
PLACES = [0, 0x1000_0100, SHARED, SHARED + 0x400, 0x3005_0000, 0xC000_1000, 0xDE00_0000]
VALUES = st.one_of(
    st.integers(0, 31).map(lambda bit: 1 << bit),
    st.integers(0, 2**32 - 1),
    st.sampled_from(PLACES),
)


def accesses_of(places: list[int]) -> st.SearchStrategy[list[Access]]:
    kinds = st.sampled_from(["ldr", "str", "str", "str", "ldrb", "strb"])
    return st.lists(
        st.tuples(st.sampled_from(places), kinds, VALUES, st.integers(0, 99)), max_size=40
    )


@EXAMPLES
@given(
    accesses_of(REGISTERS),
    accesses_of([*REGISTERS, *INSIDE_M4]),
    st.booleans(),
    st.sampled_from([0x11, 0x51, 0x91, 0xD1]),
)
def test_random_accesses_of_registers(
    a7: list[Access], m4: list[Access], wait: bool, mode: int
) -> None:
    # msr cpsr_c: interrupts and fast ones masked or not; then wfi or nop, again and again
    end = [0xE321_F000 | mode | 2, A32.wait if wait else 0xE320_F000, 0xEAFF_FFFD]
    code = program(A32, [*CLOCKS, *START_M4, *a7], end)
    run(both(code, program(T32, m4, [T32.wait, 0xE7FD])), 10**8)


@EXAMPLES
@given(
    st.lists(st.integers(0, 2**32 - 1), max_size=24),
    st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=24),
)
def test_random_instructions(a7: list[int], m4: list[int]) -> None:
    start = program(A32, START_M4, [*a7, A32.forever])
    run(both(start, struct.pack(f"<{len(m4)}I", *m4)), 10**7)


@EXAMPLES
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0xEE00_0F10, 0xEE10_0F10, 0xEC40_0F00, 0xEC50_0F00]),
            st.integers(0, 7),
            st.sampled_from([0, 1, 2, 3, 7, 8, 9, 10, 12, 13, 14, 15]),
            st.integers(0, 15),
            st.integers(0, 7),
            VALUES,
        ),
        max_size=20,
    )
)
def test_random_system_registers(moves: list[tuple[int, int, int, int, int, int]]) -> None:
    code: list[int] = []
    for opcode, opc1, crn, crm, opc2, value in moves:
        for top in (False, True):
            code += A32.half(1, value >> (16 if top else 0) & 0xFFFF, top)
        if opcode >> 24 == 0xEE:
            code.append(opcode | opc1 << 21 | crn << 16 | 1 << 12 | opc2 << 5 | crm)
        else:
            code.append(opcode | 2 << 16 | 1 << 12 | opc1 << 4 | (14 if crn > 9 else crm))
    run(both(struct.pack(f"<{len(code) + 2}I", *code, A32.wait, 0xEAFF_FFFD), b"\xfe\xe7"), 10**8)


@EXAMPLES
@given(st.data())
def test_random_dma_transfers(data: st.DataObject) -> None:
    """Onto themselves, onto registers, and lists that lead to themselves."""
    place = st.one_of(
        st.sampled_from([*PLACES, MDMA + 0x4C, MDMA + 0x40, VIRTIO + 0x50, RCC + 0x404]),
        st.sampled_from(REGISTERS),
    )
    small = st.integers(0, 40) | st.integers(0, 2**32 - 1)

    def node() -> list[int]:
        settings = 0x4000_0000 | data.draw(st.integers(0, 2**30 - 1))
        size = data.draw(st.integers(0, 0x800)) | data.draw(st.integers(0, 3)) << 18
        link = data.draw(st.sampled_from([0, SHARED, SHARED + 0x40, A7_START, RCC]))
        return [settings, size, data.draw(place), data.draw(place), data.draw(small), link, 0]

    accesses: list[Access] = []
    for channel in data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)):
        base = MDMA + 0x40 + 0x40 * channel
        accesses += [(base + 0x10 + 4 * at, "str", word, 0) for at, word in enumerate(node())]
        accesses += [(base + 0xC, "str", 0x3F, 0), (base + 0xC, "str", 0x1_003F, 99)]
    nodes = b"".join(struct.pack("<16I", *node(), *[0] * 9) for _ in range(2))
    code = program(A32, [*CLOCKS, *START_M4, *accesses], [A32.wait, 0xEAFF_FFFD])
    run(both(code, b"\x30\xbf\xfd\xe7", nodes), 10**8)


@EXAMPLES
@given(st.data())
def test_random_virtio_rings(data: st.DataObject) -> None:
    """Descriptors that lead to themselves, indices that jump, queues that change in use."""
    number = st.integers(0, 3) | st.integers(0, 2**16 - 1)
    length = st.integers(0, 64) | st.integers(0, 2**32 - 1)
    table = b"".join(
        struct.pack(
            "<QIHH",
            data.draw(st.sampled_from([*PLACES, 2**40])),
            data.draw(length),
            data.draw(st.integers(0, 3) | number),
            data.draw(number),
        )
        for _ in range(4)
    )
    ring = struct.pack("<6H", 0, *(data.draw(number) for _ in range(5)))
    shared = table.ljust(0x400, b"\0") + ring
    accesses = [
        (VIRTIO + at, "str", value, 0)
        for at, value in ((0x70, 3), (0x24, 1), (0x20, 1), (0x70, 11))
    ]
    for queue in (0, 1):
        used = SHARED + 0x800
        for at, value in (
            (0x30, queue),
            (0x38, 4),
            (0x80, SHARED),
            (0x90, SHARED + 0x400),
            (0xA0, used),
            (0x44, 1),
        ):
            accesses.append((VIRTIO + at, "str", value, 0))
    accesses.append((VIRTIO + 0x70, "str", 15, 0))
    offsets = st.sampled_from([0x30, 0x38, 0x44, 0x50, 0x50, 0x64, 0x70, 0x80, 0x90, 0xA0])
    for at, value in data.draw(st.lists(st.tuples(offsets, number), max_size=20)):
        accesses.append((VIRTIO + at, "str", value, 9))
        index = data.draw(number)
        accesses.append((SHARED + 0x400, "str", index << 16, 0))
    run(both(program(A32, accesses, [A32.forever]), b"\xfe\xe7", shared), 10**8)


SHIPPED = (resources.boards() / f"{BOARD}.dts").resolve()
NODES = [node for node in devicetree.parse(SHIPPED).walk() if node.labels and node.props]


@EXAMPLES
@given(st.data())
def test_boards_with_odd_values(tmp_path: Path, data: st.DataObject) -> None:
    """They are refused, or their cores run."""
    labels = sorted(f"&{node.labels[0]}" for node in NODES)
    source = f'/dts-v1/;\n/include/ "{SHIPPED}"\n'
    for _ in range(data.draw(st.integers(1, 3))):
        node = data.draw(st.sampled_from(NODES))
        name = data.draw(st.sampled_from(sorted(node.props)))
        numbers = st.one_of(st.integers(0, 300), st.integers(0, 2**32 - 1)).map(hex)
        cells = data.draw(st.lists(numbers | st.sampled_from(labels), max_size=7))
        value = f"<{' '.join(cells)}>" if cells else '""'
        removed = f"/delete-property/ {name};"
        change = data.draw(st.sampled_from([removed, f"{name} = {value};", f"{name} = {value};"]))
        source += f"&{node.labels[0]} {{ {change} }};\n"
    path = tmp_path / "board.dts"
    path.write_text(source)
    devices = [(address, "ldr", 0, 0) for address in REGISTERS[::40]]
    elf = both(
        program(A32, [*CLOCKS, *START_M4, *devices], [A32.forever]),
        program(T32, devices, [T32.wait, 0xE7FD]),
    )
    with contextlib.suppress(EngineError):
        # a core may be so slow that its first instruction ends long after the limit
        package.Board(path).load(elf).run(limit=10**7)


def test_a_core_that_holds_itself_in_reset_ends_the_run(tmp_path: Path) -> None:
    """No core runs then: the run ends after the devices' last action."""
    path = tmp_path / "board.dts"
    path.write_text(f'/dts-v1/;\n/include/ "{SHIPPED}"\n&rcc {{ st,mcu = <&cpu0>; }};\n')
    uart = 0x4001_0000
    sends: list[Access] = [
        (uart + at, "str", value, 0) for at, value in ((0xC, 556), (0, 9), (0x28, 0x61))
    ]
    code = program(A32, [*CLOCKS, *sends, (RCC + 0x404, "str", 2, 0)], [A32.forever])
    result = package.Board(path).load(both(code, b"\xfe\xe7")).run(limit="1s")
    assert (result.outcome, result.console) == ("asleep", "a")
    limited = package.Board(path).load(both(code, b"\xfe\xe7")).run(limit="50us")
    assert limited.outcome == "limit"
