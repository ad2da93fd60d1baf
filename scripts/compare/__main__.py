"""Whether two checkouts give the same results, to the last byte.

python scripts/compare BEFORE AFTER [EXPERIMENT]...

BEFORE and AFTER are checkouts that are built (`make build`): each runs `cyclescope bench --all
--explain` with its own .venv (without --explain if a checkout has no such option: its --all
explains all runs). Or they are folders with the results of a bench, written by this script
(`--out`) or by `cyclescope bench`; the latter lack the output and the counters of runs.

Compared are rows, cells, stacks, sections, counters, windows, notes, console texts, the report and
results.csv; `recorded_bench.py` names what may differ, and why. The status is 0 if all is equal, 1
if anything is not, 2 if there is nothing to compare.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import records
from differences import Comparison, compare
from records import CSV, FILES, REPORT, ROWS, RUNS, Record, ResultsError

HERE = Path(__file__).parent
# The folders of --out that results are kept in.
SIDES = "before", "after"
# Options for the bench, if it knows them: waits and a profile of each run, and no kept runs.
OPTIONS = "--explain", "--again"


def is_checkout(place: Path) -> bool:
    """Whether a folder has the sources, and not just results."""
    return (place / "pyproject.toml").is_file() and (place / "engine").is_dir()


def bench(checkout: Path, names: list[str], out: Path, quick: bool) -> Path:
    """Run the bench of a checkout; the folder of its results."""
    checkout = checkout.resolve()
    python = checkout / ".venv" / "bin" / "python"
    if not all((python.parent / name).is_file() for name in ("python", "cyclescope")):
        raise ResultsError(f"{checkout}: has no Python with Cyclescope; run `make build` there")
    cache = checkout / ".cache"
    environment = os.environ | {
        "CYCLESCOPE_CACHE": str(cache),
        "VIRTUAL_ENV": str(python.parents[1]),
    }
    options = ["--quick" if quick else "--all", *known_options(python, environment)]
    runs = out.absolute() / RUNS
    out.mkdir(parents=True, exist_ok=True)
    # files of an earlier run could be taken for this run's
    for name in FILES:
        (out / name).unlink(missing_ok=True)
    print(f"{checkout}: cyclescope bench {' '.join([*options, *names])}", file=sys.stderr)
    script = HERE / "recorded_bench.py"
    command = [python, script, runs, *names, *options, "--out", out.absolute()]
    done = subprocess.run(command, cwd=checkout, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        raise ResultsError(f"{checkout}: the bench ended with status {done.returncode}")
    # 1 is also the status of a traceback; a run that failed is among the results, and compared
    missing = [name for name in (ROWS, RUNS) if not (out / name).is_file()]
    if missing:
        raise ResultsError(
            f"{checkout}: the bench ended with status {done.returncode}, and without "
            f"{' and '.join(missing)}; mend what it says above"
        )
    return out


def known_options(python: Path, environment: Mapping[str, str]) -> list[str]:
    """The options of `OPTIONS` that a checkout's bench knows."""
    command = [python, "-m", "cyclescope", "bench", "--help"]
    done = subprocess.run(
        command, cwd=python.parents[2], env=environment, capture_output=True, text=True
    )
    return [option for option in OPTIONS if option in done.stdout]


def check_out(out: Path, places: Sequence[Path]) -> None:
    """Raises `ResultsError` if results would be written over what is to be compared."""
    for kept in SIDES:
        for place in places:
            if os.path.realpath(out / kept) == os.path.realpath(place):
                raise ResultsError(
                    f"{place}: --out {out} would write over it; name another folder with --out"
                )


def summary(found: Comparison, most: int) -> str:
    """The comparison in words."""
    lines = [
        f"{total - found.changed[kind]:,} of {total:,} {kind} are equal"
        for kind, total in found.counted.items()
    ]
    lines += [
        f"{total - found.changed_cells[name]:,} of {total:,} published cells of {name} are equal"
        for name, total in found.cells.items()
    ]
    shown = found.differences[:most]
    if shown:
        lines += ["", f"{len(found.differences):,} differences:", *(f"  {one}" for one in shown)]
    if len(found.differences) > most:
        lines.append(
            f"  and {len(found.differences) - most:,} more (--most sets how many are listed)"
        )
    return "\n".join(lines)


def read(place: Path, out: Path, given: argparse.Namespace) -> Record:
    """The record of a checkout or of a folder of results."""
    if not given.results and is_checkout(place):
        place = bench(place, given.names, out, given.quick)
    return records.read(place)


def read_both(given: argparse.Namespace, scratch: Path) -> tuple[Record, Record]:
    """Both records, restricted to the named experiments. Raises `ResultsError`."""
    places = given.before, given.after
    if given.out:
        check_out(given.out, places)
    out = given.out or scratch
    before, after = (
        read(place, out / side, given) for side, place in zip(SIDES, places, strict=True)
    )
    known = {**before.experiments, **after.experiments}
    if not known:
        raise ResultsError("neither has results of any experiment")
    unknown = [name for name in given.names if name not in known]
    if unknown:
        similar = (difflib.get_close_matches(name, known, cutoff=0.4) for name in unknown)
        suggested = dict.fromkeys(itertools.chain.from_iterable(similar)) or known
        raise ResultsError(
            f"neither has results of {', '.join(unknown)}; similar names: {', '.join(suggested)}"
        )
    return before.only(given.names), after.only(given.names)


def left_out(before: Record, after: Record, given: argparse.Namespace) -> Iterator[str]:
    """Sentences about parts that are not compared."""
    files = f"{CSV} and {REPORT}"
    for place, record in ((given.before, before), (given.after, after)):
        if not record.has_runs:
            yield f"{place} has no {RUNS}: what runs printed and counted is not compared"
        if record.files is None:
            yield f"{place} has more experiments than these: {files} are not compared"
    if before.files == after.files == {}:
        yield f"neither has {files}"


def main() -> int:
    """Compare, and say what was found."""
    parser = argparse.ArgumentParser(
        prog="scripts/compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT")
    parser.add_argument("--results", action="store_true", help="both are folders of results")
    parser.add_argument("--quick", action="store_true", help="bench --quick in place of --all")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep results in DIR/before, after")
    parser.add_argument("--most", type=int, default=20, help="differences to list [20]")
    given = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory(prefix="compare-") as scratch:
        try:
            before, after = read_both(given, Path(scratch))
        except (ResultsError, OSError) as error:
            print(f"scripts/compare: {error}", file=sys.stderr)
            return 2
    for line in left_out(before, after, given):
        print(line)
    found = compare(before, after)
    print(summary(found, given.most))
    return 1 if found.differences else 0


if __name__ == "__main__":
    sys.exit(main())
