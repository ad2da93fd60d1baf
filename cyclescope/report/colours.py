"""Colours: plots name a role, the style sheet gives it a value for light and one for dark.

A plot is drawn in stand-in colours, one for each role, which `svg.py` turns into CSS variables. The
hues are distinguishable with any kind of colour vision (after Okabe and Ito, and Tol, some of them
darker for a white page). There are ten; further causes get the same hues with stripes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

OTHER = "other"
# The core's own work in a plot of waits: it is no wait, and must not look like one.
CPU = "CPU"

# Role: value on light, value on dark.
_ROLES = {
    "page": ("#ffffff", "#15181d"),
    "ink": ("#1c2026", "#e4e7eb"),
    "muted": ("#5b6470", "#9aa4b1"),
    "rule": ("#d9dde2", "#343a43"),
    "shade": ("#f5f6f8", "#1d2128"),
    "link": ("#0a5c99", "#7cc0f4"),
    "published": ("#868f9b", "#6f7a88"),
    "simulated": ("#3f5a7a", "#a9c3e2"),
    "predicted": ("#0a5c99", "#7cc0f4"),
    "calibrated": ("#b34700", "#f0933f"),
    "band": ("#bfe3cc", "#1f4a33"),
    "off": ("#b3261e", "#ff8a80"),
    "other": ("#858d98", "#6c7683"),
    "cpu": ("#c4cad2", "#474f5b"),
}

_HUES = (
    ("#0072b2", "#4da3dd"),  # blue
    ("#c77f00", "#f2b632"),  # orange
    ("#009e73", "#2dbe93"),  # green
    ("#d55e00", "#f0793a"),  # vermilion
    ("#cc79a7", "#e09bc0"),  # pink
    ("#2f9bdc", "#a5daf7"),  # sky
    ("#332288", "#8e84e8"),  # indigo
    ("#8a8a2a", "#c2c25a"),  # olive
    ("#882255", "#cf6a93"),  # wine
    ("#2f9384", "#7fd6c8"),  # teal
)

_VALUES = _ROLES | {f"cause-{i}": values for i, values in enumerate(_HUES)}
_STAND_INS = {role: f"#0000{number:02x}" for number, role in enumerate(_VALUES, start=1)}
_HATCHES = ("", "////", "\\\\\\\\")

VARIABLES = {stand_in: f"var(--{role})" for role, stand_in in _STAND_INS.items()}


@dataclass(frozen=True)
class Style:
    """The look of a cause: a role of the style sheet, and how often its hue was taken before."""

    role: str
    stripes: int = 0

    @property
    def colour(self) -> str:
        """The colour for plots."""
        return stand_in(self.role)

    @property
    def hatch(self) -> str:
        """Matplotlib's pattern."""
        return _HATCHES[self.stripes]

    @property
    def css_class(self) -> str:
        """The class of the style sheet that looks the same."""
        return f"swatch {self.role}" + (f" stripes-{self.stripes}" if self.stripes else "")


def stand_in(role: str) -> str:
    """The colour that represents a role in a plot."""
    return _STAND_INS[role]


def values(dark: bool) -> dict[str, str]:
    """Each role's colour on a light or a dark page."""
    return {role: pair[dark] for role, pair in _VALUES.items()}


def styles(stacks: Iterable[Iterable[tuple[str, int]]]) -> Mapping[str, Style]:
    """A style for each cause, the same in all plots; the largest causes choose first.

    The core's own work among waits has its own style.
    """
    totals: dict[str, int] = {}
    for stack in stacks:
        for cause, ps in stack:
            totals[cause] = totals.get(cause, 0) + ps
    ordered = sorted(totals.keys() - {CPU}, key=lambda cause: (-totals[cause], cause))
    found = {cause: _style(place) for place, cause in enumerate(ordered)}
    return found | {OTHER: Style("other"), CPU: Style("cpu")}


def by_order(number: int) -> list[Style]:
    """`number` styles, with different hues as far as there are hues."""
    return [_style(place) for place in range(number)]


def _style(place: int) -> Style:
    round_number, hue = divmod(place, len(_HUES))
    return Style(f"cause-{hue}", round_number % len(_HATCHES))
