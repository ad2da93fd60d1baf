"""What a designer can choose about parts of a board, by the parts' compatibles and documents.

For a core in an FPGA its caches, for a controller its clock and its FIFOs: properties of the board
that are options of the part's generator. Properties of fixed silicon are not options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cyclescope.advising.whatifs import WhatIf
from cyclescope.board.description.devicetree import Node
from cyclescope.units import format_bytes, format_hz


@dataclass(frozen=True)
class CacheOptions:
    """The first-level caches that a core may be built with: direct-mapped ones."""

    most_bytes: int
    lines_bytes: Sequence[int]
    memory: str
    source: str


CACHES: Mapping[str, CacheOptions] = {
    "amd,mbv32": CacheOptions(
        64 << 10,
        (16, 32, 64),
        "block RAM",
        "UG1629 2026.1, General Instruction Cache Functionality: 64 bytes to 64 kB, lines of 4, 8 "
        "or 16 words",
    ),
    "intel,niosv": CacheOptions(
        16 << 10,
        (32,),
        "memory blocks",
        "Nios V Processor Reference Manual (683632), Instruction Cache, Data Cache: up to 16 KB, "
        "lines of 32 bytes",
    ),
}

_TIMES = (2, 4)
# Sizes of caches that the board lacks.
_NEW_BYTES = (4 << 10, 16 << 10)
_CACHES = {"i": "instruction cache", "d": "data cache"}
_POLICY = "cyclescope,d-cache-write-policy"
_NO_DMA = {"i": "", "d": "; DMA's buffers are flushed by hand"}


def caches(node: Node) -> Iterator[WhatIf]:
    """First-level caches, larger ones and ones with longer lines, of a configurable core."""
    options = next((CACHES[name] for name in node.compatibles if name in CACHES), None)
    if options is None:
        return
    for letter in _CACHES:
        size, line = (node.number(f"{letter}-cache-{what}") for what in ("size", "block-size"))
        if not size:
            yield from _new_caches(node, letter, options)
        elif line and node.number(f"{letter}-cache-sets") == size // line:
            yield from _other_caches(node, letter, options, size, line)


def _new_caches(node: Node, letter: str, options: CacheOptions) -> Iterator[WhatIf]:
    line = options.lines_bytes[0]
    path = f"{node.handle}.{letter}-cache-"
    for size in (one for one in _NEW_BYTES if one <= options.most_bytes):
        adds: dict[str, int | str] = {
            f"{path}size": size,
            f"{path}block-size": line,
            f"{path}sets": size // line,
        }
        if letter == "d" and _POLICY not in node.props:
            adds[f"{node.handle}.{_POLICY}"] = "write-back"
        yield WhatIf(
            f"{_CACHES[letter]} of {format_bytes(size)} instead of none",
            f"{format_bytes(size)} of {options.memory}{_NO_DMA[letter]}",
            f"{path}size = <{size}>, -block-size = <{line}>, -sets = <{size // line}>",
            options.source,
            adds=adds,
        )


def _other_caches(
    node: Node, letter: str, options: CacheOptions, size: int, line: int
) -> Iterator[WhatIf]:
    """The number of sets follows: these caches are direct-mapped."""
    path, name = f"{node.handle}.{letter}-cache-", _CACHES[letter]
    for more in (size * times for times in _TIMES if size * times <= options.most_bytes):
        yield WhatIf(
            f"{name} of {format_bytes(more)} instead of {format_bytes(size)}",
            f"{format_bytes(more - size)} more of {options.memory}",
            f"{path}size = <{more}>",
            options.source,
            {f"{path}size": str(more), f"{path}sets": str(more // line)},
        )
    for longer in (one for one in options.lines_bytes if line < one <= size):
        yield WhatIf(
            f"lines of {longer} bytes instead of {line} in the {name}",
            "longer refills",
            f"{path}block-size = <{longer}>",
            options.source,
            {f"{path}block-size": str(longer), f"{path}sets": str(size // longer)},
        )


# Index 0 in the clocks of an AXI Quad SPI: the wired EXT_SPI_CLK.
_CLOCK = "clock-frequency"


@dataclass(frozen=True)
class Option:
    """A property that a part's designer sets: `values` are worth a try on a node of a board.

    `default` is the value if a board leaves the property out. `what` has `{value}` and `{before}`
    in words.
    """

    property: str
    default: int
    values: Callable[[Node, Node], Sequence[int]]
    words: Callable[[int], str]
    what: str
    takes: str
    source: str


def _chip_clocks(root: Node, node: Node) -> list[int]:
    """Clocks of an SPI bus that all its chips still allow: the fastest and 3/4 of it."""
    most_hz = fastest_hz(node)
    return [most_hz * 3 // 4, most_hz] if most_hz else []


def fastest_hz(node: Node) -> int | None:
    """The fastest clock that all chips of an SPI bus allow; None if no chip states one."""
    limits = (chip.number("spi-max-frequency") for chip in node.children)
    return min(filter(None, limits), default=None)


def clock_hz(root: Node, node: Node, index: int) -> int:
    """The frequency of a node's clock, by its index; 0 if the board does not state it."""
    cells = node.cells("clocks")
    clocks = {one.phandle: one for one in root.walk() if one.phandle is not None}
    clock = clocks.get(cells[index]) if len(cells) > index else None
    return (clock.number("clock-frequency") if clock else None) or 0


