"""The compiler's own cache, as far as it can be trusted.

The compiler believes what it finds there: of an object that a power loss left empty it makes a
wrong program without a word. So each boot of the host has a cache of its own, and there is a new
one when something else that is kept was found damaged.
"""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

from cyclescope import resources

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def folder() -> Path:
    """The cache's folder. Raises `OSError` if there can be none."""
    numbers = _numbers()
    if numbers:
        return _place(max(numbers))
    root = _place(0).parent
    root.mkdir(parents=True, exist_ok=True)
    for earlier in root.iterdir():
        if not earlier.name.startswith(_boot()):
            shutil.rmtree(earlier, ignore_errors=True)
    return _made(0)


@cache
def distrust() -> None:
    """Begin a new cache, once in a process: others may still be at work with the old one."""
    _made(max(_numbers(), default=-1) + 1)


def _made(number: int) -> Path:
    place = _place(number)
    place.mkdir(parents=True, exist_ok=True)
    return place


def _place(number: int) -> Path:
    return resources.cache().absolute() / "zig" / f"{_boot()}-{number}"


def _numbers() -> list[int]:
    """The numbers of this boot's caches."""
    names = re.compile(rf"{re.escape(_boot())}-(\d{{1,9}})")
    found = [names.fullmatch(place.name) for place in _place(0).parent.glob("*")]
    return [int(match[1]) for match in found if match]


@cache
def _boot() -> str:
    """What tells this boot of the host from others; nothing where the host does not say it."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return "any"
