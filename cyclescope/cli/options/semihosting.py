"""Options for semihosting: a folder of files, and an input."""

from __future__ import annotations

import sys
from typing import IO, Any

import click

from cyclescope.errors import UsageError


class InputFile(click.ParamType):
    """A file that the firmware reads during the run; `-` is the command's own standard input."""

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


semihosting_dir_option = click.option(
    "--semihosting-dir",
    metavar="DIR",
    help="Folder whose files the firmware may open by semihosting.",
)

stdin_option = click.option(
    "--stdin",
    type=InputFile(),
    metavar="FILE|-",
    help="File that the firmware reads as its semihosting input.",
)
