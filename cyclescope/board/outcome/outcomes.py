"""The result of a run for users, from the engine's data."""

from __future__ import annotations

from typing import Any

from cyclescope.board.observing.critical_path import critical_path
from cyclescope.board.observing.unmodelled import UnmodelledRegister
from cyclescope.board.outcome.kept_calls import Argument, Call
from cyclescope.board.results import (
    ClockRate,
    CoreResult,
    RunResult,
    Section,
    StackEntry,
    WaitEntry,
    Window,
)
from cyclescope.board.wiring.leds import Led


def run_result(
    outcome: dict[str, Any], board: str, firmware: str, console: str, wall_ns: int
) -> RunResult:
    """The result of a run from its `outcome`, with the console's text and the host's time."""
    return RunResult(
        board=board,
        firmware=firmware,
        outcome=outcome["outcome"],
        exit_code=outcome["code"],
        message=outcome["message"],
        elapsed_ps=outcome["elapsed_ps"],
        console=console,
        cores=tuple(map(_core, outcome["cores"])),
        counters=outcome["counters"],
        notes=tuple(outcome["notes"]),
        failed_saves=tuple(outcome["failed_saves"]),
        results={name: tuple(words) for name, words in outcome["results"].items()},
        wall_ns=wall_ns,
        leds=tuple(Led(**led) for led in outcome["leds"]),
        windows=tuple(map(_window, outcome["windows"])),
        unmodelled=tuple(map(_unmodelled, outcome["unmodelled"])),
        critical_path=critical_path(outcome["critical_path"]),
    )


def _unmodelled(register: dict[str, Any]) -> UnmodelledRegister:
    return UnmodelledRegister(**register | {"places": tuple(register["places"])})


def _window(window: dict[str, Any]) -> Window:
    cores = tuple(map(_core, window["cores"]))
    return Window(window["section"], window["begin_ps"], window["end_ps"], cores)


def _core(core: dict[str, Any]) -> CoreResult:
    return CoreResult(
        name=core["name"],
        hz=core["hz"],
        instructions=core["instructions"],
        cycles=core["cycles"],
        stack=_stack(core["stack"]),
        sections=tuple(map(_section, core["sections"])),
        never_compiled=core["never_compiled"],
        clock_rates=tuple(ClockRate(**rate) for rate in core["clock_rates"]),
        waits=_waits(core["waits"]),
    )


def _section(section: dict[str, Any]) -> Section:
    calls = section["longest_calls"]
    return Section(
        section["name"],
        section["calls"],
        section["instructions"],
        _stack(section["stack"]),
        _waits(section["waits"]),
        section["shortest_ps"],
        None if calls is None else tuple(map(_call, calls)),
    )


def _call(call: dict[str, Any]) -> Call:
    function, file, line, _ = call["caller"] or (None, None, None, None)
    return Call(
        number=call["number"],
        begin_ps=call["begin_ps"],
        instructions=call["instructions"],
        stack=_stack(call["stack"]),
        waits=_waits(call["waits"]) or (),
        arguments=tuple(Argument(*argument) for argument in call["arguments"]),
        return_address=call["return_address"],
        caller=function or None,
        file=file,
        line=line,
    )


def _stack(shares: list[dict[str, Any]]) -> tuple[StackEntry, ...]:
    return tuple(StackEntry(**share) for share in shares)


def _waits(shares: list[dict[str, Any]] | None) -> tuple[WaitEntry, ...] | None:
    return None if shares is None else tuple(WaitEntry(**share) for share in shares)
