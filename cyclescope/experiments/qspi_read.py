"""How fast a QSPI flash is read: by each way of the controller, at each width, at several clocks.

The application note of `rhealstone` names the ways and the widths, and has no numbers of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cyclescope.bench.experiment import Cell, Experiment, Run
from cyclescope.bench.rows import Row
from cyclescope.bench.views import Frames, Pivot, Sweep, Words
from cyclescope.board.observing.frames import QUAD_WIRES, Phase, Trigger
from cyclescope.board.results import Settings, Value
from cyclescope.experiments import moments
from cyclescope.experiments.answers import pick, times
from cyclescope.experiments.rhealstone_ratios import DIVIDER, TABLE
from cyclescope.experiments.rhealstone_widths import WIDTHS

BOARD = "sama5d2-xplained"
APP = "qspi_read"
_PATHS = {
    "spi": "SPI mode",
    "spi-dma": "SPI mode by XDMAC",
    "registers": "serial memory mode, data registers",
    "registers-dma": "data registers by XDMAC",
    "window": "window",
    "window-dma": "window by XDMAC",
}
_WORDS = (
    Words("width", "width", tuple(WIDTHS.items())),
    Words("path", "way", tuple(_PATHS.items())),
    Words("continuous_read", "continuous read"),
    Words("cache", "caches"),
    Words("spck_divider", "SPCK", form="MCK / {}"),
)


def _pivot(title: str, lines: tuple[str, ...], columns: tuple[str, ...], **where: Value) -> Pivot:
    """Rates in MB/s."""
    return Pivot(
        f"{title}, MB/s",
        lines,
        columns,
        values=True,
        words=_WORDS,
        per=10**6,
        digits=3,
        where=tuple((name, (value,)) for name, value in where.items()),
    )


_SCRAMBLED = _pivot("Scrambled", ("path",), ("cache",), scrambling="on")
_BY_WIDTH = _pivot(
    "The flash's widths (table 2-1) at 55.3 MHz",
    ("cache", "path", "continuous_read"),
    ("width",),
    spck_divider=DIVIDER,
)
_BY_CLOCK = _pivot(
    "Other clocks, set at run time",
    ("path", "cache", "width"),
    ("spck_divider",),
)
_CLOCKS = Sweep(
    title="Throughput by the flash's clock, set at run time",
    x="spck_divider",
    x_title="MCK / SPCK (MCK is 166 MHz)",
    line="path",
    y_title="MB/s",
    each="cache",
    log=True,
    words=(*_WORDS[1:2], Words("cache", "", (("on", "caches on"), ("off", "caches off")))),
    per=10**6,
    where=(("continuous_read", ("on",)), ("width", ("quad-io",)), ("scrambling", ("off",))),
)

# The frame as the controller is configured (QSPI_IFR), for decoding as by a logic analyser.
_IO = ("io3", "io2", "io1", "io0")
_PHASES = (
    Phase("instruction", 8, ("io0",)),
    Phase("address", 6, _IO),
    Phase("option", 1, _IO),
    Phase("dummy", 9),
    Phase("data", 8, _IO),
)
_FRAMES = Frames(
    title="Figure 2-1: an instruction frame",
    text="The first word that is read from the flash in continuous quad I/O reads: FAST READ QUAD "
    "I/O, the address, the option that lets the flash expect no further instruction, dummy clocks, "
    "and the word, its first byte first. The next frame begins with the address.",
    panel="readings",
    wires=(("cs0", "QCS"), ("sck", "QSCK"), *((name, f"QIO{name[2]}") for name in QUAD_WIRES[2:])),
    phases=lambda _: _PHASES,
)
# Later frames are shorter.
_TRIGGER = Trigger(
    "qspi0",
    wires=QUAD_WIRES,
    clocks=sum(phase.clocks or 0 for phase in _PHASES),
    is_last=True,
)


_USUAL: Settings = {
    "width": "quad-io",
    "continuous_read": "on",
    "spck_divider": DIVIDER,
    "scrambling": "off",
}


def _runs() -> Iterator[Run]:
    for cache in ("off", "on"):
        yield Run(APP, BOARD, {"cache": cache}, implied=("readings", "bytes"))
    one_word = Run(APP, BOARD, {"cache": "off", "readings": "one-word"}, implied=("bytes",))
    yield replace(one_word, frame_on=_TRIGGER)


def _rate(rows: Sequence[Row], path: str, cache: str, **other: Value) -> float | None:
    """MB/s of a way that has widths, with the usual settings except `other`."""
    wanted = {"path": path, "cache": cache, **_USUAL, **other}
    row = pick(rows, "throughput", **wanted)
    return None if row is None else row.simulated / 10**6


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    for path in ("window", "window-dma"):
        plain = _rate(rows, path, "off")
        scrambled = _rate(rows, path, "off", scrambling="on")
        if plain and scrambled:
            yield (
                f"Scrambled, the {_PATHS[path]} gives {scrambled:.3g} MB/s, plain {plain:.3g} "
                f"MB/s: the controller scrambles on the fly, the model takes no time for it."
            )
    yield from _continuous(rows)


def _continuous(rows: Sequence[Row]) -> Iterator[str]:
    """The gain of continuous read at each width, word by word and by lines of the caches."""
    for cache, how in (("off", "word by word"), ("on", "by lines of the caches")):
        gains = {}
        for width in WIDTHS:
            on, off = (
                _rate(rows, "window", cache, width=width, continuous_read=state)
                for state in ("on", "off")
            )
            if on and off:
                gains[width] = 100 * (on / off - 1)
        if gains:
            least, most = min(gains, key=gains.__getitem__), max(gains, key=gains.__getitem__)
            yield (
                f"Continuous read makes the window {how} {gains[least]:.1f} % ({least}) to "
                f"{gains[most]:.1f} % ({most}) faster."
            )


def _answer(rows: Sequence[Row]) -> str:
    polled = pick(rows, "throughput", path="spi", cache="on", spck_divider=DIVIDER)
    window, word, dma = (
        _rate(rows, *way) for way in (("window", "on"), ("window", "off"), ("window-dma", "off"))
    )
    if not (polled and window and word and dma):
        return ""
    spi = polled.simulated / 10**6
    return (
        f"At 55.3 MHz the window gives {window:.3g} MB/s through the caches and {word:.3g} MB/s "
        f"word by word without them, DMA from it {dma:.3g} MB/s; polled SPI mode {spi:.2g} MB/s, "
        f"{times(window, spi)} times less."
    )


EXPERIMENT = Experiment(
    name="qspi-read",
    title="Reading a QSPI flash on a SAMA5D2: every way, every width",
    moments=(moments.QSPI_READ,),
    published=TABLE,
    runs=tuple(_runs()),
    cells=(
        Cell(
            APP,
            metric="throughput",
            label="{path} {width} caches {cache} continuous {continuous_read} "
            "scrambled {scrambling} MCK/{spck_divider}",
            pivots=(_SCRAMBLED, _BY_WIDTH, _BY_CLOCK),
            sweeps=(_CLOCKS,),
        ),
    ),
    quick={"bytes": 1024},
    notes=(
        "The note names the ways and the widths, and has no numbers of them: it measures code that "
        "runs in place.",
        "Each reading is compared with what was written before. Data that were written scrambled "
        "read differently without scrambling.",
        "Ways by DMA and scrambling are measured without caches: only the core accesses caches.",
        "XDMAC reads the window in bursts of 16 words, and the data registers byte by byte.",
    ),
    findings=_findings,
    frames=_FRAMES,
    question="How fast can my firmware read data from a QSPI flash, and by which way?",
    answer=_answer,
)
