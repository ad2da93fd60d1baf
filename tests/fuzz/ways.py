"""The same run in different ways, which must all give equal results: at once, in slices, stepped,
from a snapshot, under a debugger, compiled sooner or later, with polls skipped, profiled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from random import Random
from typing import Any

import elf32

from cyclescope._engine import EngineError, Hold, Machine
from fuzz import boards
from fuzz.inputs import Input

Seen = dict[str, Any]
"""The visible state at a run's end: its report, registers, memories."""

Way = Callable[[Input, Random], Seen | None]
"""Runs a program; None where it is refused."""

# Bytes that are compared of each memory at its start, its middle and its end.
_SEEN_BYTES = 0x800
_RUNS = (1, 2, 3, 16)


def machine(made: Input, compile_after: int | None = 0, skip: bool = True) -> Machine | None:
    """With the program loaded; None if it is refused."""
    fresh = boards.machine(made["board"])
    try:
        fresh.load(made.get("elf") or _elf(made), "firmware")
    except EngineError:
        return None
    if compile_after is not None:
        fresh.compile_after(compile_after)
    fresh.skip_polling(skip)
    return fresh


def _elf(made: Input) -> bytes:
    segments = [elf32.Segment(base, data) for base, data in made["segments"]]
    return elf32.executable(*segments, machine=made["machine"], entry=made["entry"])


def seen(made: Input, run: Machine, report: dict[str, Any], printed: list[bytes]) -> Seen:
    """The state of an ended run, for comparisons."""
    keys = ("cycles", "instructions", "stack", "counters", "mispredictions")
    cores = [{key: core.get(key) for key in keys} for core in report["cores"]]
    ended = {
        key: report.get(key)
        for key in ("outcome", "code", "message", "elapsed_ps", "counters", "results")
    }
    return ended | {
        "cores": cores,
        "registers": run.registers(),
        "printed": b"".join(printed),
        "memory": _memory(made, run),
    }


def _memory(made: Input, run: Machine) -> str:
    held, digest = Hold(run), hashlib.sha256()
    for base, size in boards.facts(made["board"]).memories:
        for at in {base, base + size // 2, base + size - min(size, _SEEN_BYTES)}:
            digest.update(held.read(0, at, min(size, _SEEN_BYTES)))
    return digest.hexdigest()


def _finish(made: Input, run: Machine, printed: list[bytes]) -> Seen:
    return seen(made, run, run.run(made["limit_ps"], printed.append), printed)


def at_once(
    made: Input, compile_after: int | None = 0, skip: bool = True, profiled: bool = False
) -> Seen | None:
    """The whole run by one call."""
    run = machine(made, compile_after, skip)
    if run is None:
        return None
    if profiled:
        run.profile_functions()
        run.report_waits()
    return _finish(made, run, [])


def sliced(made: Input, random: Random) -> Seen | None:
    """In some pieces that end anywhere."""
    run = machine(made, _drawn_runs(random))
    if run is None:
        return None
    printed: list[bytes] = []
    times = sorted(random.randrange(made["limit_ps"]) for _ in range(random.randrange(1, 12)))
    for time in times:
        report = run.run_to(time, printed.append)
        if report is not None:
            return seen(made, run, report, printed)
    return _finish(made, run, printed)


def restored(made: Input, random: Random) -> Seen | None:
    """From a snapshot that was taken on the way, in another machine."""
    run, other = (machine(made, _drawn_runs(random)) for _ in range(2))
    if run is None or other is None:
        return None
    printed: list[bytes] = []
    report = run.run_to(random.randrange(_span(made)), printed.append)
    if report is not None:
        return seen(made, run, report, printed)
    snapshot = run.snapshot()
    if random.random() < 0.5:
        other.restore(snapshot)
    else:
        other = run
    return _finish(made, other, printed)


def held(made: Input, random: Random) -> Seen | None:
    """Under a debugger that steps for a while and reads state, which changes nothing."""
    run = machine(made, _drawn_runs(random))
    if run is None:
        return None
    holds, printed = Hold(run), []
    cores = boards.facts(made["board"]).cores
    for _ in range(random.randrange(1, 5)):
        until = random.randrange(_span(made))
        if holds.resume(made["limit_ps"], until, console=printed.append)[0] == "ended":
            break
        for _ in range(random.choice((0, 1, 3, 40))):
            if _looked_and_stepped(made, run, holds, random, cores, printed):
                break
    while holds.resume(made["limit_ps"], console=printed.append)[0] != "ended":
        pass
    return seen(made, run, holds.end(printed.append), printed)


def _looked_and_stepped(
    made: Input, run: Machine, holds: Hold, random: Random, cores: int, printed: list[bytes]
) -> bool:
    """True if the run ended."""
    facts, core = boards.facts(made["board"]), random.randrange(cores)
    match random.randrange(6):
        case 0:
            holds.read(core, facts.address(random), 4)
        case 1:
            holds.device_state(random.choice(holds.devices()))
        case 2:
            run.snapshot()
        case 3:
            holds.registers(core)
    step = holds.resume(made["limit_ps"], step=core, into_handlers=True, console=printed.append)
    return step[0] == "ended"


def _span(made: Input) -> int:
    """The time in which something happens: most programs end before their limit."""
    return max(1, min(made["limit_ps"], made.get("ended_ps", made["limit_ps"])))


def _drawn_runs(random: Random) -> int | None:
    return random.choice((0, None, *_RUNS))


def drawn(random: Random) -> tuple[str, Way]:
    """A way, and its name."""
    runs, skip = _drawn_runs(random), random.random() < 0.5
    ways: list[tuple[str, Way]] = [
        (f"compile_after={runs} skip={skip}", lambda made, _: at_once(made, runs, skip)),
        ("profiled", lambda made, _: at_once(made, runs, skip, profiled=True)),
        ("sliced", sliced),
        ("restored", restored),
        ("held", held),
    ]
    return random.choices(ways, (4, 1, 3, 3, 2))[0]


def difference(one: Seen | None, other: Seen | None) -> str:
    """The difference in a line; empty without a difference."""
    if one == other:
        return ""
    if one is None or other is None:
        return "one is refused"
    return "; ".join(
        f"{key}: {one[key]!r:.300} and {other[key]!r:.300}" for key in one if one[key] != other[key]
    )
