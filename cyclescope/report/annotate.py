"""An annotated function as a page: its source beside its instructions, with bars by cause."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Any

from cyclescope.profile.annotation import Annotation
from cyclescope.profile.model import Place
from cyclescope.profile.profile import Profile
from cyclescope.report import colours
from cyclescope.report.environment import environment
from cyclescope.units import count

_Key = tuple[str, str, int]


def annotate_page(annotations: Sequence[Annotation], profile: Profile) -> str:
    """The page as HTML: the cost of a function's code on each core."""
    numbers = _Numbers(annotations)
    filters: dict[str, Callable[..., Any]] = {
        "count": count,
        "share": lambda part, whole: f"{100 * part / whole:.1f} %" if whole else "",
        "part": lambda part, whole: f"{100 * part / whole:.2f}" if whole else "0",
        "causes": lambda causes: "\n".join(f"{cause}: {n:,}" for cause, n in causes.items()),
        "key": lambda line: numbers.of(tuple(line)),
        "keys": numbers.of_places,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
    }
    return (
        environment(filters)
        .get_template("annotate.html.j2")
        .render(
            annotations=annotations,
            profile=profile,
            title=f"{annotations[0].function} in {profile.firmware}",
            most={one.core: _most(one) for one in annotations},
            styles=colours.styles(one.spent.causes.items() for one in annotations),
            light=colours.values(dark=False),
            dark=colours.values(dark=True),
            version=importlib.metadata.version("cyclescope"),
        )
    )


def _most(annotation: Annotation) -> int:
    """The cycles of the longest bar."""
    lines = (line.spent.cycles for source in annotation.sources for line in source.lines)
    return max([1, *lines, *(one.spent.cycles for one in annotation.instructions)])


class _Numbers:
    """Short names of lines, which connect lines and instructions on the page."""

    def __init__(self, annotations: Sequence[Annotation]) -> None:
        lines = {
            (source.function, source.file, line.number): None
            for one in annotations
            for source in one.sources
            for line in source.lines
        }
        self._numbers: dict[_Key, int] = {line: number for number, line in enumerate(lines)}

    def of(self, line: _Key) -> str:
        return str(self._numbers[line])

    def of_places(self, places: Sequence[Place]) -> str:
        keys = ((place.function, place.file or "", place.line or 0) for place in places)
        return " ".join(map(self.of, keys))
