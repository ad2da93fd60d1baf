"""Output of a run: passed on at once and in full, and kept for the result up to a limit."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator

ConsoleSink = Callable[[str], None]
StreamSink = Callable[[str, str], None]

# The first bytes of the console, and of each other line, that a result keeps: a firmware that
# prints endlessly must not fill the memory.
KEPT_BYTES = 16 << 20
# A longer line is passed on in pieces.
_LONGEST_LINE = 1 << 16


class Console:
    """Joins the console's chunks, and passes them on as text.

    Invalid bytes are decoded by `errors`, as in `bytes.decode`: `surrogateescape` keeps each byte.
    """

    def __init__(self, sink: ConsoleSink | None, errors: str = "replace") -> None:
        self._sink = sink
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors=errors)
        self._kept = bytearray()
        self._missing_bytes = 0

    def write(self, chunk: bytes) -> None:
        """Add what was printed."""
        kept = chunk[: max(KEPT_BYTES - len(self._kept), 0)]
        self._kept += kept
        self._missing_bytes += len(chunk) - len(kept)
        self._hand_on(chunk, final=False)

    def finish(self) -> None:
        """Pass on an incomplete character at the end."""
        self._hand_on(b"", final=True)

    def forget(self) -> None:
        """What was printed is of another run: it was handed on, and is not kept."""
        self.finish()
        self._kept.clear()
        self._missing_bytes = 0

    def _hand_on(self, chunk: bytes, final: bool) -> None:
        if self._sink and (text := self._decoder.decode(chunk, final)):
            self._sink(text)

    @property
    def text(self) -> str:
        """All of it, or its first `KEPT_BYTES` up to a whole character."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        return decoder.decode(bytes(self._kept), final=not self._missing_bytes)

    def notes(self, name: str) -> Iterator[str]:
        """Notes for the user about the text."""
        if self._missing_bytes:
            yield (
                f"{name}'s last {self._missing_bytes} bytes are not in the result, "
                f"which keeps {len(self._kept)}"
            )


class Streams:
    """Joins the output of serial lines other than the console, by the device's label."""

    def __init__(self, sink: StreamSink | None) -> None:
        self._sink = sink
        self._lines: dict[str, _Lines] = {}

    def write(self, name: str, chunk: bytes) -> None:
        """Add output of the device with this label."""
        if name not in self._lines:
            sink = self._sink
            self._lines[name] = _Lines((lambda line: sink(name, line)) if sink else None)
        self._lines[name].console.write(chunk)

    def forget(self) -> None:
        """What was printed is of another run: it was handed on, and is not kept."""
        for lines in self._lines.values():
            lines.finish()
        self._lines.clear()

    def finish(self) -> dict[str, str]:
        """The text of each line."""
        for lines in self._lines.values():
            lines.finish()
        return {name: lines.console.text for name, lines in sorted(self._lines.items())}

    def notes(self) -> Iterator[str]:
        """Notes for the user about the streams."""
        for name, lines in sorted(self._lines.items()):
            yield from lines.console.notes(name)


def begin_anew(console: Console, streams: Streams) -> None:
    """Forget earlier output, as the firmware starts anew: the result keeps only later output."""
    console.forget()
    streams.forget()


class _Lines:
    """Passes on text as whole lines, without line ends."""

    def __init__(self, sink: ConsoleSink | None) -> None:
        self._sink = sink
        self._rest = ""
        self.console = Console(self._put if sink else None)

    def finish(self) -> None:
        self.console.finish()
        if self._rest:
            self._put("\n")

    def _put(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        if len(self._rest) > _LONGEST_LINE:
            lines.append(self._rest)
            self._rest = ""
        if self._sink is not None:
            for line in lines:
                self._sink(line.rstrip("\r"))
