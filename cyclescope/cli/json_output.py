"""`--json FILE|-` for commands that only show data."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import click

from cyclescope.host.outputs import check_outputs, write_text


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option, as its parameter `json_file`."""
    words = "Write JSON instead of tables."
    return click.option("--json", "json_file", metavar="FILE|-", help=words)(command)


def write(json_file: str, data: Any) -> None:
    """Write plain data to a file, or to stdout for "-". Raises `OutputError` if that fails."""
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    if json_file == "-":
        sys.stdout.write(text)
        return
    check_outputs({"--json": json_file}, {})
    write_text(json_file, text)
