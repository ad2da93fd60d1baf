"""A table that fits the screen: columns are left out and names shortened, numbers stay whole."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

# Names and words get at least these cells before a column is left out.
_LEAST_NAME, _LEAST_WORDS, _LEAST_AT_ALL = 20, 16, 6
# On wider screens long names are wrapped, not shortened.
_NARROW = 100
# The share of a shortened name's letters that are from its end.
_FROM_END = 0.6


@dataclass
class _Fit:
    """A column's widths in cells: the least, the full and the given one."""

    column: Column
    least: int
    natural: int
    is_flexible: bool
    width: int = 0

    @property
    def slack(self) -> int:
        """The cells by which names and words can be shortened."""
        return max(self.least - _LEAST_AT_ALL, 0) if self.is_flexible else 0


class Fitted(Table):
    """A table whose numbers (right-aligned columns, and columns that don't wrap) stay whole.

    If the screen is too narrow, the columns with `goes` are left out, the lowest number first, and
    a line names them. Then columns with `is_name` are shortened in their middle, and words are
    wrapped; if that is not enough, the last columns are left out.
    """

    def __init__(self, *headers: Column | str, **more: Any) -> None:
        super().__init__(*headers, **more)
        self._goes: dict[int, int] = {}
        self._names: set[int] = set()

    def add_column(
        self,
        header: RenderableType = "",
        *arguments: Any,
        goes: int | None = None,
        is_name: bool = False,
        **more: Any,
    ) -> None:
        """Add a column, like rich's method."""
        number = len(self.columns)
        if goes is not None:
            self._goes[number] = goes
        if is_name:
            self._names.add(number)
        more.setdefault("overflow", "fold")
        super().add_column(header, *arguments, **more)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the fitted table."""
        yield from Table.__rich_console__(self._fitted(console, options), console, options)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Measure the fitted table."""
        return Table.__rich_measure__(self._fitted(console, options), console, options)

    def _fitted(self, console: Console, options: ConsoleOptions) -> Table:
        fits = [self._fit(console, options, number) for number in range(len(self.columns))]
        if options.max_width >= _NARROW and self._keeps_numbers(console, options, fits):
            return self
        order = sorted(self._goes, key=lambda number: self._goes[number])
        gone: list[Column] = []
        width = options.max_width
        while order and self._room(fits, width) < 0:
            column = self.columns[order.pop(0)]
            fits = [fit for fit in fits if fit.column is not column]
            gone.append(column)
        # leave out any columns rather than break numbers
        while len(fits) > 1 and self._room(fits, width) + sum(fit.slack for fit in fits) < 0:
            gone.append(fits.pop().column)
        _share_out(fits, self._room(fits, width))
        shown = copy.copy(self)
        is_narrow = width < _NARROW
        names = [self.columns[number] for number in self._names]
        shown.columns = [
            _column(fit, is_narrow and any(fit.column is name for name in names)) for fit in fits
        ]
        if gone:
            shown.caption = self._with_left_out(gone)
            shown.caption_justify = "left"
        return shown

    def _with_left_out(self, gone: list[Column]) -> Text:
        """The caption, and a line that names the omitted columns."""
        left = set(map(id, gone))
        headings = [str(column.header) for column in self.columns if id(column) in left]
        lines = [] if not self.caption else [self.caption]
        texts = [line if isinstance(line, Text) else Text(str(line)) for line in lines]
        return Text("\n").join([*texts, Text(f"too narrow for: {', '.join(headings)}")])

    def _fit(self, console: Console, options: ConsoleOptions, number: int) -> _Fit:
        column = self.columns[number]
        wide = options.update(max_width=10_000)

        def measured(part: RenderableType) -> Measurement:
            return Measurement.get(console, wide, part)

        heading = measured(column.header) if self.show_header else Measurement(0, 0)
        parts = [measured(cell) for cell in column.cells]
        if self.show_footer:
            parts.append(measured(column.footer))
        longest = max((part.maximum for part in parts), default=0)
        natural = max(heading.maximum, longest, column.min_width or 0)
        if column.justify == "right" or column.no_wrap:
            return _Fit(column, max(heading.minimum, longest), natural, is_flexible=False)
        word = max((part.minimum for part in parts), default=0)
        least = min(longest, _LEAST_NAME) if number in self._names else min(word, _LEAST_WORDS)
        return _Fit(column, max(heading.minimum, least), natural, is_flexible=True)

    def _keeps_numbers(self, console: Console, options: ConsoleOptions, fits: list[_Fit]) -> bool:
        """Whether rich's own layout breaks no number; it also wraps names and words well."""
        widths = self._calculate_column_widths(console, options)
        sides = [self._get_padding_width(number) for number in range(len(fits))]
        return all(
            fit.is_flexible or width - side >= fit.least
            for fit, width, side in zip(fits, widths, sides, strict=True)
        )

    def _room(self, fits: list[_Fit], width: int) -> int:
        """The remaining cells when each column has its least width."""
        _, right, _, left = self.padding
        padding = (left + right) * len(fits)
        if not self.pad_edge:
            padding -= left + right
        lines = len(fits) - 1 if self.box else 0
        edges = 2 if self.box and self.show_edge else 0
        return width - edges - lines - padding - sum(fit.least for fit in fits)


def _share_out(fits: list[_Fit], room: int) -> None:
    """Give the columns the remaining cells, the narrowest first, or shorten names and words."""
    for fit in fits:
        fit.width = fit.least
    while room < 0:
        wide = [fit for fit in fits if fit.is_flexible and fit.width > _LEAST_AT_ALL]
        if not wide:
            break
        max(wide, key=lambda fit: fit.width).width -= 1
        room += 1
    while room > 0:
        small = [fit for fit in fits if fit.width < fit.natural]
        if not small:
            break
        min(small, key=lambda fit: fit.width).width += 1
        room -= 1


def _column(fit: _Fit, is_shortened: bool) -> Column:
    """A column with its width; its names are shortened if `is_shortened`."""
    column = copy.copy(fit.column)
    column.width = fit.width
    column.min_width = None
    if not fit.is_flexible:
        # the cells fit; only the heading may be wrapped, between words
        column.no_wrap = False
    if is_shortened:
        column._cells = [shortened(cell, fit.width) for cell in fit.column.cells]
    return column


def shortened(name: RenderableType, width: int) -> RenderableType:
    """A name with its middle left out if it is too long: `core::fm…::write_str`.

    A name is a `Text`; other cells are the package's own words.
    """
    if not isinstance(name, Text) or len(name.plain) <= width or width < 3:
        return name
    end = round((width - 1) * _FROM_END)
    text = name.plain
    return Text(f"{text[: width - 1 - end]}…{text[len(text) - end :]}", style=name.style)
