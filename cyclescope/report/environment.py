"""The Jinja environment of pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jinja2
from jinja2.bccache import Bucket


class _Compiled(jinja2.BytecodeCache):
    """Compiled templates of this process: compiling takes a quarter of the time of a page.

    Templates themselves can't be shared, as each page has filters of its own.
    """

    def __init__(self) -> None:
        self._found: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._found:
            bucket.bytecode_from_string(self._found[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._found[bucket.key] = bucket.bytecode_to_string()


_COMPILED = _Compiled()


def environment(filters: Mapping[str, Callable[..., Any]]) -> jinja2.Environment:
    """The package's templates with these filters: they escape text, and fail for unknown names."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("cyclescope.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=_COMPILED,
    )
    made.filters |= filters
    return made
