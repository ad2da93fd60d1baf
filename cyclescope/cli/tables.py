"""A run's result as tables on a terminal, and the terminal itself."""

from __future__ import annotations

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from cyclescope.board.results import RunResult
from cyclescope.cli import summary
from cyclescope.cli.plain_summary import WIDTH
from cyclescope.cli.summary import hexadecimal as hexadecimal


def run_summary(result: RunResult) -> Group:
    """What a run took, the words it gave as results, and the cycle stack of each core."""
    facts = Table.grid(padding=(0, 2))
    for label, fact in summary.facts(result):
        facts.add_row(label, fact)
    words = [Text("\n".join(summary.words(name, words))) for name, words in result.results.items()]
    return Group(facts, *words, *map(_stack_table, summary.stacks(result)))


def _stack_table(stack: summary.Stack) -> Table:
    table = Table(title=stack.title, title_justify="left", show_footer=True)
    for place, (heading, total) in enumerate(zip(summary.HEADINGS, stack.total, strict=True)):
        table.add_column(heading, footer=total, justify="right" if place else "left")
    for row in stack.rows:
        table.add_row(*row)
    return table


class _Console(Console):
    """One that leaves it to its caller what a reader who has left means; rich ends the program."""

    def on_broken_pipe(self) -> None:
        """Called by rich as it handles the error, which goes on from here."""
        raise


def console(stderr: bool = False) -> Console:
    """A terminal of its width, or lines of 120 characters into a file or pipe."""
    probe = _Console(stderr=stderr)
    return probe if probe.is_terminal else _Console(stderr=stderr, width=WIDTH)
