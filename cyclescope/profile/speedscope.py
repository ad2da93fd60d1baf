"""A profile in the file format of speedscope (https://www.speedscope.app/file-format-schema.json).

Each core has two profiles: its call paths, and the same with the causes of their cycles as
innermost frames. The weights are cycles. The stacks of a path are adjacent, in the order in which
paths were first taken: there is no order in time.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from cyclescope.profile.model import CoreProfile
from cyclescope.profile.profile import Profile
from cyclescope.profile.stacks import label, stacks

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_Frame = tuple[str, str | None, int | None]
REST = "calls with fewer cycles, together"
"""The frame for omitted call paths."""


def speedscope(profile: Profile, exporter: str, most_paths: int | None = None) -> str:
    """The text of a file; `exporter` names the program and its version.

    If a core has more than `most_paths` call paths, only those with the most cycles have their own
    frames; the others are one frame, `REST`, in the calling frame.
    """
    frames = _Frames()
    profiles = [
        _sampled(core, by_cause, frames, kept)
        for core in profile.cores
        for kept in (_kept(core, most_paths),)
        for by_cause in (False, True)
    ]
    file = {
        "$schema": _SCHEMA,
        "exporter": exporter,
        "name": f"{profile.firmware} on {profile.board}",
        "activeProfileIndex": 0,
        "shared": {"frames": frames.listed()},
        "profiles": profiles,
    }
    return json.dumps(file, separators=(",", ":"), ensure_ascii=False) + "\n"


class _Frames:
    """Frames by number; equal frames have the same number."""

    def __init__(self) -> None:
        self._numbers: dict[_Frame, int] = {}

    def number(self, name: str, file: str | None = None, line: int | None = None) -> int:
        return self._numbers.setdefault((name, file, line), len(self._numbers))

    def listed(self) -> list[dict[str, Any]]:
        found = []
        for name, file, line in self._numbers:
            place = {"file": file} if file else {}
            found.append({"name": name, **place, **({"line": line} if file and line else {})})
        return found


def _kept(core: CoreProfile, most: int | None) -> Collection[int]:
    """The paths with the most cycles, including callees; callers are always among them."""
    every = range(len(core.paths))
    if most is None or len(every) <= most:
        return every
    places = {path: place for place, path in enumerate(core.walk())}
    return set(sorted(every, key=lambda path: (-core.total_cycles[path], places[path]))[:most])


def _sampled(
    core: CoreProfile, by_cause: bool, frames: _Frames, kept: Collection[int]
) -> dict[str, Any]:
    numbers = []
    for path in core.paths:
        file, line = (path.place.file, path.place.line) if path.place else (None, None)
        # an inlined function has the place at which it was first seen
        numbers.append(frames.number(label(path), file, line if path.address is not None else None))
    weights: dict[tuple[int, ...], int] = {}
    for stack in stacks(core, by_cause):
        chain = core.chain(stack.path)
        own = [numbers[index] for index in chain if index in kept]
        if len(own) < len(chain):
            own.append(frames.number(REST))
        if stack.cause is not None:
            own.append(frames.number(stack.cause))
        sample = tuple(own)
        weights[sample] = weights.get(sample, 0) + stack.cycles
    return {
        "type": "sampled",
        "name": f"{core.name}, cycles by cause" if by_cause else f"{core.name}, cycles",
        "unit": "none",
        "startValue": 0,
        "endValue": sum(weights.values()),
        "samples": list(weights),
        "weights": list(weights.values()),
    }
