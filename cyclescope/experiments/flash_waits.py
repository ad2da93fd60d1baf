"""The cost of wait states of an STM32's flash, and the gain of prefetch and caches.

One program, with the work of `coremark_like`, runs at each core clock with the wait states that the
flash needs there. Published numbers are claims; measurements of others are of their own programs,
so no row is compared with those (published/flash_waits.toml has them).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclescope.bench import published
from cyclescope.bench.experiment import Cell, Experiment, Omission, Run
from cyclescope.bench.rows import DERIVED, Causes, Row
from cyclescope.bench.views import Pivot, Sweep, Words
from cyclescope.board.results import Settings, Value
from cyclescope.experiments import moments
from cyclescope.experiments.answers import pick, pick_all

APP = "flash_waits"
TABLE = "flash_waits"
F407, F411, L4R5 = "stm32f4-disco", "nucleo-f411re", "nucleo-l4r5zi"
# Places of code and stack besides flash and SRAM1. No code runs from CCM: it is on the data bus.
_PLACES = {
    F407: (("flash", "ccm"), ("sram1", "sram1"), ("sram1", "ccm")),
    L4R5: (
        *(("flash", stack) for stack in ("sram2", "sram3")),
        *(("sram1", stack) for stack in ("sram1", "sram2", "sram3")),
    ),
}
# Bytes by which the code is moved against the lines of the flash.
OFFSETS = {F407: (4, 8, 12), L4R5: (4,)}
_USUAL: Settings = {"code": "flash", "stack": "sram1"}

_WAYS = (
    ("off", "all off"),
    ("prefetch", "prefetch"),
    ("i-cache", "instruction cache"),
    ("d-cache", "data cache"),
    ("caches", "both caches"),
    ("all", "all on"),
)
_WORDS = (
    Words("accelerators", "on", _WAYS),
    Words("clock_mhz", "MHz"),
    Words("wait_states", "wait states"),
    Words("code", "code in"),
    Words("stack", "stack in"),
    Words("offset", "moved by", form="{} B"),
)
# The rows with runs of all clocks and all accelerators; others have only the ends.
_WHOLE = (("sweep", ("whole",)),)


def _run(board: str, **settings: Value) -> Run:
    chosen = {**_USUAL, "offset": 0, "sweep": "ends"} | settings
    implied = ("sweep",) if chosen["offset"] else ("sweep", "offset")
    return Run(APP, board, chosen, limit="20s", implied=implied)


def _runs() -> Iterator[Run]:
    for board in (F407, L4R5):
        yield _run(board, sweep="whole")
        for code, stack in _PLACES[board]:
            yield _run(board, code=code, stack=stack)
        for offset in OFFSETS[board]:
            yield _run(board, offset=offset)
    yield _run(F411)


_CLOCKS = ("board", "clock_mhz", "wait_states")
_EACH_PLACE = ("board", "code", "stack", "offset", "clock_mhz", "wait_states")


def _pivot(title: str, lines: tuple[str, ...], sweep: str | None, digits: int = 6) -> Pivot:
    where = () if sweep is None else (("sweep", (sweep,)),)
    columns = ("accelerators",)
    return Pivot(title, lines, columns, values=True, words=_WORDS, digits=digits, where=where)


_CYCLES = _pivot("Cycles of a round by clock", _CLOCKS, "whole")
_ELSEWHERE = _pivot("Cycles of a round, code and stack elsewhere", _EACH_PLACE, "ends")
_TIME = _pivot("Time of a round, us", _CLOCKS, "whole")
_GAIN = _pivot("Times as fast as with all off", _CLOCKS, "whole", digits=3)
_RELATIVE = _pivot(
    "Speed per MHz, % of that without wait states", _EACH_PLACE, sweep=None, digits=4
)
_PER_MHZ = Sweep(
    title="Speed per MHz by clock",
    x="clock_mhz",
    x_title="core clock, MHz; the flash has the wait states that it needs",
    line="accelerators",
    y_title="% of that without wait states",
    words=_WORDS,
    where=_WHOLE,
    linear=True,
)
_BY_CLOCK = Sweep(
    title="Time of a round by clock",
    x="clock_mhz",
    x_title="core clock, MHz",
    line="accelerators",
    y_title="us",
    words=_WORDS,
    where=_WHOLE,
    log=True,
    order=1,
)


def _causes(settings: Settings) -> Causes:
    """Each timed call has a stack of its own."""
    return Causes("timed_rounds")


def _derived(rows: Sequence[Row]) -> Iterator[Row]:
    """Times, the gain of caches, and speed per MHz beside ST's claim."""
    cycles = [row for row in rows if row.metric == "cycles"]
    for row in cycles:
        if row.settings["sweep"] == "whole":
            yield row.following(
                metric="time",
                unit="us",
                simulated=round(row.simulated / int(row.settings["clock_mhz"]), 3),
                basis=DERIVED,
                pivot=_TIME,
                sweeps=(_BY_CLOCK,),
            )
            yield from _gain(row, cycles)
    for row in cycles:
        free = _without_waits(row, cycles)
        if free is not None and row.simulated:
            yield row.following(
                metric="relative_speed",
                unit="%",
                simulated=round(100 * free.simulated / row.simulated, 2),
                published=_claimed(row),
                basis=DERIVED,
                pivot=_RELATIVE,
                sweeps=(_PER_MHZ,) if row.settings["sweep"] == "whole" else (),
            )


