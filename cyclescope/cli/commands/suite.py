"""`cyclescope bench SUITE --elfs DIR`: a user's programs, compared with published numbers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cyclescope import suites
from cyclescope.bench import result_files
from cyclescope.bench.results import ExperimentResult
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.cli.tables import run as tables
from cyclescope.cli.tables import suite as suite_tables
from cyclescope.errors import UsageError, warn
from cyclescope.host import interrupts, outputs, terminal
from cyclescope.host.interrupts import Interrupted
from cyclescope.suites import programs, running
from cyclescope.suites.running import Done
from cyclescope.suites.suite import Suite
from cyclescope.units import count, parse_time_ps


@dataclass(frozen=True)
class Given:
    """The command line's arguments: the programs, their board if given, and the results' folder.

    `limit` is the limit of simulated time for each program, None for the suite's own.
    """

    elfs: Path
    board: str | None
    overrides: Mapping[str, OverrideValue]
    out: Path
    json_file: str | None
    threads: int
    limit: str | None = None


def chosen(names: Sequence[str]) -> Suite:
    """The suite that `--elfs` is for. Raises `UsageError` unless the names are one suite."""
    if len(names) == 1 and names[0] in suites.ALL:
        return suites.ALL[names[0]]
    known = ", ".join(suites.ALL)
    raise UsageError(f"--elfs needs one of {known}: `cyclescope bench pqm4 --elfs DIR`")


def without_suites(names: Sequence[str], *, to_stderr: bool) -> tuple[str, ...]:
    """The names without suites; for each suite, prints how to get its programs."""
    for name in dict.fromkeys(names):
        if name in suites.ALL:
            stream = sys.stderr if to_stderr else sys.stdout
            print(f"{name}: {suites.ALL[name].how}", file=stream)
    return tuple(name for name in names if name not in suites.ALL)


def run(suite: Suite, given: Given) -> int:
    """Run a suite's programs, print and write their table; returns the exit status."""
    if given.limit is not None:
        parse_time_ps(given.limit)
        suite = replace(suite, limit=given.limit)
    outputs.check_folder(given.out)
    own_json = None if given.json_file == "-" else given.json_file
    places = {f"{path.name} of --out": path for path in _files(suite, given)}
    found, left_out = programs.find(suite, given.elfs, given.board)
    inputs = {str(one.path): f"the program {one.path.name}" for one in found}
    outputs.check_outputs({**places, "--json": own_json}, inputs, folder=given.out)
    for reason in left_out:
        warn(reason)
    with interrupts.held_back() as held:
        done = running.run_all(
            suite, found, given.threads, given.overrides, held.stop, _Progress(len(found))
        )
        result = running.tabulate(suite, done)
        saved = _write(suite, given, result)
        with terminal.shown(held.number is not None):
            screen = tables.console(stderr=given.json_file == "-")
            screen.print(suite_tables.table(suite, result))
            if given.json_file == "-":
                sys.stdout.write(result_files.to_json([result]))
    if held.number is not None:
        raise Interrupted(
            held.number,
            f"interrupted by {held.name}: {len(done)} of {len(found)} programs are finished",
        )
    return 0 if saved and not result.failures and not left_out else 1


class _Progress:
    """A line on stderr for each program that has run."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0

    def __call__(self, one: Done) -> None:
        self._done += 1
        numbers = count(len(one.reads.readings), "number")
        outcome = numbers if one.reads.error is None else f"failed: {one.reads.error}"
        what = f"{one.program.path.name} on {one.program.board}: {outcome}"
        print(f"cyclescope: {self._done} of {self._total}: {what}", file=sys.stderr, flush=True)


def _files(suite: Suite, given: Given) -> tuple[Path, Path]:
    """The paths of the rows, as JSON and CSV: beside the files of experiments."""
    return given.out / f"{suite.name}.json", given.out / f"{suite.name}.csv"


def _write(suite: Suite, given: Given, result: ExperimentResult) -> bool:
    """Write the files; whether all of them could be written."""
    rows = result_files.to_json([result])
    json_file, csv_file = _files(suite, given)
    files: dict[outputs.AnyPath, str] = {json_file: rows, csv_file: result_files.to_csv([result])}
    if given.json_file not in (None, "-"):
        files[str(given.json_file)] = rows
    return outputs.save_all(files)
