"""The result of a sweep: one row for each run, with its settings and numbers, or its error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cyclescope import reprs
from cyclescope.board.results import Value
from cyclescope.comparing import directions
from cyclescope.dataframes import dataframe
from cyclescope.errors import SettingError
from cyclescope.similar_names import did_you_mean_or
from cyclescope.sweeps import measures
from cyclescope.sweeps.axes import Axis
from cyclescope.sweeps.designs import Design
from cyclescope.sweeps.measures import Measure, Namer, Number
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.planning import Plan, base_columns
from cyclescope.sweeps.prices import Prices
from cyclescope.units import parse_number

if TYPE_CHECKING:
    import pandas

PRICE, ERROR = "price", "error"


_ENDLESS = (
    "it did not end within its limit of simulated time: raise --limit, let a --script end it "
    "(`expect` of what it prints, then `end`), or say what counts, as in --section FUNCTION"
)


@dataclass(frozen=True)
class SweepRow:
    """A run: its settings by path, as numbers where possible, and the numbers that it gave.

    `error` is one line if the run failed; then `values` has what it measured until then. `price` is
    the cost of its parts, if they have prices. `is_kept` says that it came from the cache.
    """

    settings: Mapping[str, Value]
    values: Mapping[str, Number]
    error: str | None
    price: float | None
    is_kept: bool = field(compare=False)

    def value(self, metric: str) -> Number | None:
        """A number by its name; None if the run failed, or has no such number."""
        value = None if self.error is not None else self.values.get(metric)
        return None if value is None or not math.isfinite(value) else value


@dataclass(frozen=True)
class SweepResult:
    """The rows of a sweep.

    `axes` are what was varied; `columns` names them, and other settings in which rows differ.
    `metrics` names what the sweep shows, the most important first; `measures` has all numbers of
    the rows, by name. `rows` are in the order of the plan, only those that were run. `planned` is
    the number of rows in the plan.
    """

    target: str
    board: str
    axes: tuple[Axis, ...]
    design: Design
    columns: tuple[str, ...]
    metrics: tuple[str, ...]
    measures: Mapping[str, Measure]
    rows: tuple[SweepRow, ...]
    planned: int

    def __repr__(self) -> str:
        """What was varied, and the number of rows; `to_dataframe()` has the rows."""
        return reprs.short(
            self,
            target=self.target,
            board=self.board,
            varied=reprs.names(axis.path for axis in self.axes),
            metrics=reprs.names(self.metrics),
            rows=len(self.rows),
            failures=len(self.failures),
            planned=self.planned,
        )

    @cached_property
    def failures(self) -> tuple[SweepRow, ...]:
        """The rows whose runs failed."""
        return tuple(row for row in self.rows if row.error is not None)

    @cached_property
    def is_priced(self) -> bool:
        """Whether parts have prices."""
        return any(row.price is not None for row in self.rows)

    @property
    def table_columns(self) -> list[str]:
        """The columns of its table: settings, price, error, numbers."""
        price = [PRICE] if self.is_priced else []
        return list(dict.fromkeys([*self.columns, *price, ERROR, *self.measures]))

    def table(self) -> list[dict[str, Any]]:
        """The rows with all columns, for CSV and Parquet; None for missing values."""
        return [_flat(row, self.table_columns) for row in self.rows]

    def to_dataframe(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame, one line for each run.

        Raises `ImportError`, saying what to install, without pandas.
        """
        return dataframe(self.table(), self.table_columns)

    def best(self, metric: str | None = None) -> SweepRow | None:
        """The row with the best number: the largest if less is worse, else the smallest."""
        name = metric or self.metrics[0]
        rows = [row for row in self.rows if row.value(name) is not None]
        return min(rows, key=lambda row: self.badness(row, name), default=None)

    def badness(self, row: SweepRow, metric: str) -> float:
        """A row's number, negated if more is better: less of this is always better."""
        value = row.value(metric) or 0
        return -value if self.measures[metric].is_more_better else value

    def pareto(self, metric: str | None = None) -> tuple[SweepRow, ...]:
        """The rows with a better number than all rows that cost as little or less.

        They are in the order of their prices; empty without prices.
        """
        name = metric or self.metrics[0]
        found: list[SweepRow] = []
        priced = [(row.price, row) for row in self.rows if row.price is not None]
        priced = [(price, row) for price, row in priced if row.value(name) is not None]
        for _, row in sorted(priced, key=lambda pair: (pair[0], self.badness(pair[1], name))):
            if not found or self.badness(row, name) < self.badness(found[-1], name):
                found.append(row)
        return tuple(found)


