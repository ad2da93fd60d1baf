"""The sources of the pages: docs/results.csv, docs/speed.json and files beside them."""

from __future__ import annotations

import json
from functools import cache

import compiler_store
import fit_store
import store
import suite_store
from conftest import ROOT
from keys import Source

STORED = ROOT / "docs" / "results.csv"
COMPILERS = ROOT / "docs" / "compilers.csv"
LINUX = ROOT / "docs" / "linux.csv"
SUITES = ROOT / "docs" / "suites.csv"
FITS = ROOT / "docs" / "fits.json"


@cache
def source() -> Source:
    """The sources of the pages."""
    speeds = json.loads((ROOT / "docs" / "speed.json").read_text(encoding="utf-8"))
    suites, compilers = suite_store.load(SUITES), compiler_store.load(COMPILERS)
    compilers = {**compilers, **compiler_store.load(LINUX)}
    return Source(store.load(STORED), speeds, suites, compilers, fit_store.load(FITS))
