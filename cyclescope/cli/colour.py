"""Colours of tables, and how the user turns them off (https://no-color.org)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click


def _turn_off(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    if value and not ctx.resilient_parsing:
        # every later console of rich reads the variable
        os.environ["NO_COLOR"] = "1"
    return value


def no_color_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--no-color`, which is equal to NO_COLOR in the environment."""
    return click.option(
        "--no-color",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_turn_off,
        help="Do not use colours (same as NO_COLOR in the environment).",
    )(command)
