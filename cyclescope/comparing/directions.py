"""The direction in which a metric gets worse: times and cycles by more, rates by less.

The user states it, else the unit shows it, else the metric's name. If none does, a change is
neither better nor worse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cyclescope.errors import UsageError

MORE, LESS = "more", "less"
OPTIONS = {MORE: "--more-is-worse", LESS: "--less-is-worse"}

# Less of them is worse: the work in a second, or in a fixed time.
_RATES = re.compile(r".+(/s|/sec|/second|/min|/mhz|ps)$", re.IGNORECASE)
_RATE_UNITS = {"bps", "hz", "khz", "mhz", "ips", "mips", "fps", "baud", "loops", "iterations"}
_COST_UNITS = {
    "s",
    "ms",
    "us",
    "µs",
    "ns",
    "ps",
    "sec",
    "second",
    "seconds",
    "min",
    "cycle",
    "cycles",
    "clocks",
    "ticks",
    "instructions",
    "cpi",
    "misses",
    "errors",
    "retries",
    "j",
    "mj",
    "uj",
    "µj",
    "nj",
    "w",
    "mw",
    "uw",
    "µw",
}
# `cycles/byte`, `us/call`, `ns per byte`
_PER = re.compile(r"(?P<unit>\S+?)\s*(/|\bper\b).*")
_RATE_NAME = re.compile(r"(^|[^a-z])(throughput|rate|speed|bandwidth|coremark)", re.IGNORECASE)
_COST_NAME = re.compile(
    r"(^|[^a-z])(time|latency|delay|jitter|duration|cycles|overhead|misses|errors|retries)",
    re.IGNORECASE,
)


def worse(name: str, unit: str) -> str | None:
    """`MORE` if a metric gets worse by more, `LESS` if by less, None if that is unknown."""
    found = _of_unit(unit.strip().lower())
    if found is None and _COST_NAME.search(name):
        return MORE
    if found is None and _RATE_NAME.search(name):
        return LESS
    return found


def given(more_is_worse: Iterable[str], less_is_worse: Iterable[str]) -> dict[str, str]:
    """`MORE` or `LESS` by the metrics that a user names. Raises `UsageError` for one in both."""
    more, less = dict.fromkeys(more_is_worse, MORE), dict.fromkeys(less_is_worse, LESS)
    both = next((name for name in more if name in less), None)
    if both is not None:
        raise UsageError(f"{' and '.join(OPTIONS.values())} name the same metric: {both}")
    return more | less


def _of_unit(unit: str) -> str | None:
    if unit in _COST_UNITS:
        return MORE
    if unit in _RATE_UNITS or _RATES.fullmatch(unit):
        return LESS
    per = _PER.fullmatch(unit)
    return MORE if per and per["unit"] in _COST_UNITS else None
