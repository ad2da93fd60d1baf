"""Suites of published programs that a user builds: their names and modules.

A new suite is a module here with a `SUITE`, and a line in `_MODULES`.
"""

from __future__ import annotations

from cyclescope.suites import coremark, embench, pqm4
from cyclescope.suites.suite import Suite

_MODULES = (pqm4, coremark, embench)

ALL: dict[str, Suite] = {module.SUITE.name: module.SUITE for module in _MODULES}