def _external_hz(root: Node, node: Node) -> int:
    """The clock from which an AXI Quad SPI derives SCK, with the ratio as the divider."""
    return clock_hz(root, node, 1) // (
        node.number("xlnx,sck-ratio") or (2 if node.number("xlnx,spi-mode") else 16)
    )


def _one_of(*values: int) -> Callable[[Node, Node], Sequence[int]]:
    return lambda root, node: values


def _bauds(value: int) -> str:
    return f"{value:,} baud"


_FASTER_SERIAL = "a cable and a terminal program that are that fast"
OPTIONS: Mapping[str, Sequence[Option]] = {
    "xlnx,axi-quad-spi-1.00.a": (
        Option(
            _CLOCK,
            0,
            _chip_clocks,
            format_hz,
            "SCK of {value} instead of {before}",
            "EXT_SPI_CLK at twice that, and timing that is met on the board: XAPP586, "
            "Configuration Clock Calculation Example, has the sum",
            "the chips' spi-max-frequency",
        ),
        Option(
            "xlnx,fifo-depth",
            16,
            _one_of(256),
            str,
            "FIFOs of {value} bytes instead of {before}",
            "64 LUTs as RAM",
            "PG153 v3.2, FIFO Depth: 16 or 256",
        ),
    ),
    "xlnx,axi-cdma-1.00.a": (
        Option(
            "xlnx,max-burst-len",
            16,
            _one_of(64, 256),
            str,
            "bursts of {value} beats instead of {before}",
            "other masters wait longer for the bus",
            "PG034 v4.1, Maximum Burst Length: 2 to 256",
        ),
    ),
    "xlnx,xps-uartlite-1.00.a": (
        Option(
            "current-speed",
            0,
            _one_of(115_200, 921_600),
            _bauds,
            "serial line at {value} instead of {before}",
            _FASTER_SERIAL,
            "PG142, Baud Rate: up to 921,600 at a clock that allows it",
        ),
    ),
    "altr,spi-1.0": (
        Option(
            _CLOCK,
            0,
            _chip_clocks,
            format_hz,
            "SCK of {value} instead of {before}",
            "timing that is met on the board",
            "the chips' spi-max-frequency",
        ),
    ),
}


def of_parts(root: Node, node: Node) -> Iterator[WhatIf]:
    """The choices about a node that improve on its current value."""
    for option in (one for name in node.compatibles for one in OPTIONS.get(name, ())):
        is_left_out = option.property not in node.props
        before = option.default if is_left_out else node.number(option.property)
        if before == 0 and option.property == _CLOCK:
            before = _external_hz(root, node)
        if not before:
            continue
        path = f"{node.handle}.{option.property}"
        for value in (one for one in option.values(root, node) if one > before):
            words = option.what.format(value=option.words(value), before=option.words(before))
            yield WhatIf(
                f"{node.handle}: {words}",
                option.takes,
                f"{path} = <{value}>",
                option.source,
                {} if is_left_out else {path: str(value)},
                {path: value} if is_left_out else {},
            )


def of_board(root: Node) -> list[WhatIf]:
    """All choices about a board's parts."""
    return [found for node in root.walk() for found in (*caches(node), *of_parts(root, node))]
