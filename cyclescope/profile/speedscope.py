"""A profile in the file format of speedscope (https://www.speedscope.app/file-format-schema.json).

For each core there are two profiles: its call paths, and the same with the causes of their cycles
as innermost frames. The weights are cycles. A path's stacks stand together, in the order in which
paths were first taken: there is no order in time.
"""

from __future__ import annotations

import json
from typing import Any

from cyclescope.profile.model import CoreProfile
from cyclescope.profile.profile import Profile
from cyclescope.profile.stacks import label, stacks

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_Frame = tuple[str, str | None, int | None]


def speedscope(profile: Profile, exporter: str) -> str:
    """The text of a file; `exporter` names the program and its version."""
    frames = _Frames()
    profiles = [
        _sampled(core, by_cause, frames) for core in profile.cores for by_cause in (False, True)
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
    """Frames by number; equal ones are one."""

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


def _sampled(core: CoreProfile, by_cause: bool, frames: _Frames) -> dict[str, Any]:
    numbers = []
    for path in core.paths:
        file, line = (path.place.file, path.place.line) if path.place else (None, None)
        # an inlined function's place is where it was first seen
        numbers.append(frames.number(label(path), file, line if path.address is not None else None))
    samples, weights = [], []
    for stack in stacks(core, by_cause):
        sample = [numbers[index] for index in core.chain(stack.path)]
        if stack.cause is not None:
            sample.append(frames.number(stack.cause))
        samples.append(sample)
        weights.append(stack.cycles)
    return {
        "type": "sampled",
        "name": f"{core.name}, cycles by cause" if by_cause else f"{core.name}, cycles",
        "unit": "none",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }
