"""Differences in words, as a firmware engineer expects them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cyclescope.comparing.code import InstructionChange, Ran
from cyclescope.comparing.differences import (
    Change,
    Comparison,
    CoreChange,
    FunctionChange,
    MetricChange,
    SectionChange,
)
from cyclescope.units import format_ps

NO_DIFFERENCE = "no difference"
_MOST_CAUSES = 3
# The part of the largest cause below which a cause is not named.
_LEAST_SHARE = 0.1


def signed(number: int | float) -> str:
    """A difference: "+1,234", "-5"."""
    return f"{number:+,}" if isinstance(number, int) else f"{number:+,.6g}"


def number(value: int | float) -> str:
    """A number as it is printed."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"


def percent(change: Change) -> str:
    """A difference in percent, "new" from nothing; empty only if there is no difference."""
    share = change.percent
    if share is None:
        return "new" if change.after else ""
    if not share:
        return ""
    digits = 1 if abs(share) >= 0.05 else 2
    if abs(share) < 0.005:
        return f"{'+' if share > 0 else '-'}<0.01 %"
    return f"{share:+.{digits}f} %"


def causes(differences: Mapping[str, int], most: int = _MOST_CAUSES) -> str:
    """The main causes: "load: ddr +2,100, issue +400"."""
    if not differences:
        return ""
    least = max(map(abs, differences.values())) * _LEAST_SHARE
    large = [(cause, n) for cause, n in differences.items() if abs(n) >= least]
    shown = [f"{cause} {signed(n)}" for cause, n in large[:most]]
    return ", ".join(shown)


def why(function: FunctionChange) -> str:
    """Why the cycles of a function differ: causes, then calls and instructions."""
    if function.state is not None and function.before is None and function.after is not None:
        calls = function.after.calls
        how = "inlined" if calls is None else _times(calls, "call")
        return _joined([f"new, {how}", causes(function.causes, 1)])
    if function.after is None:
        return "gone"
    assert function.before is not None
    work = [
        _inlining(function),
        _more(function.calls, "call"),
        _more(function.instructions, "instruction"),
    ]
    return _joined([causes(function.causes), ", ".join(word for word in work if word)])


def _inlining(function: FunctionChange) -> str:
    assert function.before is not None
    assert function.after is not None
    if function.before.calls is not None and function.after.calls is None:
        return "now inlined"
    if function.before.calls is None and function.after.calls is not None:
        return "no longer inlined"
    return ""


def _joined(parts: Sequence[str]) -> str:
    return "; ".join(part for part in parts if part)


def _times(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def _more(change: Change, noun: str) -> str:
    difference = change.difference
    if not difference:
        return ""
    count = abs(int(difference))
    return f"{count:,} {'more' if difference > 0 else 'fewer'} {noun if count == 1 else f'{noun}s'}"


def instruction(change: InstructionChange) -> str:
    """An instruction and the difference of its cycles, in one line."""
    difference = f"{signed(change.cycles.difference)} cycles"
    old, new = change.before, change.after
    if old is None and new is not None:
        return f"{difference}: {_named(new)} is new, {_runs(change)}"
    if new is None:
        assert old is not None
        return f"{difference}: {_named(old)} is gone"
    assert old is not None
    if change.is_other_code:
        return f"{difference}: {_named(new)} in place of `{old.text}`{_ran_more(change)}"
    why = causes({**_cause_changes(old, new)})
    return f"{difference}: {_named(new)}{_ran_more(change)}{why and f'; {why}'}"


def _cause_changes(old: Ran, new: Ran) -> dict[str, int]:
    names = dict.fromkeys((*old.causes, *new.causes))
    found = {name: new.causes.get(name, 0) - old.causes.get(name, 0) for name in names}
    return dict(sorted(((k, v) for k, v in found.items() if v), key=lambda one: -abs(one[1])))


def _named(ran: Ran) -> str:
    place = f" ({ran.place})" if ran.place else ""
    return f"`{ran.text or f'{ran.address:#010x}'}`{place}"


def _runs(change: InstructionChange) -> str:
    return f"ran {_times(int(change.executions.after), 'time')}"


def _ran_more(change: InstructionChange) -> str:
    more = change.executions.difference
    if not more:
        return ""
    return f", ran {_times(abs(int(more)), 'time')} {'more' if more > 0 else 'fewer'}"


def counters(comparison: Comparison) -> list[str]:
    """Counters that differ: "14 more cpu0: d-cache fills"."""
    found = []
    for name, change in comparison.counters.items():
        more = "more" if change.difference > 0 else "fewer"
        owner, _, what = name.replace("-cache.", "-cache ").rpartition(".")
        percents = "" if change.percent is None else f" ({percent(change)})"
        found.append(
            f"{owner}: {abs(change.difference):,} {more} {what.replace('_', ' ')}{percents}"
        )
    return found


def headline(comparison: Comparison) -> list[str]:
    """Each core's cycles in a line; the boards and the simulated time if they differ."""
    boards = [run.board for run in (comparison.before, comparison.after)]
    lines = [] if boards[0] == boards[1] else [f"board: {boards[0]} -> {boards[1]}"]
    lines += [_core(core) for core in comparison.cores if core.cycles.before or core.cycles.after]
    elapsed = comparison.elapsed_ps
    if elapsed is not None and elapsed.difference:
        before, after = (format_ps(int(ps)) for ps in (elapsed.before, elapsed.after))
        lines.append(f"simulated time: {before} -> {after} ({percent(elapsed)})")
    return lines


def _core(core: CoreChange) -> str:
    cycles = core.cycles
    if not cycles.difference:
        return f"{core.name}: {cycles.after:,} cycles in both"
    change = f"{signed(cycles.difference)}, {percent(cycles)}"
    return f"{core.name}: {cycles.before:,} -> {cycles.after:,} cycles ({change})"


def ends(comparison: Comparison) -> str | None:
    """How the runs ended, if they ended differently."""
    if comparison.has_equal_end:
        return None
    words = []
    for run in (comparison.before, comparison.after):
        said = f"status {run.exit_code}" if run.outcome == "exit" else run.message or run.outcome
        words.append(f"{run.label} ended with {said}")
    return "; ".join(words)


def rest(core: CoreChange, shown: Sequence[FunctionChange]) -> tuple[str, Change] | None:
    """All functions that are not shown, as one row, so that rows sum to the core's cycles."""
    others = [one for one in core.functions or () if all(one is not other for other in shown)]
    if not others:
        return None
    change = Change(
        core.cycles.before - sum(one.cycles.before for one in shown),
        core.cycles.after - sum(one.cycles.after for one in shown),
    )
    differing = sum(not one.is_equal for one in others)
    name = f"{len(others):,} other {'function' if len(others) == 1 else 'functions'}"
    return f"{name}, {f'{differing:,} differ' if differing else 'the same'}", change


def core_why(core: CoreChange) -> str:
    """Why the cycles of a core differ."""
    return _joined([causes(core.causes), _more(core.instructions, "instruction")])


def section_why(section: SectionChange) -> str:
    """Why the cycles of a watched function differ."""
    if section.before is None:
        return "new"
    if section.after is None:
        return "gone"
    return _joined([causes(section.causes), _more(section.calls, "call")])


def metric_label(metric: MetricChange) -> str:
    """A metric with its settings: "read bytes=512"."""
    return " ".join([metric.name, *(f"{name}={one}" for name, one in metric.settings.items())])


def metric_name(metric: MetricChange) -> str:
    """A metric with its settings and unit: "read bytes=512 (us)"."""
    return metric_label(metric) + (f" ({metric.unit})" if metric.unit else "")


def metric_values(metric: MetricChange) -> tuple[str, str, str]:
    """Before, after, difference in percent."""
    before, after = ("" if v is None else number(v) for v in (metric.before, metric.after))
    share = "" if metric.values is None else percent(metric.values)
    return before, after, share
