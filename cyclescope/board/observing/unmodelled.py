"""Registers without a model that a firmware used, and their effect on its time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from cyclescope.board.description.devicetree import Node, Property
from cyclescope.board.description.overrides import ORIGIN
from cyclescope.errors import UsageError

UNMAPPED = "cyclescope,unmapped"
UNNAMED = "unmapped"
_WORDS = ("fault", "warn")
# Firmware that reads a register at least this often in a row waits for it to change.
_MANY_READS = 16
# Vendors' names of peripherals for clocks, power and flash timing.
_SETS_CLOCKS = (
    "rcc",
    "pmc",
    "cmu",
    "cgu",
    "crg",
    "ccm",
    "scg",
    "syscon",
    "sysctl",
    "sysctrl",
    "pll",
    "osc",
    "clk",
    "clock",
    "pwr",
    "power",
    "flash",
    "efc",
    "nvmctrl",
    "nvmc",
    "prcm",
    "mcg",
    "xosc",
    "rosc",
    "gclk",
    "oscctrl",
    "pm",
)


@dataclass(frozen=True)
class UnmodelledRegister:
    """A register without a model that the firmware used.

    `device` is the label of its peripheral ("unmapped" for an unmapped address), `name` the
    register's name if the board has it; `offset` in bytes counts from the start of the peripheral,
    or of the unmapped gap. `most_reads_in_a_row` is the largest number of loads with no store to
    the register between them: all of them returned the same value. `places` are the first
    instructions that accessed it, with function and line; empty if only a DMA engine did.
    """

    device: str
    name: str | None
    offset: int
    address: int
    reads: int
    writes: int
    most_reads_in_a_row: int
    first_ps: int
    places: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """The peripheral with the register's name, or with its offset."""
        if self.device == UNNAMED:
            return UNNAMED
        return f"{self.device}.{self.name}" if self.name else f"{self.device}+{self.offset:#x}"

    @property
    def is_waited_for(self) -> bool:
        """Whether the firmware polled the register: in hardware, it would have changed."""
        return self.most_reads_in_a_row >= _MANY_READS

    @property
    def effect_on_time(self) -> str:
        """Whether a model of the register would change the simulated time, in words.

        Judged by the firmware's accesses. The bus time of an access is simulated in any case.
        """
        if self.is_waited_for:
            return f"yes: {self.most_reads_in_a_row:,} loads in a row, a wait"
        if self.writes and self.device.lower().startswith(_SETS_CLOCKS):
            return "perhaps: clocks or wait states, by its name"
        return "no"

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self) | {"places": list(self.places), "effect_on_time": self.effect_on_time}


def set_unmapped(root: Node, choice: str | None) -> None:
    """Have a board answer accesses to unmapped addresses ("warn"), or raise bus faults ("fault").

    None keeps the board's own choice. Raises `UsageError` for another word.
    """
    if choice is None:
        return
    if choice not in _WORDS:
        raise UsageError(f"unmapped is {choice!r}: expected one of {', '.join(_WORDS)}")
    value = choice.encode() + b"\0"
    root.props[UNMAPPED] = Property(UNMAPPED, value, "strings", ORIGIN, 0)
