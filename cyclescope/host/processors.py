"""The number of processors that this program may use."""

from __future__ import annotations

import os


def count() -> int:
    """The number of usable processors: a container or `taskset` may limit it."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1