def _gain(row: Row, rows: Sequence[Row]) -> Iterator[Row]:
    """How many times as fast the caches alone make the program."""
    same = {name: row.settings[name] for name in ("code", "stack", "offset", "sweep", "clock_mhz")}
    found = pick_all(rows, "cycles", accelerators="off", **same)
    off = next((other for other in found if other.board == row.board), None)
    if off and row.simulated and row.settings["accelerators"] == "caches":
        gain = round(off.simulated / row.simulated, 3)
        yield row.following(
            metric="gain", unit="times", simulated=gain, basis=DERIVED, pivot=_GAIN, sweeps=()
        )


def _without_waits(row: Row, rows: Sequence[Row]) -> Row | None:
    """The same program on the same board, at a clock without wait states."""
    same = {name: row.settings[name] for name in ("code", "stack", "offset", "sweep")}
    found = pick_all(rows, "cycles", wait_states=0, accelerators="off", **same)
    return next((other for other in found if other.board == row.board), None)


def _claimed(row: Row) -> int | float | None:
    """The data sheet's claim, for a program from flash with the data in SRAM1."""
    if dict(row.settings) != {**row.settings, **_USUAL, "offset": 0}:
        return None
    names = ("clock_mhz", "accelerators")
    where = {"kind": "claim", "board": row.board, **{name: row.settings[name] for name in names}}
    return published.load(TABLE).find("relative_percent", where)


def _relative(rows: Sequence[Row], board: str, clock_mhz: int, **settings: Value) -> Row | None:
    usual = {**_USUAL, "offset": 0, "clock_mhz": clock_mhz}
    found = pick_all(rows, "relative_speed", **(usual | settings))
    return next((row for row in found if row.board == board), None)


def _answer(rows: Sequence[Row]) -> str:
    said = []
    for name, board, mhz in (("STM32F407", F407, 168), ("STM32L4R5", L4R5, 120)):
        found = [_relative(rows, board, mhz, accelerators=way) for way in ("all", "caches", "off")]
        full, cached, off = (row and row.simulated for row in found)
        if full and cached and off:
            said.append(
                f"at {mhz} MHz, with five wait states, an {name} keeps {full:.3g} % of its speed "
                f"per MHz with all on, {cached:.3g} % with the caches alone and {off:.3g} % with "
                "all off"
            )
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}." if said else ""


def _findings(rows: Sequence[Row]) -> Iterator[str]:
    yield from _of_layout(rows)
    for board, mhz in ((F407, 168), (L4R5, 120)):
        prefetch, caches, both = (
            _cycles(rows, board, mhz, accelerators=way) for way in ("prefetch", "caches", "all")
        )
        if prefetch and caches and both:
            yield (
                f"{board} at {mhz} MHz: the prefetch alone takes {prefetch:,} cycles a round, the "
                f"caches alone {caches:,}, both together {both:,}."
            )


