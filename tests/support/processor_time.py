"""The processor time of a test: the process, its children, and calls of the command line."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator

import pytest
from warm_start import WarmStart


def used_s(command_line: WarmStart) -> float:
    """Seconds of processor time up to now; of children, of those that were waited for."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    usages = [resource.getrusage(who) for who in both]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) + command_line.cpu_s


@contextlib.contextmanager
def check_processor_time(command_line: WarmStart, limit_s: float | None) -> Iterator[None]:
    """Fails the test if the block takes more than `limit_s` seconds; None for no limit."""
    before_s = used_s(command_line)
    yield
    took_s = used_s(command_line) - before_s
    if limit_s is not None and took_s > limit_s:
        pytest.fail(
            f"took {took_s:.1f} s of a processor, the limit of `make test` is {limit_s:g} s: "
            "make it shorter, or give it the mark `long` and a short form (tests/support/tiers.py)",
            pytrace=False,
        )
