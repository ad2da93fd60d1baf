"""Adds the numbers of one run of `bench/speed` to a table of them, a row for each commit.

python scripts/speed-trend SPEED.json TREND.csv

A row has the date, the commit and each number by its name; a new name becomes a column, which is
empty in older rows. A number that differs by more than a tenth from the median of the rows before
is printed. That is not an error: hosts of a forge differ by as much.
"""

from __future__ import annotations

import csv
import datetime
import json
import statistics
import subprocess
import sys
from pathlib import Path

MOST_DIFFERENCE = 0.1


def main() -> int:
    """Add a row; the exit status."""
    if len(sys.argv) != 3:
        print("usage: python scripts/speed-trend SPEED.json TREND.csv", file=sys.stderr)
        return 2
    measured, trend = map(Path, sys.argv[1:])
    numbers = json.loads(measured.read_text(encoding="utf-8"))
    numbers.pop("printed", None)
    rows = []
    if trend.exists():
        with trend.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    for line in differences(rows, numbers):
        print(line)
    rows.append({"date": _today(), "commit": _commit(), **numbers})
    names = list(dict.fromkeys(name for row in rows for name in row))
    with trend.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return 0


def differences(rows: list[dict[str, str]], numbers: dict[str, float]) -> list[str]:
    """A line for each number that is far from the median of its column."""
    lines = []
    for name, value in numbers.items():
        before = [float(row[name]) for row in rows if row.get(name)]
        median = statistics.median(before) if before else 0
        if median and abs(value / median - 1) > MOST_DIFFERENCE:
            lines.append(f"{name}: {value:g}, median of {len(before)} before: {median:g}")
    return lines


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _commit() -> str:
    """The commit of the working folder; empty outside a checkout."""
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
