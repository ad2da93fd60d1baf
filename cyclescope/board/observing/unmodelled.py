"""Registers without a model that a firmware used, and whether that matters for its time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from cyclescope.board.description.devicetree import Node, Property
from cyclescope.board.description.overrides import ORIGIN
from cyclescope.errors import UsageError

UNMAPPED = "cyclescope,unmapped"
UNNAMED = "unmapped"
_WORDS = ("fault", "warn")
# So often, nobody reads a register that he does not wait for: nothing changes it.
_MANY_READS = 16
# What vendors call their blocks of clocks, power and flash timing.
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

    `device` is the label of its peripheral ("unmapped" where the board has nothing), `name` the
    register's own if the board tells it; `offset` in bytes counts from the peripheral's beginning,
    or from that of the gap. `most_reads_in_a_row` counts loads with no store to it
    between them: all of them gave the same. `places` are the first instructions that accessed it,
    with function and line; there are none if only a DMA engine did.
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
        """Whether the firmware read it again and again: in hardware, it would have changed."""
        return self.most_reads_in_a_row >= _MANY_READS

    @property
    def effect_on_time(self) -> str:
        """Whether a model would change the simulated time, in words, by what the firmware did.

        What an access itself takes on the bus is part of the time in any case.
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
    """Have a board answer accesses where nothing is ("warn"), or not ("fault").

    None leaves it to the board. Raises `UsageError` for another word.
    """
    if choice is None:
        return
    if choice not in _WORDS:
        raise UsageError(f"unmapped is {choice!r}; it is one of {', '.join(_WORDS)}")
    value = choice.encode() + b"\0"
    root.props[UNMAPPED] = Property(UNMAPPED, value, "strings", ORIGIN, 0)
