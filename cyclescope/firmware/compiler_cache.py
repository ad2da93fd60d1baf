"""The folder of the compiler's own cache, which is not reused if it may be damaged.

The compiler trusts its cache: from an object that a power loss left empty it links a wrong program
without an error. So each boot of the host has its own cache, and a new one is started when another
cached file is found damaged.
"""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

from cyclescope import resources

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def folder() -> Path:
    """The cache's folder. Raises `OSError` if it can't be made."""
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
    """Start a new cache, once in a process: other processes may still use the old one."""
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
    """An identifier of this boot of the host; empty if the host does not provide one."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return "any"
