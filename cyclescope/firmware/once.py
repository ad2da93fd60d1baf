"""A cache of facts about source files, while the files do not change.

A single build reads its files anew. Code that makes many builds in a row declares that files do not
change meanwhile (`unchanging`): facts about them are then kept until its end.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

_Result = TypeVar("_Result")

_lock = threading.Lock()
_holders = 0
_found: dict[Hashable, Any] = {}
_ABSENT: Any = object()


@contextmanager
def unchanging() -> Iterator[None]:
    """A block in which source files and the cache do not change. It may be nested."""
    global _holders
    with _lock:
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if not _holders:
                _found.clear()


def once(function: Callable[..., _Result]) -> Callable[..., _Result]:
    """The function, called once for the same arguments while files are `unchanging`.

    Callers must not change the returned value. Exceptions, and results for arguments without a
    hash, are not kept. Two threads may call it at the same time.
    """

    @functools.wraps(function)
    def found(*arguments: Hashable) -> _Result:
        if not _holders:
            return function(*arguments)
        key = function, arguments
        try:
            kept = _found.get(key, _ABSENT)
        except TypeError:
            return function(*arguments)
        if kept is not _ABSENT:
            return kept
        result = function(*arguments)
        with _lock:
            if _holders:
                _found[key] = result
        return result

    return found
