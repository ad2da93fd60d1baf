"""Completions for a shell: boards, settings, wires, experiments and more.

The shell waits for them, so each function imports only what it needs, and returns nothing after an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from cyclescope.errors import EngineError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    _Items = list[CompletionItem]
    _Complete = Callable[[click.Context, click.Parameter, str], _Items]


def _item(name: str, **more: Any) -> CompletionItem:
    from click.shell_completion import CompletionItem  # only completion needs it

    return CompletionItem(name, **more)


class ArgumentsKnown(click.Command):
    """A command that keeps its arguments while the value of a later option is completed.

    Click drops the arguments because that option has no value yet.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the complete words."""
        if ctx.resilient_parsing and args and args[-1].startswith("-"):
            args = args[:-1]
        return super().parse_args(ctx, args)


def _silent(
    names: Callable[[click.Context, str], Iterable[tuple[str, str | None]]],
) -> _Complete:
    """A completion function for click, from a function that returns names with their meanings."""

    @wraps(names)
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
        try:
            found = list(names(ctx, incomplete))
        except (EngineError, OSError):
            return []
        fitting = [item for item in found if item[0].startswith(incomplete)]
        return [_item(name, help=meaning) for name, meaning in fitting]

    return complete


@_silent
def _shipped(ctx: click.Context, incomplete: str) -> Iterable[tuple[str, None]]:
    from cyclescope.board import shipped_boards

    return ((name, None) for name in shipped_boards())


def boards(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Shipped boards, or files if no board matches."""
    return _shipped(ctx, param, incomplete) or [_item(incomplete, type="file")]


@_silent
def settings(ctx: click.Context, incomplete: str) -> Iterable[tuple[str, None]]:
    """Labels of the board's nodes, and after a dot the properties of a node, for `--set`."""
    from cyclescope.board.description.overrides import paths

    known = paths(_tree(ctx))
    if "." in incomplete:
        return ((f"{path}=", None) for path in known)
    owners = dict.fromkeys(path.rpartition(".")[0] for path in known)
    return ((f"{owner}.", None) for owner in owners if not owner.startswith("/"))


@_silent
def wires(ctx: click.Context, incomplete: str) -> Iterable[tuple[str, None]]:
    """Signals of the board, and patterns for all signals of a node, for `--waves-signals`."""
    from cyclescope._engine import Machine

    signals = Machine(_tree(ctx).to_dict()).wave_signals()
    scopes = dict.fromkeys(scope for scope, *_ in signals)
    names = [f"{scope}.{name}" for scope, name, _ in signals]
    return ((name, None) for name in [*(f"{scope}.*" for scope in scopes), *names])


def _tree(ctx: click.Context):  # a devicetree.Node; its import takes time
    from cyclescope.board.description.trees import board_tree

    return board_tree(ctx.params.get("board") or ctx.params.get("name") or "")


@_silent
def compatibles(ctx: click.Context, incomplete: str) -> Iterable[tuple[str, str | None]]:
    """All compatibles with a model."""
    from cyclescope.board.description.devicetree_bindings import bindings

    return ((entry.compatible, entry.title) for entry in bindings())


@_silent
def benches(ctx: click.Context, incomplete: str) -> Iterable[tuple[str, str | None]]:
    """The experiments, and the suites."""
    from cyclescope import experiments, suites

    yield from ((one.name, one.title) for one in experiments.KNOWN.values())
    yield from ((one.name, one.title) for one in suites.ALL.values())


def sweeps(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """The experiments, and files, for `sweep`."""
    return [*experiments(ctx, param, incomplete), _item(incomplete, type="file")]


@_silent
def experiments(ctx: click.Context, incomplete: str) -> Iterable[tuple[str, str | None]]:
    """The experiments that come with Cyclescope."""
    from cyclescope.experiments import KNOWN

    return ((name, experiment.title) for name, experiment in KNOWN.items())
