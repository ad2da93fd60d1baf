"""The report from top to bottom: an overview, its trust, and a section for each experiment."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from cyclescope.bench import influence, pivots, trust, uncertainty
from cyclescope.bench.results import ExperimentResult
from cyclescope.report import agreement, colours, profiles, strip
from cyclescope.report.agreement import Agreement
from cyclescope.report.anchors import Anchors
from cyclescope.report.calibration import ALL, ONCE, ROLES, calibration
from cyclescope.report.environment import environment
from cyclescope.report.section import panels, section, shown
from cyclescope.report.text import plain, setting_text, signed_percent
from cyclescope.units import count, format_ps

# The most rows with errors that a table lists; for more it gives their number.
_MOST_OFF = 200
MOST_AT_ONCE = 1000
"""Longer tables are made when the reader opens them: browsers are slow with them."""


@dataclass(frozen=True)
class Overview:
    """The published numbers of all experiments, and the plots of them; None without any."""

    agreement: Agreement
    scatter: Markup | None
    histogram: Markup | None
    strip: Markup | None


def render(results: Sequence[ExperimentResult]) -> str:
    """The whole report as HTML."""
    anchors = Anchors(results)
    found = [panels(result) for result in results]
    counted = trust.overall(results)
    styles = colours.styles(shown(one.stack) for each in found for one in each if one.stack)
    return (
        environment(_filters(anchors))
        .get_template("page.html.j2")
        .render(
            overview=_overview(results, anchors),
            sections=[
                section(result, each, styles) for result, each in zip(results, found, strict=True)
            ],
            trust=counted,
            calibration=calibration(counted.measured.rows, uncertainty.load()),
            once_role=ROLES[ONCE],
            all_role=ROLES[ALL],
            level_pct=uncertainty.LEVEL_PCT,
            has_flames=any(run.profile for result in results for run in result.runs),
            most_off=_MOST_OFF,
            most_at_once=MOST_AT_ONCE,
            close_pct=pivots.CLOSE_PCT,
            most_pct=f"{influence.MOST_PCT:g}",
            light=colours.values(dark=False),
            dark=colours.values(dark=True),
            version=importlib.metadata.version("cyclescope"),
        )
    )


def _filters(anchors: Anchors) -> dict[str, Callable[..., Any]]:
    return {
        "plain": plain,
        "percent": signed_percent,
        "interval": lambda row: pivots.format_interval(row).replace("-", "\N{MINUS SIGN}"),
        "fine_percent": pivots.percent,
        "time": format_ps,
        "quantity": lambda parameter: f"{parameter.value} {parameter.unit}".strip(),
        "count": count,
        "setting": lambda item: setting_text(*item),
        "anchor": anchors.of,
        "flame": profiles.link,
        "value": pivots.shown,
    }


def _overview(results: Sequence[ExperimentResult], anchors: Anchors) -> Overview:
    found = agreement.collect(results, anchors)
    return Overview(
        found,
        agreement.scatter(found) if found.shown or found.met else None,
        agreement.histogram(found) if found.shown else None,
        strip.draw(found) if found.shown else None,
    )
