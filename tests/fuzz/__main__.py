"""`make fuzz`: run inputs for some minutes, or files of inputs again, and print the results."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from fuzz import targets
from fuzz.driver import Driver, Figures, Limits
from fuzz.worker import OUTCOMES

_FINDINGS = Path("findings")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="time limit in minutes [default: 3]")
    parser.add_argument(
        "--inputs", type=int, help="limit of the number of inputs, in place of a time"
    )
    parser.add_argument("--seed", default=str(time.time_ns()), help="the same one, the same inputs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("--target", action="append", help="only this one; may be repeated")
    parser.add_argument("--longest", type=float, default=10.0, help="seconds for an input")
    parser.add_argument("--findings", type=Path, default=_FINDINGS, help="where they are put")
    parser.add_argument("--replay", type=Path, nargs="+", help="run these files of inputs instead")
    return parser.parse_args()


def main() -> int:
    """Status 1 if anything was found."""
    options = _arguments()
    if options.replay:
        source, limits = targets.replayed(options.replay), Limits(longest_s=options.longest)
    else:
        seconds = None if options.inputs else 60 * (options.minutes or 3)
        source = targets.generated(options.seed, options.target or targets.names())
        limits = Limits(options.inputs, seconds, options.longest)
        print(f"seed {options.seed}, {options.jobs} workers", flush=True)
    jobs = 1 if options.replay else options.jobs
    # however it is stopped, it prints its findings
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with Driver(targets.ALL, source, options.findings, limits, jobs, _say) as driver:
        figures = driver.run()
    _print(figures)
    return 1 if figures.findings else 0


def _say(text: str) -> None:
    print(text, flush=True)


def _print(figures: Figures) -> None:
    heads = ("target", "inputs", "inputs/s", "programs", "programs/s", *OUTCOMES, "slowest")
    rows = [heads]
    for name, sums in figures.sums.items():
        if sums.inputs:
            rates = [
                cell
                for count in (sums.inputs, sums.programs)
                for cell in (str(count), f"{count / max(sums.busy_s, 1e-9):.0f}")
            ]
            counts = (str(sums.outcomes[outcome]) for outcome in OUTCOMES)
            slowest = f"{sums.slowest_s:.3f} s (#{sums.slowest})"
            rows.append((name, *rates, *counts, slowest))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *others in rows:
        cells = (text.rjust(width) for text, width in zip(others, widths[1:], strict=True))
        print("  ".join((name.ljust(widths[0]), *cells)))
    total = sum(sums.inputs for sums in figures.sums.values())
    programs = sum(sums.programs for sums in figures.sums.values())
    rate = programs / max(figures.took_s, 1e-9)
    found = sum(finding.times for finding in figures.findings)
    counts = f"{total} inputs, {programs} programs"
    print(f"{counts} in {figures.took_s:.0f} s: {rate:.0f} programs/s; findings: {found}")
    for finding in figures.findings:
        print(f"  {finding.target}: {finding.what} ({finding.times}x): {finding.file}")


if __name__ == "__main__":
    sys.exit(main())
