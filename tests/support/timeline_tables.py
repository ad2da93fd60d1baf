"""A timeline's file as the tables that Perfetto's `trace_processor` makes of it, as far as a page's
queries use them: `slice`, `track`, `flow`, `counter`, and `extract_arg`. What it prints, too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import timelines
from timelines import Slice, Timeline, Value

_TABLES = """
create table track (id integer primary key, name text, parent_id integer);
create table slice (id integer primary key, ts integer, dur integer, track_id integer,
                    category text, name text, depth integer, arg_set_id integer);
create table flow (slice_out integer, slice_in integer);
create table counter (ts integer, track_id integer, value real);
"""


def tables(file: Path) -> sqlite3.Connection:
    timeline = timelines.read(file)
    arguments = [one.arguments for one in timeline.slices]

    def extract_arg(arg_set_id: int, key: str) -> Value | None:
        return arguments[arg_set_id].get(key.removeprefix("debug."))

    database = sqlite3.connect(":memory:")
    database.create_function("extract_arg", 2, extract_arg)
    database.executescript(_TABLES)
    ids = {track: number for number, track in enumerate(timeline.tracks)}
    for track, number in ids.items():
        parent, _, name = track.rpartition("/")
        database.execute("insert into track values (?, ?, ?)", (number, name, ids.get(parent)))
    for number, (one, depth) in enumerate(_with_depths(timeline)):
        times = (one.begin_ns, one.end_ns - one.begin_ns)
        row = (number, *times, ids[one.track], one.category or None, one.name, depth, number)
        database.execute("insert into slice values (?, ?, ?, ?, ?, ?, ?, ?)", row)
    database.executemany("insert into flow values (?, ?)", _arrows(timeline))
    for track, values in timeline.counters.items():
        rows = [(at_ns, ids[track], value) for at_ns, value in values]
        database.executemany("insert into counter values (?, ?, ?)", rows)
    return database


def printed(database: sqlite3.Connection, query: str) -> str:
    """The output of `trace_processor` for a query."""
    found = database.execute(query)
    lines = [[f'"{column[0]}"' for column in found.description]]
    lines += [[_cell(value) for value in row] for row in found]
    return "".join(f"{','.join(line)}\n" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:f}"
    if isinstance(value, int):
        return str(value)
    text = "[NULL]" if value is None else value
    return f'"{text}"'


def _with_depths(timeline: Timeline) -> Iterator[tuple[Slice, int]]:
    """Slices, and how many others of its track each lies in."""
    open_ends: dict[str, list[int]] = {}
    for one in timeline.slices:
        ends = open_ends.setdefault(one.track, [])
        while ends and ends[-1] <= one.begin_ns:
            ends.pop()
        yield one, len(ends)
        ends.append(one.end_ns)


def _arrows(timeline: Timeline) -> Iterator[tuple[int, int]]:
    """From each slice of a flow to the next."""
    last: dict[int, int] = {}
    for number, one in enumerate(timeline.slices):
        for flow in one.flows:
            if flow in last:
                yield last[flow], number
            last[flow] = number
