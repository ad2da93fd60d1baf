"""Options for the direction in which metrics get worse, for commands that compare."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from cyclescope.comparing import directions
from cyclescope.comparing.directions import LESS, MORE, OPTIONS


def direction_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options; it gets them as `worse`, by metric."""

    @click.option(
        OPTIONS[MORE],
        multiple=True,
        metavar="METRIC",
        help="Treat a larger value of this metric as worse.",
    )
    @click.option(
        OPTIONS[LESS],
        multiple=True,
        metavar="METRIC",
        help="Treat a smaller value of this metric as worse.",
    )
    @wraps(command)
    def with_options(
        *, more_is_worse: tuple[str, ...], less_is_worse: tuple[str, ...], **others: Any
    ) -> Any:
        return command(worse=directions.given(more_is_worse, less_is_worse), **others)

    return with_options
