"""Debian's kernel and busybox, which `scripts/install-debian-packages linux` brings."""

from __future__ import annotations

from pathlib import Path

from cyclescope import resources
from cyclescope.errors import UsageError

BUSYBOX = "busybox"
"""The initrd that is made of Debian's busybox."""
DEBIAN = "debian"
"""The kernel or the devicetree of Debian's package."""

_KERNEL, _DEVICETREES, _MODULES = "vmlinuz", "dtbs", "modules"
_HOW = "scripts/install-debian-packages linux brings it, from a checkout"


def folder() -> Path:
    """The folder of the files in the cache."""
    return resources.cache() / "linux"


def busybox() -> Path:
    """The static busybox. Raises `UsageError` if it was not brought."""
    return _there(BUSYBOX)


def kernel() -> Path:
    """The kernel, a zImage. Raises `UsageError` if it was not brought."""
    return _there(_KERNEL)


def devicetree(name: str) -> Path:
    """A board's devicetree of the kernel's package. Raises `UsageError` if not there.

    A board whose name begins with another's, `stm32mp157c-dk2-rf231`, is that with something added.
    """
    parts = name.split("-")
    shorter = ("-".join(parts[:count]) for count in range(len(parts), 0, -1))
    there = (one for one in shorter if (folder() / _DEVICETREES / f"{one}.dtb").is_file())
    return _there(f"{_DEVICETREES}/{next(there, name)}.dtb")


def modules() -> Path:
    """The folder of the kernel's modules. Raises `UsageError` if it was not brought."""
    path = folder() / _MODULES
    if not path.is_dir():
        raise UsageError(f"there is no {path}: {_HOW}")
    return path


def _there(name: str) -> Path:
    path = folder() / name
    if not path.is_file():
        raise UsageError(f"there is no {path}: {_HOW}")
    return path
