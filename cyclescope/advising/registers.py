"""What firmware could enable: bits of registers that are set before `main`, and measured so.

For a part's core or flash interface, with the manual's section. Features that need more than a bit
(a data cache needs the MMU and its tables) are not here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cyclescope.advising.options import clock_hz, fastest_hz
from cyclescope.advising.whatifs import WhatIf
from cyclescope.board.description.devicetree import Node
from cyclescope.board.description.presets import Preset
from cyclescope.units import format_hz


@dataclass(frozen=True)
class Bits:
    """Bits to set: in a core's register by its name, or at an offset in a device's first range.

    `mask` also has the bits that are to be cleared.
    """

    register: str | int
    bits: int
    what: str
    takes: str
    how: str
    source: str
    mask: int | None = None


_NO_MMU = "nothing: instructions are cached without the MMU, too; written code is cleaned"
_ACR = "RM0090 / RM0383, Embedded flash memory interface, FLASH_ACR"
_L4_ACR = "RM0432, Embedded Flash memory (FLASH), FLASH_ACR"
_PREFETCH, _CODE, _DATA = 1 << 8, 1 << 9, 1 << 10
_REFETCH = "a little power"
_SCTLR_I, _SCTLR_Z = 1 << 12, 1 << 11

CORES: Mapping[str, Sequence[Bits]] = {
    name: (
        Bits(
            "sctlr",
            _SCTLR_I,
            "instruction cache on",
            _NO_MMU,
            "SCTLR.I = 1",
            f"{manual}, System Control Register",
        ),
        Bits(
            "sctlr",
            _SCTLR_Z,
            "branch prediction on",
            "nothing",
            "SCTLR.Z = 1",
            f"{manual}, System Control Register",
        ),
    )
    for name, manual in {
        "arm,cortex-a5": "Cortex-A5 TRM (DDI 0433)",
        "arm,cortex-a7": "Cortex-A7 MPCore TRM (DDI 0464)",
    }.items()
}


def _flash_access(source: str) -> Sequence[Bits]:
    on = "FLASH->ACR |= FLASH_ACR_"
    return (
        Bits(0, _PREFETCH, "prefetch on", _REFETCH, f"{on}PRFTEN", source),
        Bits(0, _CODE, "instruction cache on", _REFETCH, f"{on}ICEN", source),
        Bits(0, _DATA, "data cache on", _REFETCH, f"{on}DCEN", source),
        Bits(
            0,
            _PREFETCH | _CODE | _DATA,
            "prefetch and both caches on",
            _REFETCH,
            f"{on}PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN",
            source,
        ),
    )


# picosoc.v, spimemio: read modes by bits 22 (two lines or double rate), 21 (four lines), 20
# (continuous read) and 19 to 16 (dummy clocks).
_SPIMEMIO_MODE = 0x7F << 16
_SPIMEMIO = "PicoSoC README, SPI Flash Controller Config Register"

DEVICES: Mapping[str, Sequence[Bits]] = {
    "cyclescope,picosoc-spimemio": (
        Bits(
            0,
            0x48 << 16,
            "reads on two lines (DIO, 8 dummy clocks)",
            "a chip that has BBh with 8 dummy clocks",
            "reg_spictrl = (reg_spictrl & ~0x7f0000) | 0x480000",
            _SPIMEMIO,
            _SPIMEMIO_MODE,
        ),
        Bits(
            0,
            0x58 << 16,
            "reads on two lines, without commands (DIO, CRM, 8 dummy clocks)",
            "a chip that has BBh with 8 dummy clocks, and continuous reads",
            "reg_spictrl = (reg_spictrl & ~0x7f0000) | 0x580000",
            _SPIMEMIO,
            _SPIMEMIO_MODE,
        ),
    ),
    "st,stm32f4-flash-controller": _flash_access(_ACR),
    "st,stm32l4-flash-controller": _flash_access(_L4_ACR),
}

# SAMA5D2, QSPI Serial Clock Register: SCK is the clock of the bus divided by SCBR + 1.
_QSPI = "atmel,sama5d2-qspi"
_QSPI_SCR, _SCBR, _SCBR_PLACE = 0x20, 0xFF00, 8


def of_board(root: Node, description: Mapping[str, Any]) -> Iterator[WhatIf]:
    """What could be enabled: in the cores, and in devices at the addresses of the board."""
    bases = {entry["path"]: entry["base"] for entry in description["devices"]}
    for node in root.walk():
        for bits in (one for name in node.compatibles for one in CORES.get(name, ())):
            yield _set(bits, f"{node.handle}: {bits.what}", bits.register)
        base = bases.get(node.path)
        if base is None:
            continue
        for bits in (one for name in node.compatibles for one in DEVICES.get(name, ())):
            assert isinstance(bits.register, int)
            yield _set(bits, f"{node.handle}: {bits.what}", base + bits.register)
        if _QSPI in node.compatibles:
            yield from _faster_qspi(root, node, base)


def _set(bits: Bits, what: str, register: int | str) -> WhatIf:
    preset = Preset(register, bits.mask or bits.bits, bits.bits)
    return WhatIf(what, bits.takes, bits.how, bits.source, presets=(preset,))


def _faster_qspi(root: Node, node: Node, base: int) -> Iterator[WhatIf]:
    """The fastest clock that the chip allows."""
    hz, most_hz = clock_hz(root, node, 0), fastest_hz(node)
    if not hz or not most_hz:
        return
    divider = -(-hz // most_hz)
    preset = Preset(base + _QSPI_SCR, _SCBR, divider - 1 << _SCBR_PLACE)
    yield WhatIf(
        f"{node.handle}: SCK of {format_hz(hz // divider)}, the fastest that its chip allows",
        "timing that is met on the board",
        f"QSPI_SCR.SCBR = {divider - 1}",
        "SAMA5D2 datasheet (DS60001476), QSPI Serial Clock Register; the chip's spi-max-frequency",
        presets=(preset,),
    )
