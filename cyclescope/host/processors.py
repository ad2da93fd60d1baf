"""How many processors this program may use."""

from __future__ import annotations

import os


def count() -> int:
    """Those that it may run on: a container or `taskset` may leave it fewer than the host has."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1
