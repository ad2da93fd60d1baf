"""The measured what-ifs of a program, ranked by their gain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cyclescope import reprs
from cyclescope.advising.whatifs import WhatIf
from cyclescope.sweeps.measures import Measure, Number

# A smaller gain is not worth a change.
LEAST_PCT = 0.05


@dataclass(frozen=True)
class Tried:
    """A what-if that was run: its numbers by metric, or its `error`.

    `differs` are printed results that are no times or rates, and differ: then the program did
    something else, and its gain means little.
    """

    what_if: WhatIf
    before: Mapping[str, Number]
    after: Mapping[str, Number]
    measures: Sequence[Measure]
    error: str | None = None
    differs: tuple[str, ...] = ()

    @property
    def ratio(self) -> float | None:
        """Time relative to the original, the geometric mean over all metrics; None without any."""
        ratios = []
        for one in self.measures:
            before, after = self.before.get(one.name), self.after.get(one.name)
            if not before or not after:
                return None
            ratios.append(before / after if one.is_more_better else after / before)
        if self.error is not None or not ratios:
            return None
        return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))

    @property
    def gain_pct(self) -> float | None:
        """How much of the time it saves, in percent; below 0 if it takes longer."""
        return None if self.ratio is None else (1 - self.ratio) * 100

    @property
    def is_gain(self) -> bool:
        """Whether it gains anything, and the program's results are the same."""
        return self.gain_pct is not None and self.gain_pct >= LEAST_PCT and not self.differs

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        one = self.what_if
        return {
            "what": one.what,
            "takes": one.takes,
            "how": one.how,
            "source": one.source,
            "set": dict(one.changes),
            "adds": dict(one.adds),
            "gain_pct": None if self.gain_pct is None else round(self.gain_pct, 4),
            "after": {m.name: self.after[m.name] for m in self.measures if m.name in self.after},
            "differs": list(self.differs),
            "error": self.error,
        }


@dataclass(frozen=True)
class Advice:
    """All that was tried on a program, the largest gain first.

    `where` has the parts of the first core's time by cause, in the unchanged program, the largest
    first. `at_once` are the best of them that can be combined, as one run; None if fewer than two
    gain. `untried` says what was not tried, and why.
    """

    target: str
    board: str
    measures: tuple[Measure, ...]
    before: Mapping[str, Number]
    where: Mapping[str, float]
    tried: tuple[Tried, ...]
    at_once: Tried | None
    untried: tuple[str, ...]

    def __repr__(self) -> str:
        """The largest gains; `to_dict()` has all."""
        return reprs.short(
            self,
            target=self.target,
            board=self.board,
            metrics=reprs.names(one.name for one in self.measures),
            gains=reprs.names(f"{one.what_if.what}: {one.gain_pct:.1f} %" for one in self.gains),
            tried=len(self.tried),
        )

    @property
    def gains(self) -> tuple[Tried, ...]:
        """The what-ifs with a gain."""
        return tuple(one for one in self.tried if one.is_gain)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "target": self.target,
            "board": self.board,
            "metrics": [
                {"name": one.name, "unit": one.unit, "value": self.before[one.name]}
                for one in self.measures
            ],
            "where": {cause: round(part, 6) for cause, part in self.where.items()},
            "what_ifs": [one.to_dict() for one in self.tried],
            "at_once": None if self.at_once is None else self.at_once.to_dict(),
            "untried": list(self.untried),
        }