def _of_layout(rows: Sequence[Row]) -> Iterator[str]:
    """How much moving the code by a few words changes its time."""
    for board, mhz in ((F407, 168), (L4R5, 120)):
        for way, words in (("off", "all off"), ("all", "all on")):
            moved = (0, *OFFSETS[board])
            found = [_cycles(rows, board, mhz, accelerators=way, offset=at) for at in moved]
            if all(found):
                least, most = min(found), max(found)
                more = 100 * most / least - 100
                yield (
                    f"{board} at {mhz} MHz, {words}: the same code moved by up to {moved[-1]} "
                    f"bytes takes {least:,} to {most:,} cycles a round, {more:.2g} % more."
                )


def _cycles(rows: Sequence[Row], board: str, clock_mhz: int, **settings: Value) -> float:
    wanted = {**_USUAL, "offset": 0, "clock_mhz": clock_mhz} | settings
    found = [row for row in rows if row.board == board]
    row = pick(found, "cycles", **wanted)
    return row.simulated if row else 0


def _shortened(run: Run) -> Run:
    """The run at the ends of its clocks only."""
    return run.shortened({"sweep": "ends"})


EXPERIMENT = Experiment(
    name="flash-waits",
    title="Wait states of the flash of STM32s: clocks, prefetch, caches, places of code and stack",
    moments=(moments.FLASH_WAITS,),
    published=TABLE,
    runs=tuple(_runs()),
    cells=(
        Cell(
            APP,
            metric="cycles",
            label="{clock_mhz} MHz {accelerators}, code in {code}, stack in {stack}",
            pivots=(_CYCLES, _ELSEWHERE),
            parts=_causes,
        ),
    ),
    notes=(
        "A round is one of coremark_like's: lists, matrices, a state machine and CRCs. It is not "
        "CoreMark. All settings run the same instructions, once before they are timed.",
        "Each clock has the wait states of the manual's table, and no more; a program with too few "
        "continues with a note.",
        "ST's claims (100 %) are for CoreMark, or for an unnamed program. Measurements of others "
        "are of other programs, and no row has them: docs/flash-waits.md does.",
        "No code runs from the STM32F407's CCM, which only the data bus reaches: a fetch from "
        "there is a bus fault.",
        "Code in SRAM1 is fetched over the system bus, which also carries the data of SRAM1. The "
        "model has only the further cycle of a jump: these rows are lower bounds.",
    ),
    left_out=(
        Omission(
            what="fetches over the system bus",
            why="an instruction fetch on the Cortex-M4's system bus comes a cycle later than on "
            "its instruction bus, and waits for data on it; here a jump takes the cycle, and "
            "nothing waits for data",
            effect_pct=26,
            cells="rows with code in SRAM1",
            estimate="a function that steps motors took 162 cycles from an STM32F4's SRAM, 121 "
            "from flash with its caches on (Teacup_Firmware, issue 189): 1.34 instead of 1.06",
        ),
        Omission(
            what="fetches beyond the end of a line",
            why="the read of the next line would begin while the last instructions of this one "
            "run; here it begins when the first one of the next is due",
            effect_pct=25,
            cells="rows with the instruction cache off",
            estimate="of five wait states for 16 bytes up to three cycles would be hidden in code "
            "without jumps",
        ),
        Omission(
            what="prefetches after hits",
            why="the manuals describe prefetches after reads of the array; they do not say whether "
            "a hit in the cache starts one, too",
            effect_pct=5,
            cells="rows with all on",
            estimate="the cycles that prefetch and caches together take beyond the caches alone",
        ),
    ),
    short_form=_shortened,
    derived=_derived,
    derived_pivots={"time": _TIME, "gain": _GAIN, "relative_speed": _RELATIVE},
    findings=_findings,
    question="How much of its speed does my program lose to the wait states of the flash at a "
    "higher clock, and how much do prefetch and caches help?",
    answer=_answer,
)
