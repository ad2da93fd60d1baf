"""Where a boot's time went, as tables."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group
from rich.text import Text

from cyclescope.board.results import RunResult
from cyclescope.cli.tables.columns import Fitted
from cyclescope.linux.stages import Initcall, initcalls, stages
from cyclescope.units import format_ps, format_share

_MOST_INITCALLS = 10
_MOST_CAUSES = 4
_LEAST_SHARE = 0.02


def stage_tables(result: RunResult, names: Mapping[int, str]) -> Group:
    """The stages of a boot, and its longest initcalls; `names` are functions by address."""
    by_stage = Fitted(title="stages of the boot", title_justify="left")
    by_stage.add_column("stage", is_name=True)
    for column in ("begins at", "takes", "share"):
        by_stage.add_column(column, justify="right")
    for one in stages(result):
        took_ps = one.end_ps - one.begin_ps
        share = format_share(took_ps, result.elapsed_ps)
        by_stage.add_row(one.name, format_ps(one.begin_ps), format_ps(took_ps), share)
    found = initcalls(result, names)
    if not found:
        return Group(by_stage)
    whole_ps = sum(one.ps for one in found)
    title = f"longest of {len(found)} initcalls, which take {format_ps(whole_ps)} together"
    by_call = Fitted(title=title, title_justify="left")
    by_call.add_column("initcall", is_name=True)
    for column, goes in {"begins at": 2, "takes": None, "share": 3}.items():
        by_call.add_column(column, justify="right", goes=goes)
    by_call.add_column("main causes", goes=1, overflow="fold")
    for call in found[:_MOST_INITCALLS]:
        share = format_share(call.ps, whole_ps)
        by_call.add_row(
            call.name, format_ps(call.begin_ps), format_ps(call.ps), share, _causes(call)
        )
    return Group(by_stage, by_call)


def _causes(call: Initcall) -> Text:
    """The largest causes of an initcall's time, with their shares."""
    largest = sorted(call.stack, key=lambda entry: -entry.ps)[:_MOST_CAUSES]
    named = (
        f"{entry.cause} {format_share(entry.ps, call.ps)}"
        for entry in largest
        if entry.ps >= _LEAST_SHARE * call.ps
    )
    return Text(", ".join(named))
