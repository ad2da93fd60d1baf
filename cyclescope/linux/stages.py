"""Where a kernel's boot goes: its stages, and its initcalls, from the calls of a few functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cyclescope.board.outcome.kept_calls import MOST_CALLS as MOST_CALLS
from cyclescope.board.outcome.kept_calls import Call
from cyclescope.board.results import RunResult, Section, StackEntry
from cyclescope.errors import UsageError

# Functions of init/main.c that each kernel has; of the last but one there are hundreds of calls.
_ARCHITECTURE, _FREEABLE, _INITCALL, _FIRST_PROGRAM = (
    "setup_arch",
    "kernel_init_freeable",
    "do_one_initcall",
    "run_init_process",
)
WATCHED = (_ARCHITECTURE, _FREEABLE, _INITCALL, _FIRST_PROGRAM)
"""The functions whose calls a run has to keep."""


@dataclass(frozen=True)
class Stage:
    """A part of a boot, in simulated time; `end_ps` is that of the run in the last part."""

    name: str
    begin_ps: int
    end_ps: int


@dataclass(frozen=True)
class Initcall:
    """An initcall: its function, its time with all that it called, and the causes of that time."""

    name: str
    begin_ps: int
    ps: int
    stack: tuple[StackEntry, ...]


def check_names(known: Iterable[tuple[int, int, str]]) -> None:
    """Raises `UsageError` if the functions of a kernel, by address and size, lack those needed."""
    missing = set(WATCHED) - {name for _, _, name in known}
    if missing:
        raise UsageError(
            f"--stages: the kernel has no function {', '.join(sorted(missing))} by name: it needs "
            "kallsyms (CONFIG_KALLSYMS), or --symbols vmlinux"
        )


def without_calls(result: RunResult) -> RunResult:
    """A result without what was recorded for stages, for the usual tables."""
    cores = (
        replace(core, sections=tuple(one for one in core.sections if one.name not in WATCHED))
        for core in result.cores
    )
    return replace(result, cores=tuple(cores))


def stages(result: RunResult) -> list[Stage]:
    """The stages that the run came to, each up to the next one's begin."""
    calls = _calls(result)
    begun = (
        ("loader and decompression, until the MMU is on", 0),
        ("memory, devicetree (setup_arch)", _begin_ps(calls[_ARCHITECTURE])),
        ("interrupts, timers, scheduler", _end_ps(calls[_ARCHITECTURE])),
        ("initcalls: drivers, file systems", _begin_ps(calls[_FREEABLE])),
        ("freed memory, protection", _end_ps(calls[_FREEABLE])),
        ("start of the first program", _begin_ps(calls[_FIRST_PROGRAM])),
        ("programs", _end_ps(calls[_FIRST_PROGRAM])),
    )
    known = [(name, at) for name, at in begun if at is not None]
    ends = [*(at for _, at in known[1:]), result.elapsed_ps]
    return [Stage(name, at, end) for (name, at), end in zip(known, ends, strict=True)]


def initcalls(result: RunResult, names: Mapping[int, str]) -> list[Initcall]:
    """The initcalls that have ended, the longest first; `names` are functions by address.

    The function is the first argument of `do_one_initcall`.
    """
    found = (
        Initcall(_name(call, names), call.begin_ps, call.ps, call.stack)
        for call in _calls(result)[_INITCALL]
    )
    return sorted(found, key=lambda one: (-one.ps, one.begin_ps))


def _name(call: Call, names: Mapping[int, str]) -> str:
    address = call.arguments[0].value & 0xFFFFFFFF
    return names.get(address) or f"{address:#010x}"


def _calls(result: RunResult) -> dict[str, Sequence[Call]]:
    kept = {one.name: one.longest_calls for one in _sections(result)}
    return {name: kept.get(name) or () for name in WATCHED}


def _sections(result: RunResult) -> Iterator[Section]:
    return (one for core in result.cores[:1] for one in core.sections)


def _begin_ps(calls: Sequence[Call]) -> int | None:
    return min((call.begin_ps for call in calls), default=None)


def _end_ps(calls: Sequence[Call]) -> int | None:
    first = min(calls, key=lambda call: call.begin_ps, default=None)
    return None if first is None else first.begin_ps + first.ps