def tabulate(
    planned: Plan,
    outcomes: Sequence[Outcome | None],
    metrics: Sequence[str],
    prices: Prices,
    preferred: Iterable[str] = (),
    board: str = "",
    worse: Mapping[str, str] | None = None,
) -> SweepResult:
    """The result of a plan's outcomes; rows without an outcome are left out.

    `worse` has the direction in which metrics get worse, by name. Raises `SettingError` for a
    metric that no run has.
    """
    runs = [outcome for outcome in outcomes if outcome is not None]
    namer = Namer(runs)
    known = measures.all_measures(namer, runs, worse)
    _check_metrics(metrics, known)
    _check_worse(worse or {}, known)
    chosen = list(metrics) or measures.default_metrics(known, preferred)
    rows = tuple(
        _row(planned, place, outcome, namer, chosen, bool(metrics), prices)
        for place, outcome in enumerate(outcomes)
        if outcome is not None
    )
    columns = (*base_columns(planned.target.bases), *(axis.path for axis in planned.axes))
    return SweepResult(
        planned.target.name,
        board,
        planned.axes,
        planned.design,
        tuple(dict.fromkeys(columns)),
        tuple(chosen),
        known or {measures.ELAPSED: Measure(measures.ELAPSED, "ps")},
        rows,
        len(planned.rows),
    )


def check_metrics(metrics: Sequence[str], worse: Mapping[str, str], first: Outcome) -> None:
    """Raises `SettingError` if a run that has measured something lacks one of `metrics`.

    Its printed metrics are named as if it were the only run; a metric with several settings may
    have any of them.
    """
    if first.error is None and _has_measured(first):
        known = measures.all_measures(Namer([first]), [first])
        plain = set(map(measures.plain, known))
        _check_metrics([one for one in metrics if measures.plain(one) not in plain], known)
        _check_worse({name: way for name, way in worse.items() if "[" not in name}, known)


def _check_metrics(metrics: Sequence[str], known: Mapping[str, Measure]) -> None:
    for name in metrics:
        if known and name not in known:
            raise unknown("--metric", name, known)


def _check_worse(worse: Mapping[str, str], known: Mapping[str, Measure]) -> None:
    names = {*known, *map(measures.plain, known)}
    for name, way in worse.items():
        if known and name not in names:
            raise unknown(directions.OPTIONS[way], name, known)


def unknown(option: str, name: str, known: Mapping[str, Measure]) -> SettingError:
    """The error for a metric that no run has, with the metrics that exist."""
    shown = [one for one in known if ".stack." not in one]
    hint = did_you_mean_or(name, list(known), f"there are {', '.join(shown)}")
    return SettingError(f"{option} {name}: no run has it{hint}")


def _row(
    planned: Plan,
    place: int,
    outcome: Outcome,
    namer: Namer,
    metrics: Sequence[str],
    asked: bool,
    prices: Prices,
) -> SweepRow:
    base, point = planned.rows[place]
    values = planned.values(point)
    settings = dict(planned.target.bases[base]) | {
        path: _value(text) for path, text in values.items()
    }
    numbers = namer.values(outcome)
    error = outcome.error or _missing(outcome, numbers, metrics, asked)
    return SweepRow(settings, numbers, error, prices.of(values), outcome.is_kept)


def _missing(
    outcome: Outcome, numbers: Mapping[str, Number], metrics: Sequence[str], asked: bool
) -> str | None:
    """Why a run that did not fail still gives no number."""
    without = [name for name in metrics if name not in numbers] if asked else []
    if outcome.ended == "limit" and (without or not (asked or _has_measured(outcome))):
        return _ENDLESS
    return f"it gave no {', '.join(without)}" if without else None


def _has_measured(outcome: Outcome) -> bool:
    return bool(outcome.metrics) or any(section.calls for section in outcome.sections)


def _value(text: str) -> Value:
    number = parse_number(text)
    return text if number is None else number


def _flat(row: SweepRow, columns: Sequence[str]) -> dict[str, Any]:
    known = {**row.values, PRICE: row.price, ERROR: row.error, **row.settings}
    return {name: known.get(name) for name in columns}
