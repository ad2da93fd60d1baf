"""How rows and runs are to be shown: as a table of groups, lines of a plot, wires, a timeline.

An experiment's cell declares a `Pivot` or a `Sweep`; the terminal's tables and the report draw it.
Names are those of settings, or "board", "metric" or "label"; `Words` say how people call them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cyclescope.board.observing.frames import Phase
from cyclescope.board.results import Settings, Value
from cyclescope.units import rounded


@dataclass(frozen=True)
class Words:
    """What people call a `name`: its `heading`, and its values by what they are.

    A value that `values` does not name is put into the braces of `form`.
    """

    name: str
    heading: str
    values: tuple[tuple[Value, str], ...] = ()
    form: str = "{}"

    def of(self, value: Value) -> str:
        """A value in words."""
        return dict(self.values).get(value) or self.form.format(value)


@dataclass(frozen=True)
class Pivot:
    """A table with a line for each value of `lines` that occurs and a column for each of `columns`.

    Where they meet stand all rows that have both: how well they agree with what was published, or,
    with `values`, simulated values with the published ones and errors behind them, in the order of
    the last of `lines` if that is a number. Then what is shown is a value divided by `per`, with so
    many `digits`, in a unit that the title tells. Only rows whose settings are
    among those of `where` take part.
    """

    title: str
    lines: tuple[str, ...]
    columns: tuple[str, ...]
    values: bool = False
    words: tuple[Words, ...] = ()
    per: int = 1
    digits: int = 5
    where: tuple[tuple[str, tuple[Value | None, ...]], ...] = ()
    but: tuple[tuple[str, Value], ...] = ()

    def shown(self, value: float) -> str:
        """A value as its place shows it; counts are shown in full."""
        exact = isinstance(value, int) and self.per == 1
        return str(value) if exact else rounded(value / self.per, self.digits)


@dataclass(frozen=True)
class Sweep:
    """A plot of a measurement over the setting `x`, which runs as it first occurs.

    A line for each value of `line`, a plot for each board (one for all of them if they are
    `together`) and each value of `each`; where rows have no `x`, the line is level. With
    `published` there is a line of this name for the published numbers, or one beside each that has
    some. With `log` the axes are logarithmic, that of `x` only if its values are numbers; with
    `linear`, numbers lie along axes that begin at 0. With a `reference`, a setting and its value,
    what is shown is how many times as fast as the row that has it on the same board each row is;
    else a value divided by `per`, in the unit that `y_title` tells. Only rows whose settings are
    among those of `where` take part. Plots of less `order` come first.
    """

    title: str
    x: str
    x_title: str
    line: str
    y_title: str
    reference: tuple[str, Value] | None = None
    each: str | None = None
    published: str | None = None
    log: bool = False
    words: tuple[Words, ...] = ()
    per: int = 1
    where: tuple[tuple[str, tuple[Value | None, ...]], ...] = ()
    order: int = 0
    linear: bool = False
    together: bool = False


@dataclass(frozen=True)
class Frames:
    """A plot of the wires during frames: a panel for each run that kept one.

    `text` says what there is to see; the run's setting `panel` names its panel. `wires` are shown
    from top to bottom: their names on the bus, and what people call them; `called` gives the
    wires of a run by its settings in their place. `phases` are told apart above the wires. Time
    counts from the select's fall, as `x_title` says; panels `each` to its own scale have no axis.
    """

    title: str
    text: str
    panel: str
    wires: tuple[tuple[str, str], ...] = ()
    called: Callable[[Settings], tuple[tuple[str, str], ...]] | None = None
    phases: Callable[[Settings], tuple[Phase, ...]] | None = None
    x_title: str = "time since the select fell, us"
    each: bool = False

    def wires_of(self, settings: Settings) -> tuple[tuple[str, str], ...]:
        """The wires of a run with these settings."""
        return self.called(settings) if self.called else self.wires

    def phases_of(self, settings: Settings) -> tuple[Phase, ...]:
        """The phases of the frame of a run with these settings."""
        return self.phases(settings) if self.phases else ()


@dataclass(frozen=True)
class Moment:
    """A window of a run that shows what an experiment is about, as a timeline in the report.

    The run is the first of the `app` (any, if it is empty) with these `settings`. The window begins
    so long `before` the call of that number (from 1) of a `function`, and has that `length`;
    "cm4:main" is a function of another core than the first. `text` says what there is to see. It is
    run once more for it, `shortened` by settings that leave what is shown as it is.

    Shown are the functions in which cores were, `depth` of them that lie one in another, and all
    that devices did but for what is `hidden`: patterns of "flash0: page program". `wires` are
    patterns of wires that are shown as well; with `in_place` clocks of reads in place are, too.
    """

    title: str
    text: str
    settings: Settings
    function: str
    length_ps: int
    call: int = 1
    before_ps: int = 0
    shortened: Settings = field(default_factory=dict)
    app: str = ""
    depth: int = 3
    hidden: tuple[str, ...] = ()
    wires: tuple[str, ...] = ()
    in_place: bool = False

    def takes(self, app: str, settings: Settings) -> bool:
        """Whether it may be one of a run of this app with these settings."""
        alike = all(settings.get(name) == value for name, value in self.settings.items())
        return alike and self.app in ("", app)

    def is_of(self, settings: Settings) -> bool:
        """Whether a run with these settings is the moment's own: shortened as it asks for."""
        return all(settings.get(name) == value for name, value in self.shortened.items())


def takes(view: Pivot | Sweep, settings: Settings) -> bool:
    """Whether a row with these settings takes part in a view."""
    left_out = view.but if isinstance(view, Pivot) else ()
    if left_out and all(settings.get(name) == value for name, value in left_out):
        return False
    return all(settings.get(name) in allowed for name, allowed in view.where)
