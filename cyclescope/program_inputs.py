"""What the command line hands on to a program: arguments behind `--`, and a standard input."""

from __future__ import annotations

import sys
from typing import IO, Any

import click

from cyclescope.errors import UsageError


class TakesArguments(click.Command):
    """A command whose parameter `arguments` has all that stands behind the first `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before the dashes."""
        end = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:end])
        ctx.params["arguments"] = tuple(args[end + 1 :])
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Say where the arguments come."""
        return [*super().collect_usage_pieces(ctx), "[-- ARGUMENTS...]"]


class InputFile(click.ParamType):
    """A file that is read while the program runs; `-` is the command's own standard input."""

    name = "file"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> IO[bytes]:
        """Open it. Raises `OSError`, or `UsageError` if the command has no standard input."""
        if value == "-":
            if sys.stdin is None:
                raise UsageError("--stdin -: the standard input is closed")
            return sys.stdin.buffer
        file = click.open_file(value, "rb")
        if ctx is not None:
            ctx.call_on_close(file.close)
        return file
