"""What is found out of source files only once, while nobody changes them.

A build reads its files as they are now. Who makes many builds in a row says that files stay as they
are meanwhile (`unchanging`): what was found out of them is kept up to its end.
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
    """Within it, source files and what is in the cache stay as they are. It may be nested."""
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

    Nobody may change what it returns, and what it returns for arguments without a hash is not kept,
    nor what it raises. Two threads may call it at the same time.
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
