"""Programs of a suite, run unchanged in parallel, and their numbers beside the published ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cyclescope._engine import Stop
from cyclescope.bench import published
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import PREDICTED, UNPUBLISHED, Row, RunRecord
from cyclescope.bench.running import last_lines
from cyclescope.bench.threads import side_by_side
from cyclescope.board import Board
from cyclescope.board.description.overrides import OverrideValue
from cyclescope.board.results import INTERRUPTED, RunResult
from cyclescope.errors import UsageError, error_text
from cyclescope.host import inputs
from cyclescope.suites.programs import Program
from cyclescope.suites.suite import Reading, Reads, Suite

Overrides = Mapping[str, OverrideValue]

# The terminal follows the rate that the firmware sets: suites choose their own.
_TERMINAL = {"chosen.stdout-path": ":"}


@dataclass(frozen=True)
class Done:
    """A program that was run: its numbers, and why some are missing."""

    program: Program
    reads: Reads
    wall_ns: int = 0


def run_all(
    suite: Suite,
    programs: Sequence[Program],
    threads: int,
    overrides: Overrides,
    stop: Stop,
    finished: Callable[[Done], None],
) -> list[Done]:
    """Run programs, `threads` at a time; the results are in order, without those that `stop` ended.

    `finished` is called with each in that order, as soon as it and those before it are done.
    """
    results: dict[int, Done | None] = {}
    unfinished = deque(range(len(programs)))
    done: list[Done] = []

    def finish(place: int) -> None:
        unfinished.popleft()
        one = results.get(place)
        if one is not None:
            finished(one)
            done.append(one)

    def ended(place: int, one: Done | None) -> None:
        results[place] = one
        while unfinished and unfinished[0] in results:
            finish(unfinished[0])

    runs = [partial(run, suite, one, overrides, stop) for one in programs]
    side_by_side(runs, threads, stop, ended)
    # those after one that did not stop in time
    while unfinished:
        finish(unfinished[0])
    return done


def run(suite: Suite, program: Program, overrides: Overrides, stop: Stop) -> Done | None:
    """Run one program; a failure becomes the error of its reads. None if `stop` ended it."""
    if stop.requested:
        return None
    try:
        result = _run(suite, program, overrides, stop)
        if result.outcome == INTERRUPTED and stop.requested:
            return None
        return Done(program, _judged(suite, program, result), result.wall_ns)
    except Exception as error:
        # a failure must not lose the other programs
        return Done(program, Reads(error=error_text(error)))


def _run(suite: Suite, program: Program, overrides: Overrides, stop: Stop) -> RunResult:
    if suite.needs_symbols and not program.has_symbols:
        raise UsageError(f"{suite.name} needs the symbols of an ELF file: {suite.files}")
    board = Board(program.board, {**_TERMINAL, **overrides}).load(program.path)
    calls = suite.calls if program.has_symbols and _has(program, suite.calls) else ()
    script = suite.steps or None
    return board.run(suite.limit, script=script, windows=calls, stop=stop)


def _has(program: Program, names: Sequence[str]) -> bool:
    """Whether an ELF file may have symbols of those names; the engine reports missing ones."""
    data = inputs.read(program.path, inputs.MOST_ELF_BYTES)
    return all(b"\0" + name.encode() + b"\0" in data for name in names)


def _judged(suite: Suite, program: Program, result: RunResult) -> Reads:
    """The result of a run; a failure if it did not reach the end that its console shows."""
    reads = suite.reads(program.settings, result)
    is_complete = suite.end in result.console
    if reads.error is None and is_complete:
        return reads
    lines = last_lines(result.console)
    last = f"its last lines: {lines}" if lines else ""
    how = result.message or f"it ended with {result.outcome} {result.exit_code}"
    parts = (reads.error, "" if is_complete else how, last if reads.error is None else "")
    return replace(reads, error="; ".join(filter(None, parts)))


def tabulate(suite: Suite, done: Sequence[Done]) -> ExperimentResult:
    """The table of a suite, as an experiment's."""
    records = [record_of(suite, one) for one in done]
    rows = [
        row_of(suite, one.program.board, reading, record)
        for one, record in zip(done, records, strict=True)
        for reading in one.reads.readings
    ]
    rows += suite.derived(rows)
    boards = dict.fromkeys(one.program.board for one in done)
    tables = dict.fromkeys(suite.tables.get(board) for board in boards)
    sources = [published.load(table).citation for table in tables if table]
    return ExperimentResult(
        name=suite.name,
        title=suite.title,
        source="; ".join(sources) or "nothing for these boards",
        notes=(*suite.notes, *_remarks(done)),
        rows=tuple(rows),
        runs=tuple(records),
        parameters={},
    )


def _remarks(done: Sequence[Done]) -> Iterator[str]:
    """Remarks of programs, each once, with the programs that print it."""
    for remark in dict.fromkeys(one.reads.remark for one in done if one.reads.remark):
        names = [one.program.path.name for one in done if one.reads.remark == remark]
        yield f'"{remark}" is what is printed by {", ".join(names)}.'


def record_of(suite: Suite, one: Done) -> RunRecord:
    """A run as tables show it, without its result: that has the time of the script's last step."""
    settings = one.program.settings
    label = f"{one.program.path.name} on {one.program.board}"
    return RunRecord(label, suite.name, one.program.board, settings, None, one.reads.error)


def row_of(suite: Suite, board: str, reading: Reading, record: RunRecord) -> Row:
    """A number beside its published one, if there is one."""
    row = Row(
        experiment=suite.name,
        board=board,
        settings=reading.settings,
        metric=reading.metric,
        unit=reading.unit,
        simulated=reading.value,
        published=None,
        basis=UNPUBLISHED,
        label=reading.label,
        run=record,
    )
    found = find(suite, board, reading.key, reading.where)
    if found is None:
        return row
    return replace(row, published=found, basis=PREDICTED, counts_as=reading.label)


def find(suite: Suite, board: str, key: str, where: Mapping[str, object]) -> int | float | None:
    """A published number of a board; None if nothing is published."""
    name = suite.tables.get(board)
    if name is None or not key:
        return None
    table = published.load(name)
    is_of_several = bool(table.distinct(("board",)))
    return table.find(key, {**where, "board": board} if is_of_several else where)


def span(suite: Suite, row: Row) -> tuple[int | float, int | float] | None:
    """The least and the greatest of the hardware's executions; None if they are not published."""
    where = {name: row.settings[name] for name in suite.span_of if name in row.settings}
    low, high = (find(suite, row.board, key, where) for key in ("min", "max"))
    return None if low is None or high is None else (low, high)
