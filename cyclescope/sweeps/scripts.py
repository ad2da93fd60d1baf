"""Scripts of a sweep's runs: input for serial ports, and the expected output."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cyclescope.board import Board
from cyclescope.board.scripts import Script, parse_script
from cyclescope.board.wiring.lines import port_of
from cyclescope.errors import UsageError
from cyclescope.host import inputs

_MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class LineScript:
    """A script's text, and the label of its serial port; None is the console's."""

    label: str | None
    name: str
    text: str

    @property
    def digest(self) -> str:
        """A digest of the script's text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogateescape")).hexdigest()


def read(value: str, folder: Path = Path()) -> LineScript:
    """The script of "[LABEL=]FILE", checked. Raises `UsageError`, `OSError`."""
    label, equals, rest = value.partition("=")
    is_label = bool(equals) and label.isidentifier()
    path = folder / (rest if is_label else value)
    text = inputs.read(path, _MOST_BYTES).decode("utf-8", "surrogateescape")
    name = inputs.printable(path)
    parse_script(text, name)
    return LineScript(label if is_label else None, name, text)


def of_lines(scripts: Iterable[LineScript], board: Board) -> dict[str | None, Script]:
    """The scripts by the board's ports. Raises `UsageError` for a port that it does not have."""
    ports, console = board.serial_ports
    found: dict[str | None, Script] = {}
    for one in scripts:
        port = port_of(one.label, ports, console)
        if port in found:
            raise UsageError(f"--script {one.name}: {port} has a script already")
        found[port] = parse_script(one.text, one.name)
    return found
