"""How templates of pages are filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jinja2


def environment(filters: Mapping[str, Callable[..., Any]]) -> jinja2.Environment:
    """The package's templates with these filters: they escape text, and know each name or fail."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("cyclescope.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters |= filters
    return made
