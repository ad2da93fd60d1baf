"""The numbers of README.md and docs/, from the results of a bench.

python scripts/results RESULTS.json    keeps a whole bench's results in docs/results.csv, then:
python scripts/results                 writes the text between the pages' markers
python scripts/results --check         lists stale texts, with status 1 if there are any
python scripts/results --suite FILE    keeps in docs/suites.csv a suite's rows, from the JSON of
                                       `cyclescope bench SUITE --elfs DIR`, then writes the pages
python scripts/results --linux FILE    keeps in docs/linux.csv the rows of an experiment on Linux
                                       from its results.json, then writes the pages
python scripts/results --fits [NAME..] fits boards to a third of the published numbers, of all or
                                       the named experiments, into docs/fits.json, then writes the
                                       pages

`keys` and `blocks` say what a marker may ask for. Speeds are in docs/speed.json, which `make speed`
writes; docs/compilers.csv is made by `python scripts/compilers`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import compiler_store
import fit_store
import pages
import store
import suite_store
from keys import Source

from cyclescope.errors import UsageError

ROOT = Path(__file__).parents[2]


def texts(root: Path) -> list[Path]:
    """The pages: README.md and docs/, without those that scripts/reference writes."""
    docs = root / "docs"
    found = sorted(path for path in docs.rglob("*.md") if docs / "reference" not in path.parents)
    return [root / "README.md", *found]


def keep(results: Path, stored: Path, only_check: bool) -> list[str]:
    """Put a bench's results into the store; its stale parts."""
    text = store.to_csv(results)
    if stored.is_file() and stored.read_text(encoding="utf-8") == text:
        return []
    if not only_check:
        stored.write_text(text, encoding="utf-8")
    return [f"{stored}: not the results of {results}"]


def renew(root: Path, stored: Path, only_check: bool) -> list[str]:
    """Write the pages; a line for each stale text."""
    speeds = json.loads((root / "docs" / "speed.json").read_text(encoding="utf-8"))
    of_suites = suite_store.load(root / "docs" / "suites.csv")
    compilers = compiler_store.load(root / "docs" / "compilers.csv")
    compilers = {**compilers, **compiler_store.load(root / "docs" / "linux.csv")}
    fits = fit_store.load(root / "docs" / "fits.json")
    source = Source(store.load(stored), speeds, of_suites, compilers, fits)
    found = []
    for page in texts(root):
        old = page.read_text(encoding="utf-8")
        new, changes = pages.renewed(page.relative_to(root), old, source)
        found += map(str, changes)
        if new != old and not changes:
            found.append(
                f"{page.relative_to(root)}: paragraphs with markers are to be wrapped anew"
            )
        if new != old and not only_check:
            page.write_text(new, encoding="utf-8")
    return found


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", help="results.json of a whole bench")
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    parser.add_argument("--root", type=Path, default=ROOT, help="where README.md and docs/ are")
    parser.add_argument("--suite", type=Path, action="append", help="rows of a suite, as JSON")
    parser.add_argument("--linux", type=Path, help="rows of experiments on Linux, as JSON")
    parser.add_argument("--fits", nargs="*", metavar="NAME", help="fit boards anew: minutes")
    parser.add_argument("--jobs", type=int, metavar="N", help="with --fits, runs at a time")
    given = parser.parse_args()
    stored = given.root / "docs" / "results.csv"
    try:
        for rows in given.suite or ():
            suite_store.keep(rows, given.root / "docs" / "suites.csv")
        if given.linux is not None:
            compiler_store.keep_of_linux(given.linux, given.root / "docs" / "linux.csv")
        if given.fits is not None:
            fit_store.keep(given.fits, given.root / "docs" / "fits.json", given.jobs)
        found = keep(given.results, stored, given.check) if given.results else []
        found += renew(given.root, stored, given.check)
    except (UsageError, pages.PageError) as error:
        print(f"scripts/results: {error}", file=sys.stderr)
        return 2
    if given.check:
        for line in found:
            print(line, file=sys.stderr)
        if found:
            print("run python scripts/results", file=sys.stderr)
    return 1 if found and given.check else 0


if __name__ == "__main__":
    sys.exit(main())
