"""Words in plots: their places, their size, and their role among the page's colours.

Sizes and distances are in points; roles are those of `colours`.
"""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.text import Annotation

from cyclescope.report.colours import stand_in

_GAP = 5


def ending(
    axes: Axes, text: str, centre: float, right: float, size: float, role: str, edge: float = 0
) -> Annotation:
    """Words that end at a distance from the left edge of the axes (`edge` 0), or the right (1)."""
    place = {"xycoords": axes.get_yaxis_transform(), "ha": "right"}
    return _put(axes, text, (edge, centre), (right, 0), size, role, **place)


def after(
    axes: Axes, text: str, at: float, centre: float, size: float, role: str = "ink"
) -> Annotation:
    """Words that begin a little to the right of a place."""
    return _put(axes, text, (at, centre), (_GAP, 0), size, role)


def centred(axes: Axes, text: str, at: float, centre: float, size: float) -> Annotation:
    """Words in the middle of a place."""
    return _put(axes, text, (at, centre), (0, 0), size, "ink", ha="center")


def below(axes: Axes, text: str, at: float, distance: float, size: float, role: str) -> Annotation:
    """Words whose upper edge is `distance` below the axes."""
    place = {"xycoords": axes.get_xaxis_transform(), "ha": "center", "va": "top"}
    return _put(axes, text, (at, 0), (0, -distance), size, role, **place)


def _put(
    axes: Axes,
    text: str,
    place: tuple[float, float],
    beside: tuple[float, float],
    size: float,
    role: str,
    **more: Any,
) -> Annotation:
    how: dict[str, Any] = {"va": "center_baseline", "annotation_clip": False, **more}
    return axes.annotate(
        text,
        place,
        xytext=beside,
        textcoords="offset points",
        fontsize=size,
        color=stand_in(role),
        parse_math=False,
        **how,
    )
