"""TOML files of users: of bounded size and depth, with errors by line.

The bounds are needed as the library recurses, and takes quadratic time in the parts of a key.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from cyclescope.errors import UsageError
from cyclescope.host import inputs

MOST_BYTES = 2**20
# The most nested arrays and tables, and the most parts of a dotted key.
MOST_DEPTH = 32
MOST_PARTS = 32

_TOKEN = re.compile(
    r"""
    (?P<skipped> \#[^\n]* | [ \t]+ )
    | (?P<text> \"{3} (?: [^"\\] | \\. | "(?!"") )* \"{3,5} | \'{3} .*? \'{3,5} )
    | (?P<open> \"{3} | \'{3} )
    | (?P<part> "(?: [^"\\\n] | \\. )*" | '[^'\n]*' | [A-Za-z0-9_+:-]+ )
    | (?P<point> \. )
    | (?P<begin> [\[{] )
    | (?P<end> [\]}] )
    | (?P<other> . )
    """,
    re.DOTALL | re.VERBOSE,
)


def read(path: Path) -> dict[str, Any]:
    """The data of a file. Raises `UsageError` if it is not TOML, `OSError` if it can't be read."""
    shown = inputs.printable(path)
    data = inputs.read(path, MOST_BYTES)
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
        _check(text)
        return tomllib.loads(text)
    # also for invalid dates, and for numbers with too many digits
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{shown}: {inputs.printable(str(error))}") from None


def _check(text: str) -> None:
    """Raises `ValueError` for too much nesting, and for a string without its end."""
    depth = parts = 0
    before = None
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "skipped":
            continue
        if kind == "point":
            parts += 1
        elif kind != "part" or before != "point":
            parts = 0
        depth += (kind == "begin") - (kind == "end")
        before = kind
        if kind == "open":
            what = "a string is not closed"
        elif depth > MOST_DEPTH:
            what = f"arrays and tables nest more than {MOST_DEPTH} deep"
        elif parts >= MOST_PARTS:
            what = f"a key has more than {MOST_PARTS} parts"
        else:
            continue
        raise ValueError(f"{what} (at line {_line(text, token.start())})")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
