"""The size of the drivers of `bitbang-spi`, in lines as the report counts them and in bytes.

Lines are lines of sources; what two drivers share counts for both, as each needs it. Bytes are
bytes of the functions in a program with the driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from cyclescope import resources
from cyclescope.bench import published
from cyclescope.bench.rows import DERIVED, UNPUBLISHED, Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.firmware import build_app, code_size, load_app

TABLE = "atben_spi_drivers"
_WORDS = (Words("stack", "stack"), Words("part", ""))
_LINES = Pivot(
    "Lines of code, comments included",
    ("stack",),
    ("part",),
    values=True,
    words=_WORDS,
)
_BYTES = Pivot(
    "Bytes of code, with what the driver uses of its framework",
    ("stack",),
    ("part",),
    values=True,
    words=_WORDS,
)
# The tables of the rows of sizes, by metric.
PIVOTS = {"lines": _LINES, "code_bytes": _BYTES}
# Drivers by their stacks as the table has them, with the sources of framework and transport.
_BITS = "spi_jz4740_bits.h"
_UNITS = "drivers/spi_"
_FRAMEWORK = ("spi_atben_gpio.c",)
# The generic driver's source is in the other one's program because that includes it.
_INCLUDED = {"spi_gpio_atben.c": ("spi_gpio.c", "spi_bitbang_txrx.h")}
_SOURCES = {
    "spi-gpio": ("spi_atben_gpio", _FRAMEWORK, ()),
    "spi-gpio-atben": ("spi_atben_gpio + spi-gpio-atben", _FRAMEWORK, ("spi_gpio_atben.c",)),
    "spi-jz4740-gpio": (
        "spi_atben_gpio + spi-jz4740-gpio",
        _FRAMEWORK,
        ("spi_jz4740_gpio.c", _BITS),
    ),
    "spi_atben": ("spi_atben", ("spi_atben.c", _BITS), ()),
    "spi-jz4740-ssi": ("spi_atben_gpio + spi-jz4740-ssi", _FRAMEWORK, ("spi_jz4740_ssi.c",)),
}


def rows(found: Sequence[Row]) -> Iterator[Row]:
    """Lines and bytes of each driver's own parts."""
    measured = {row.settings["stack"]: row for row in found if row.metric == "read_register_time"}
    for driver, row in measured.items():
        stack, framework, transport = _SOURCES[str(driver)]
        bytes_of = _functions(row)
        for part, sources in (("framework", framework), ("transport", transport)):
            if sources:
                lines = sum(map(_count, sources))
                included = [name for source in sources for name in _INCLUDED.get(source, ())]
                size = sum(bytes_of.get(source, 0) for source in (*sources, *included))
                known = _published(stack, part)
                yield _row(row, "lines", "lines", stack, part, lines, known)
                yield _row(row, "code_bytes", "bytes", stack, part, size, None)


def _published(stack: str, part: str) -> float | None:
    where = {"kind": "code-size", "stack": stack}
    return published.load(TABLE).find(f"lines_{part}", where)


def _row(
    row: Row, metric: str, unit: str, stack: str, part: str, count: int, known: float | None
) -> Row:
    return row.following(
        settings={"stack": stack, "part": part},
        metric=metric,
        unit=unit,
        simulated=count,
        published=known,
        basis=UNPUBLISHED if known is None else DERIVED,
        label=f"{stack}, {unit} of the {part}",
        timed=(),
        pivot=PIVOTS[metric],
        sweeps=(),
    )


def _functions(row: Row) -> Mapping[str, int]:
    """Bytes of a program's functions by the name of their source."""
    names = load_app(row.run.app).settings
    settings = {name: row.run.settings[name] for name in names if name in row.run.settings}
    sizes = code_size.functions(build_app(row.run.app, row.board, settings), _UNITS)
    return {PurePosixPath(path).name: size for path, size in sizes.items()}


def _count(source: str) -> int:
    path = resources.firmware() / "drivers" / source
    return len(path.read_text(encoding="utf-8").splitlines())
