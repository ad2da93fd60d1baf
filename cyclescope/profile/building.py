"""A profile from the engine's numbers, with names, places and inlined functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cyclescope.errors import EngineError
from cyclescope.profile.model import (
    FUNCTION,
    INLINED,
    TASK,
    Call,
    Charge,
    CoreProfile,
    Cost,
    Interrupt,
    Path,
    Place,
    Wait,
)
from cyclescope.profile.sites import joined

Places = Callable[[str, list[int]], Sequence[Sequence[tuple[str, str | None, int | None, Any]]]]
"""Gives the source places of a core's addresses: `Machine.places`."""

# The engine's value for no address, and for a path without a parent.
_NONE = -1
FIRST_STACK = "from reset"
"""The name of code on the stack that a core started with."""


def core_profile(
    raw: Mapping[str, Any],
    places: Places,
    cycles: int,
    functions: Sequence[str] = (),
    waits: bool = False,
) -> CoreProfile:
    """The profile of a core with `cycles` cycles in the run.

    `functions` are the functions whose calls the run kept; `waits` is true if it recorded waits.
    Raises `EngineError` if the profile has another number of cycles.
    """
    known = _Known(raw["core"], places)
    known.look_up(path[2] for path in raw["paths"])
    known.look_up(cost[1] for cost in raw["costs"])
    sites = raw.get("sites") or [_NONE] * len(raw["paths"])
    paths = zip(raw["paths"], sites, strict=True)
    tree = _Tree([_path(path, site, known) for path, site in paths])
    charges: list[list[Charge]] = [[] for _ in raw["costs"]]
    for cost, cause, rate, charged in raw["charges"]:
        charges[cost].append(Charge(cause, rate, charged))
    costs = [
        _cost(tree, known, cost, charged)
        for cost, charged in zip(raw["costs"], charges, strict=True)
    ]
    found = CoreProfile(
        name=raw["core"],
        rates_hz=tuple(rate[0] for rate in raw["rates"]),
        causes=tuple(raw["causes"]),
        paths=tuple(tree.paths),
        costs=tuple(costs),
        calls={
            name: tuple(Call(*call) for call in calls)
            for name, calls in zip(_kept(raw, functions), raw["calls"], strict=True)
        },
        interrupts=_interrupts(tree, raw["interrupts"]),
        notes=tuple(raw["notes"]),
        waits=tuple(Wait(*wait) for wait in raw["waits"]) if waits else None,
    )
    if found.cycles != cycles:
        raise EngineError(
            f"a fault of Cyclescope: the profile of {found.name} has {found.cycles:,} cycles, "
            f"the run {cycles:,}"
        )
    return found


def core_profiles(
    found: Sequence[Mapping[str, Any]],
    places: Places,
    cycles: Mapping[str, int],
    functions: Sequence[str],
    waits: bool,
    by_call_site: bool,
) -> tuple[tuple[CoreProfile, ...], tuple[CoreProfile, ...] | None]:
    """The profiles of all cores, and the same with calls distinguished by call sites.

    `found` is the engine's data, with paths distinguished by call sites if `by_call_site`. For the
    rest see `core_profile`, which raises `EngineError`.
    """

    def built(cores: Iterable[Mapping[str, Any]]) -> tuple[CoreProfile, ...]:
        return tuple(
            core_profile(raw, places, cycles[raw["core"]], functions, waits) for raw in cores
        )

    if not by_call_site:
        return built(found), None
    return built(map(joined, found)), built(found)


def _kept(raw: Mapping[str, Any], functions: Sequence[str]) -> list[str]:
    """The functions of a core's lists of calls, in order.

    Functions that were named without a core all belong to one core, which the engine has chosen.
    """
    own = [name for name in functions if name.startswith(f"{raw['core']}:")]
    if len(raw["calls"]) == len(own):
        return own
    return [name for name in functions if name in own or not _is_of_a_core(name)]


def _is_of_a_core(name: str) -> bool:
    """True for "cm4:main"; the colons in "flash::program" are C++'s."""
    _, colon, function = name.partition(":")
    return bool(colon) and not function.startswith(":")


class _Known:
    """The source places of a core's addresses, each looked up once."""

    def __init__(self, core: str, places: Places) -> None:
        self._core, self._places = core, places
        self._found: dict[int, tuple[Place, ...]] = {_NONE: ()}

    def look_up(self, addresses: Iterable[int]) -> None:
        """Look up all unknown addresses at once."""
        new = sorted(set(addresses) - self._found.keys())
        for address, frames in zip(new, self._places(self._core, new), strict=True):
            self._found[address] = tuple(Place(*frame) for frame in frames)

    def of(self, address: int) -> tuple[Place, ...]:
        """The frames at an address, innermost first."""
        return self._found[address]

    def function(self, address: int) -> Place | None:
        """The function that holds an address, if it has a symbol."""
        places = self._found[address]
        return places[-1] if places and places[-1].function else None


def _path(raw: tuple[Any, ...], site: int, known: _Known) -> Path:
    parent, kind, address, name, calls, total, longest, shortest, longest_at_ps = raw
    place = known.function(address)
    begin = place.function if place else f"{address:#010x}"
    if kind == FUNCTION and name:
        # another function is there now
        place = Place(name)
    elif kind == FUNCTION:
        name = begin
    elif kind == TASK and not name:
        name = FIRST_STACK if address == _NONE else f"stack of {begin}"
    return Path(
        parent=None if parent == _NONE else parent,
        kind=kind,
        name=name,
        address=None if address == _NONE else address,
        place=place,
        calls=calls,
        total_cycles=total,
        longest_cycles=longest,
        longest_at_ps=longest_at_ps,
        shortest_cycles=shortest,
        return_address=None if site == _NONE else site,
    )


class _Tree:
    """The engine's paths, followed by their continuations in inlined functions and jumps."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths
        self._added: dict[tuple[int, str, str], int] = {}

    def within(self, path: int, kind: str, place: Place) -> int:
        """The path that continues in a function without a call instruction."""
        key = (path, kind, place.function)
        if key not in self._added:
            self._added[key] = len(self.paths)
            self.paths.append(Path(parent=path, kind=kind, name=place.function, place=place))
        return self._added[key]


def _cost(tree: _Tree, known: _Known, raw: tuple[int, int, int], charges: Sequence[Charge]) -> Cost:
    path, address, executions = raw
    places = known.of(address)
    function = known.function(address)
    # code after reset, or at the start of a task, has no caller
    if tree.paths[path].kind == TASK and function is not None:
        path = tree.within(path, FUNCTION, function)
    for place in places[-2::-1]:
        path = tree.within(path, INLINED, place)
    return Cost(
        path=path,
        address=None if address == _NONE else address,
        places=places,
        executions=executions,
        charges=tuple(charges),
        cycles=sum(charge.cycles for charge in charges),
    )


def _interrupts(tree: _Tree, raw: Sequence[Sequence[Any]]) -> tuple[Interrupt, ...]:
    """The interrupts; if the raising device is unknown, the line's only device is used."""
    devices: dict[str, set[str]] = {}
    for path, device, *_ in raw:
        if device:
            devices.setdefault(tree.paths[path].name, set()).add(device)
    only = {name: found.pop() for name, found in devices.items() if len(found) == 1}
    return tuple(
        Interrupt(_line(name, device or only.get(name)), *more)
        for path, device, *more in raw
        for name in (tree.paths[path].name,)
    )


def _line(exception: str, device: str | None) -> str:
    """The name of an interrupt line: with the device that raised it, if known."""
    return f"{device} ({exception})" if device else exception
