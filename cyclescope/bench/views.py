"""How rows and runs are to be shown: as a table of groups, lines of a plot, wires, a timeline.

An experiment's cell declares a `Pivot` or a `Sweep`; the terminal's tables and the report draw it.
Names are those of settings, or "board", "metric" or "label"; `Words` have readable texts for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cyclescope.board.observing.frames import Phase
from cyclescope.board.results import Settings, Value
from cyclescope.units import rounded


@dataclass(frozen=True)
class Words:
    """Texts for a `name`: its `heading`, and its values by the values themselves.

    A value that `values` lacks is put into the braces of `form`.
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

    A place shows all rows that have both values: how well they agree with the published numbers,
    or, with `values`, simulated values with the published ones and errors after them, in the order
    of the last of `lines` if that is a number. Then a value is shown divided by `per`, with
    `digits` decimal places, in a unit that the title states. Only rows whose settings are among
    those of `where` take part.
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
    """A plot of a measurement over the setting `x`, whose values are in the order of occurrence.

    It has a line for each value of `line`; there is a plot for each board (one for all of them if
    they are `together`) and each value of `each`; for rows without `x`, the line is level. With
    `published` there is a line of this name for the published numbers, or one beside each line that
    has some. With `log` the axes are logarithmic, the axis of `x` only if its values are numbers;
    with `linear`, numbers lie along axes that begin at 0. With a `reference`, a setting and its
    value, the plot shows how many times as fast each row is as the row with that value on the same
    board; otherwise a value divided by `per`, in the unit that `y_title` states. Only rows whose
    settings are among those of `where` take part. Plots are in ascending `order`.
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

    `text` says what the plot shows; the run's setting `panel` names its panel. `wires` are shown
    from top to bottom: their names on the bus, and readable names; `called` returns the wires of a
    run by its settings instead. `phases` are marked above the wires. Time counts from the select's
    falling edge, as `x_title` says; panels `each` to its own scale have no axis.
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
    `before` the call of that number (from 1) of a `function`, and has that `length`; "cm4:main" is
    a function of another core than the first. `text` says what the timeline shows. The run is made
    once more for it, `shortened` by settings that do not change what is shown.

    The timeline shows the functions in which cores were, to a nesting of `depth`, and all that
    devices did except for what is `hidden`: patterns of "flash0: page program". `wires` are
    patterns of wires that are shown as well; with `in_place`, clocks of reads in place are shown,
    too.
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
        """Whether it may belong to a run of this app with these settings."""
        is_equal = all(settings.get(name) == value for name, value in self.settings.items())
        return is_equal and self.app in ("", app)

    def is_of(self, settings: Settings) -> bool:
        """Whether a run with these settings is the moment's own: shortened as it requests."""
        return all(settings.get(name) == value for name, value in self.shortened.items())


def takes(view: Pivot | Sweep, settings: Settings) -> bool:
    """Whether a row with these settings takes part in a view."""
    left_out = view.but if isinstance(view, Pivot) else ()
    if left_out and all(settings.get(name) == value for name, value in left_out):
        return False
    return all(settings.get(name) in allowed for name, allowed in view.where)
