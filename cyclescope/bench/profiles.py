"""The packed profiles of a bench's runs, from which pages of flame graphs are made."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from cyclescope.board.results import Value
from cyclescope.profile.profile import Profile
from cyclescope.profile.speedscope import speedscope

_LONGEST = 60
# The most call paths of a core, those with the most cycles: with more a run's file would be large.
MOST_PATHS = 4000


@dataclass(frozen=True)
class RunProfile:
    """The profile of a run: `packed` is a file of speedscope's format, by gzip.

    `name` is for a file; the same run has the same name in each bench, and no other run has it.
    """

    name: str
    title: str
    packed: bytes


def name_of(experiment: str, board: str, app: str, settings: Mapping[str, Value]) -> str:
    """The name of a run's profile, from its configuration: settings that are shown to readers."""
    text = json.dumps([board, app, {name: settings[name] for name in sorted(settings)}])
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    values = re.sub(r"[^a-z0-9]+", "-", " ".join(map(str, settings.values())).lower()).strip("-")
    return "-".join(filter(None, (experiment, values[:_LONGEST].strip("-"), digest)))


def packed(name: str, title: str, profile: Profile) -> RunProfile:
    """The profile of a run, as compactly as it is kept."""
    text = speedscope(profile, f"cyclescope {version('cyclescope')}", MOST_PATHS)
    # without a time of its own, the same profile gives the same bytes
    return RunProfile(name, title, gzip.compress(text.encode(), 6, mtime=0))
