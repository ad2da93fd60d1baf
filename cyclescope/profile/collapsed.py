"""A profile as collapsed stacks: one line for each call path, for flame graph programs.

A line is `core;caller;function cycles`; an inlined function ends in `_[i]`, which these programs
recognize.
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclescope.profile.model import INLINED, Path
from cyclescope.profile.profile import Profile
from cyclescope.profile.stacks import stacks


def collapsed(profile: Profile, by_cause: bool = False) -> Iterator[str]:
    """The lines of a file; with `by_cause`, causes of cycles are the innermost frames."""
    for core in profile.cores:
        names = [_name(path) for path in core.paths]
        for stack in stacks(core, by_cause):
            frames = [core.name, *(names[index] for index in core.chain(stack.path))]
            if stack.cause is not None:
                frames.append(_plain(stack.cause))
            yield f"{';'.join(frames)} {stack.cycles}\n"


def _name(path: Path) -> str:
    return _plain(path.name) + ("_[i]" if path.kind == INLINED else "")


def _plain(name: str) -> str:
    """A name without the separators of frames and lines."""
    return " ".join(name.replace(";", ":").split())
