"""Output of serial lines other than the console: whole lines, each after its line's name."""

from __future__ import annotations

import io

from cyclescope.board.wiring.printed import Streams
from cyclescope.cli.shown_run import ConsoleWriter


def test_streams_hand_on_whole_lines_and_keep_all() -> None:
    lines: list[tuple[str, str]] = []
    streams = Streams(lambda name, line: lines.append((name, line)))
    streams.write("uart7", b"one\r\ntw")
    streams.write("uart5", "\u00e4".encode()[:1])
    assert lines == [("uart7", "one")]
    streams.write("uart5", "\u00e4".encode()[1:] + b"\n")
    streams.write("uart7", b"o\nthree")
    assert lines == [("uart7", "one"), ("uart5", "\u00e4"), ("uart7", "two")]
    assert streams.finish() == {"uart5": "\u00e4\n", "uart7": "one\r\ntwo\nthree"}
    assert lines[3:] == [("uart7", "three")]


def test_lines_of_streams_come_between_the_consoles() -> None:
    file = io.StringIO()
    writer = ConsoleWriter(file)
    writer.console("hello ")
    writer.stream("uart7", "log")
    writer.console("world\nanother")
    writer.stream("uart7", "more")
    writer.console(" line\n")
    writer.stream("uart7", "at once")
    assert file.getvalue().endswith("uart7: at once\n")
    writer.console("end")
    writer.stream("uart7", "last")
    writer.end_line()
    writer.end_line()
    assert file.getvalue().splitlines() == [
        "hello world",
        "uart7: log",
        "another line",
        "uart7: more",
        "uart7: at once",
        "end",
        "uart7: last",
    ]
