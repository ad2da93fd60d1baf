"""Messages about firmware for the SAMA5D2 Xplained that does something wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest
from conftest import Command, Finished
from sama5d2 import BOARD, PROGRAMS, build

from cyclescope import firmware
from cyclescope.board.results import Value
from cyclescope.statuses import Status

# of the runtime's handlers: exit status 64 + the exception's number; the run ends in a reset
UNDEFINED, PREFETCH_ABORT, DATA_ABORT = 64, 66, 67
RESET_STATUS, LIMIT_STATUS, FAULT_STATUS = 1, 124, 125
NEAREST = "nothing is mapped there; nearest: qspi0 window 0x90000000-0x97ffffff"
CACHE: dict[str, Value] = {"cache": "on"}
FLASH: dict[str, Value] = {"memory": "qspi", "continuous_read": "off"}


def run(cyclescope: Command, name: str, settings: dict[str, Value], limit: str = "1s") -> Finished:
    return cyclescope("run", build(name, settings), "--board", BOARD, "--limit", limit)


def place(name: str) -> str:
    """Function, offset, file and line of the instruction that is marked in a program."""
    lines = (PROGRAMS / f"{name}.c").read_text().splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if text.endswith("/* here */"))
    return rf"\(main\+0x[0-9a-f]+, [^ ]*/{name}\.c:{line}\)"


@dataclass(frozen=True)
class Trap:
    """An exception: the runtime's output, and the text of the run's note after the place.

    With `at`, the address is outside the program, and the place is that of the link register.
    """

    program: str
    exit_status: int
    console: str
    note: str
    settings: dict[str, Value] = field(default_factory=dict)
    at: str = ""

    def __str__(self) -> str:
        return "-".join([self.program, *self.settings])

    def expected_note(self) -> str:
        taken = r" \(the firmware's trap handler took it\)"
        here = place(self.program)
        if self.at:
            note = rf"pc {self.at}: {re.escape(self.note)}; lr 0x00[0-9a-f]{{6}} {here}"
        else:
            note = rf"pc 0x00[0-9a-f]{{6}} {here}: {re.escape(self.note)}"
        return rf"(?m)^cyclescope: note: {note}{taken}$"


TRAPS = [
    Trap(
        "flash_disabled",
        PREFETCH_ABORT,
        "prefetch abort: external abort (IFSR 0x00001008) at pc 0xd0000000, IFAR 0xd0000000",
        "prefetch abort: instruction fetch at 0xd0000000: qspi0 window answered with an error",
        at="0xd0000000",
    ),
    Trap(
        "flash_in_spi_mode",
        PREFETCH_ABORT,
        "prefetch abort: external abort (IFSR 0x00001008) at pc 0xd0000000, IFAR 0xd0000000",
        "prefetch abort: instruction fetch at 0xd0000000: qspi0 window answered with an error",
        at="0xd0000000",
    ),
    Trap(
        "flash_erased",
        UNDEFINED,
        "undefined instruction at pc 0xd0000000",
        "undefined instruction 0xffffffff: this is the value of erased flash",
        at="0xd0000000",
    ),
    Trap(
        "run_nothing",
        PREFETCH_ABORT,
        "prefetch abort: external abort (IFSR 0x00000008) at pc 0x60000000, IFAR 0x60000000",
        f"prefetch abort: instruction fetch at 0x60000000: {NEAREST}",
        at="0x60000000",
    ),
    Trap(
        "run_nothing",
        PREFETCH_ABORT,
        "prefetch abort: translation fault, section (IFSR 0x00000005) at pc 0x60000000, "
        "IFAR 0x60000000",
        "prefetch abort: instruction fetch at 0x60000000: translation fault, section: "
        "the translation table has no entry for it",
        CACHE,
        at="0x60000000",
    ),
    Trap(
        "run_device",
        PREFETCH_ABORT,
        "prefetch abort: external abort (IFSR 0x00001008) at pc 0xf8020000",
        "prefetch abort: instruction fetch at 0xf8020000: uart1 answered with an error",
        at="0xf8020000",
    ),
    Trap(
        "run_device",
        PREFETCH_ABORT,
        "prefetch abort: permission fault, section (IFSR 0x0000000d) at pc 0xf8020000",
        "prefetch abort: instruction fetch at 0xf8020000: permission fault, section: "
        "its table entry allows no execution (XN), or no read in this mode (AP)",
        CACHE,
        at="0xf8020000",
    ),
    Trap(
        "read_of_nothing",
        DATA_ABORT,
        "data abort: external abort (DFSR 0x00000008, read)",
        f"data abort: 4-byte load at 0x60000000: {NEAREST}; the instruction: ldr r0, [r0]",
    ),
    Trap(
        "write_to_nothing",
        DATA_ABORT,
        "data abort: external abort (DFSR 0x00000808, write)",
        f"data abort: 4-byte store at 0x60000000: {NEAREST}; the instruction: str r1, [r0]",
    ),
    Trap(
        "read_of_nothing",
        DATA_ABORT,
        "data abort: translation fault, section (DFSR 0x00000005, read)",
        "data abort: 4-byte load at 0x60000000: translation fault, section: "
        "the translation table has no entry for it; the instruction: ldr r0, [r0]",
        CACHE,
    ),
    Trap(
        "write_to_flash",
        DATA_ABORT,
        "data abort: permission fault, section (DFSR 0x0000080d, write)",
        "data abort: 4-byte store at 0xd0001000: permission fault, section: "
        "its table entry allows no write in this mode (AP); the instruction: str r1, [r0]",
        CACHE,
    ),
    Trap(
        "undefined",
        UNDEFINED,
        "undefined instruction at pc",
        "undefined instruction 0xe7f000f0: udf, a trap that the program or its compiler put there; "
        "the instruction: udf #0",
    ),
    Trap(
        "neon",
        UNDEFINED,
        "undefined instruction at pc",
        "undefined instruction 0xf2200840: Advanced SIMD (NEON), which is not modelled; "
        "the instruction: vadd.i32 q0, q0, q0",
    ),
    Trap(
        "hardware_division",
        UNDEFINED,
        "undefined instruction at pc",
        "undefined instruction 0xe710f110: division, which this core does not have; "
        "the instruction: sdiv r0, r0, r1",
    ),
    Trap(
        "vfp_off",
        UNDEFINED,
        "undefined instruction at pc",
        "undefined instruction 0xee300a00: floating point, which CPACR or FPEXC disables; "
        "the instruction: vadd.f32 s0, s0, s0",
    ),
    Trap(
        "no_system_register",
        UNDEFINED,
        "undefined instruction at pc",
        "undefined instruction 0xeee10fb9: "
        "a system register that does not exist, or not in this mode; "
        "the instruction: mcr p15, #7, r0, c1, c9, #5",
    ),
]


@pytest.mark.parametrize("trap", TRAPS, ids=str)
def test_an_exception_has_place_address_and_cause(cyclescope: Command, trap: Trap) -> None:
    done = run(cyclescope, trap.program, trap.settings)
    assert done.status == RESET_STATUS
    assert done.stdout.startswith(f"\n{trap.console}")
    assert f"\nexit status {trap.exit_status}\n" in done.stdout
    assert re.search(trap.expected_note(), done.stderr), done.stderr


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("flash_disabled", "the controller is disabled (QSPI_CR.QSPIEN has not been written)"),
        ("flash_in_spi_mode", "the controller is in SPI mode (QSPI_MR.SMM is 0)"),
    ],
)
def test_the_controller_says_why_its_window_is_closed(
    cyclescope: Command, program: str, why: str
) -> None:
    done = run(cyclescope, program, {})
    said = f"qspi0: a read of the memory window is answered with an error: {why}"
    assert f"cyclescope: note: {said} (first at " in done.stderr


def test_a_word_at_an_odd_address_needs_normal_memory(cyclescope: Command) -> None:
    done = run(cyclescope, "odd_address", {})
    assert done.status == RESET_STATUS
    assert done.stdout.startswith("\ndata abort: alignment fault (DFSR 0x00000001, read)")
    cause = "alignment fault: all memory is strongly ordered while the MMU is off"
    note = rf"{place('odd_address')}: data abort: 4-byte load at 0x0020[0-9a-f]{{4}}: {cause}"
    assert re.search(note, done.stderr), done.stderr
    done = run(cyclescope, "odd_address", CACHE)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith("read 11223344\n")


def test_a_write_to_the_window_that_no_frame_takes_is_noted(cyclescope: Command) -> None:
    done = run(cyclescope, "write_to_flash", {})
    assert done.status == 0
    assert done.stdout.startswith("still ffffffff\n")
    note = "qspi0: a write to the memory window has no effect: QSPI_IFR.TFRTYP is a read"
    assert note in done.stderr


def test_frames_that_the_flash_does_not_understand_read_wrong_data(cyclescope: Command) -> None:
    done = run(cyclescope, "wrong_frames", FLASH)
    assert done.status == 0
    read = dict(line.split(": ") for line in done.stdout.splitlines()[:6])
    assert done.stdout.startswith("right: 600dda7a\nright: 600dda7a\n")
    # two clocks of four lines are a byte: the word begins with one that nobody drove
    assert read["two dummy clocks early"] == "0dda7aff"
    assert "600dda7a" not in (read["one late"], read["one line"], read["32 bits"])
    for said in (
        "8 dummy clocks, the chip expects 10",
        "11 dummy clocks, the chip expects 10",
        "address on 1 line(s), the chip uses 4",
        "12 dummy clocks, the chip expects 10",
    ):
        assert f"note: qspi0: flash0: command EBh: {said} (first at " in done.stderr


def test_a_flash_in_xip_mode_takes_no_command(cyclescope: Command) -> None:
    done = run(cyclescope, "command_in_xip_mode", {"memory": "qspi", "continuous_read": "on"})
    assert done.status == 0
    assert done.stdout.startswith("first: ffffffff, now: 600dda7a\n")
    said = "address (which comes first in continuous read, or XIP, mode) on 1 line(s)"
    assert f"note: qspi0: flash0: command EBh: {said}, the chip uses 4" in done.stderr


def test_code_that_is_read_wrong_ends_the_run(cyclescope: Command) -> None:
    done = run(cyclescope, "code_behind_wrong_frame", FLASH)
    assert done.status == FAULT_STATUS
    assert done.stdout.startswith("before\n")
    assert "note: qspi0: flash0: command EBh: 8 dummy clocks, the chip expects 10" in done.stderr
    # the meaning of the first wrong words, and so the end, depends on the code; so do handlers
    assert re.search(r"note: pc 0xd0[0-9a-f]{6} \(.*: undefined instruction 0x", done.stderr)
    assert re.match(r"cpu0: pc 0xd0[0-9a-f]{6} \(undefined_entry.*: undefined inst", done.error)
    assert done.error.endswith("; its handler raises it again and again")


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (
            "no_vectors",
            "the target of its exception vector (VBAR, SCTLR.V) can't be fetched",
        ),
        ("stuck_handler", "its handler is a branch to itself"),
    ],
)
def test_an_abort_without_a_handler_ends_the_run(
    cyclescope: Command, program: str, why: str
) -> None:
    done = run(cyclescope, program, {})
    assert done.status == FAULT_STATUS
    instruction = f"the instruction: ldr r0, [r0]; {why}; --unmapped warn goes on"
    what = f"data abort: 4-byte load at 0x60000000: {NEAREST}; {instruction}"
    expected = rf"cpu0: pc 0x00[0-9a-f]{{6}} {place(program)}: {re.escape(what)}"
    assert re.fullmatch(expected, done.error)


def test_a_sleep_that_nothing_can_end_is_found(cyclescope: Command) -> None:
    done = run(cyclescope, "sleep_forever", {})
    assert done.status == Status.ASLEEP
    assert done.error.startswith("cpu0 waits for an interrupt at pc 0x")
    assert "sleep_forever.c:" in done.error
    assert done.error.endswith("; nothing on the board is due to raise one")


@pytest.mark.parametrize(
    ("program", "did"), [("sleep_long", "waited for an interrupt at"), ("endless_loop", "was at")]
)
def test_at_the_limit_a_core_is_somewhere(cyclescope: Command, program: str, did: str) -> None:
    done = run(cyclescope, program, {}, limit="20ms")
    assert done.status == LIMIT_STATUS
    said = f"the limit of 20.000 ms simulated time is reached; cpu0 {did} pc 0x00"
    assert done.error.startswith(said)
    assert f"/{program}.c:" in done.error
    assert done.error.endswith(": raise it with --limit")


@pytest.mark.parametrize(
    ("built_for", "board", "said"),
    [
        (BOARD, "kc705-axi-quad-spi", "built for Arm; the board's core is RISC-V"),
        pytest.param(
            BOARD,
            "picosoc-hx8k",
            "built for Arm; the board's core is RISC-V",
            marks=pytest.mark.long,
        ),
        ("kc705-axi-quad-spi", BOARD, "built for RISC-V; the board's core is Arm"),
    ],
)
def test_a_program_for_another_core_is_refused(
    cyclescope: Command, built_for: str, board: str, said: str
) -> None:
    elf = firmware.build_app("hello", built_for, {})
    done = cyclescope("run", elf, "--board", board)
    assert done.status == Status.USAGE
    message, fits = done.error.split("; it fits ")
    assert message == f"{elf}: {said}"
    assert built_for in fits
