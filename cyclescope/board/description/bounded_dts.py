"""A devicetree parser for untrusted sources: parsing ends whatever a file holds or includes.

A board file may come from someone else. So its size is bounded, and it names regular files only: it
can include .dts and .dtsi files beside it or shipped ones; files of /incbin/ must lie beside it.
Anything else, such as a file that includes itself, is a parse error with its place.
"""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path
from typing import Any, NoReturn

from devicetree import dtlib

from cyclescope import resources
from cyclescope.board.description import dts_directives
from cyclescope.similar_names import did_you_mean

# Shipped boards have up to 70,000 characters, with all that they include.
MOST_SOURCE_BYTES = 1 << 20
MOST_INCLUDE_DEPTH = 16
# Shipped boards have six levels, and some hundred labels and references.
MOST_NODE_DEPTH = 32
MOST_NODES = MOST_LABELS = MOST_REFERENCES = 4096
MOST_NAME_LENGTH = 256
# Of one property: dtlib copies the value as it grows.
MOST_VALUE_BYTES = 32 << 10
MOST_MARKERS = 1024
# Numbers have 64 bits on their way to a cell, as in dtc.
NUMBER_BITS = 64

_SOURCES = (".dts", ".dtsi")
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)


class BoundedDT(dtlib.DT):
    """A `DT` that refuses endless sources, and files that a board must not read."""

    def __init__(self, filename: str) -> None:
        self._open_nodes: list[dtlib.Node] = []
        self._assigned: dtlib.Property | None = None
        self._files: list[tuple[int, int]] = []
        self._source_bytes = self._nodes = self._labels = self._references = 0
        self._by_label: dict[str, dtlib.Node] | None = None
        # The library's constructor would read the file itself, before any bound applies.
        self.filename, self._lineno, self._tok_i, self._file_contents = filename, 1, 0, ""
        self._text = self._source(Path(filename))
        super().__init__(filename)

    def _parse_error(self, message: str) -> NoReturn:
        super()._parse_error(message)
        raise AssertionError("the library raises")

    def _parse_dt(self) -> None:
        # the text that the library has read may be outdated, and still has its directives
        self._file_contents = self._text
        super()._parse_dt()

    # Files

    def _open(self, filename: str, mode: str = "r", **options: Any) -> io.IOBase:
        if "b" in mode:
            return io.BytesIO(self._binary(Path(self.filename).parent / filename))
        if refused := dts_directives.refusal(filename):
            self._parse_error(refused)
        path = self._found(dts_directives.plain(filename))
        text = io.StringIO(self._source(path))
        text.name = str(path)  # as a file has one
        return text

    def _found(self, name: str) -> Path:
        """The included file: one beside the including file, else a shipped one."""
        path = Path(self.filename).parent / name
        if path.resolve().suffix not in _SOURCES:
            self._parse_error(f"'{name}': only .dts and .dtsi files can be included")
        if os.path.lexists(path):
            return path
        shipped = {part.name: part for part in resources.boards().iterdir()}
        if name not in shipped:
            hint = did_you_mean(name, shipped)
            self._parse_error(f"'{path}': No such file or directory{hint}")
        return shipped[name]

    def _source(self, path: Path) -> str:
        """The text of a file that the parser enters."""
        if len(self._filestack_now()) > MOST_INCLUDE_DEPTH:
            self._parse_error(f"files include each other more than {MOST_INCLUDE_DEPTH} deep")
        found, data = self._read(path, MOST_SOURCE_BYTES)
        del self._files[len(self._filestack_now()) :]
        if found in self._files:
            self._parse_error(f"'{path}' includes itself")
        self._files.append(found)
        self._source_bytes += len(data)
        if self._source_bytes > MOST_SOURCE_BYTES:
            self._parse_error(f"a board has more than {MOST_SOURCE_BYTES} bytes of source")
        try:
            return dts_directives.resolved(data.decode("utf-8"))
        except UnicodeDecodeError as error:
            self._parse_error(f"'{path}' is not text: {error.reason}")

    def _filestack_now(self) -> list[Any]:
        return getattr(self, "_filestack", [])

    def _binary(self, path: Path) -> bytes:
        """The contents of a file that is part of a value."""
        folder = Path(self.filename).parent.resolve()
        if not path.resolve().is_relative_to(folder):
            self._parse_error(f"'{path}': /incbin/ takes files beside the board only")
        return self._read(path, MOST_VALUE_BYTES)[1]

    def _read(self, path: Path, most_bytes: int) -> tuple[tuple[int, int], bytes]:
        """The file's identity and its bytes; a parse error if it is not regular or too large."""
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # opening a device may have side effects
                self._parse_error(f"'{path}' is not a regular file")
            with os.fdopen(os.open(path, _OPEN), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    self._parse_error(f"'{path}' is not a regular file")
                data = file.read(most_bytes + 1)
        except OSError as error:
            if not self._files:
                raise
            self._parse_error(f"'{path}': {error.strerror}")
        if len(data) > most_bytes:
            self._parse_error(f"'{path}' has more than {most_bytes} bytes")
        return (status.st_dev, status.st_ino), data

    # Tokens, nodes and values

    def _next_token(self) -> Any:
        is_new = self._saved_token is None
        token = super()._next_token()
        if is_new:
            self._count(token)
        return token

    def _count(self, token: Any) -> None:
        self._labels += token.id == dtlib._T.LABEL
        self._references += token.id == dtlib._T.REF
        if self._labels > MOST_LABELS:
            self._parse_error(f"a board has more than {MOST_LABELS} labels")
        if self._references > MOST_REFERENCES:
            self._parse_error(f"a board has more than {MOST_REFERENCES} references")
        if token.id == dtlib._T.PROPNODENAME and len(token.val) > MOST_NAME_LENGTH:
            self._parse_error(f"a name has more than {MOST_NAME_LENGTH} characters")
        if token.id == dtlib._T.NUM:
            self._bounded(token.val)
        value = self._assigned
        if value and (len(value.value) > MOST_VALUE_BYTES or len(value._markers) > MOST_MARKERS):
            self._parse_error(f"the value of {value.name} is too long")

    def _parse_assignment(self, prop: dtlib.Property) -> None:
        self._assigned = prop
        super()._parse_assignment(prop)
        self._assigned = None

    def _parse_node(self, node: dtlib.Node) -> dtlib.Node:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            self._parse_error(f"a board has more than {MOST_NODES} nodes")
        if len(self._open_nodes) >= MOST_NODE_DEPTH:
            self._parse_error(f"nodes nest too deep: {MOST_NODE_DEPTH} levels at the most")
        self._open_nodes.append(node)
        node = super()._parse_node(node)
        self._open_nodes.pop()
        return node

    def _fixup_props(self) -> None:
        # From here on labels do not move: no search of the whole tree is needed.
        nodes = list(self.node_iter())
        self._by_label = {label: node for node in reversed(nodes) for label in node.labels}
        super()._fixup_props()

    def _ref2node(self, reference: str) -> dtlib.Node:
        found = self._by_label.get(reference) if self._by_label else None
        return found or super()._ref2node(reference)

    # Expressions

    def _bounded(self, number: int) -> int:
        if number.bit_length() > NUMBER_BITS:
            self._parse_error(f"a number does not fit in {NUMBER_BITS} bits")
        return number

    def _eval_mul(self) -> int:
        number = self._eval_unary()
        while True:
            if self._check_token("*"):
                number = self._bounded(number * self._eval_unary())
            elif self._check_token("/"):
                number //= self._divisor()
            elif self._check_token("%"):
                number %= self._divisor()
            else:
                return number

    def _divisor(self) -> int:
        return self._eval_unary() or self._parse_error("division by zero")

    def _eval_shift(self) -> int:
        number = self._eval_add()
        while True:
            if self._check_token("<<"):
                number = self._bounded(number << self._shift_places())
            elif self._check_token(">>"):
                number >>= self._shift_places()
            else:
                return number

    def _shift_places(self) -> int:
        places = self._eval_add()
        if not 0 <= places < NUMBER_BITS:
            self._parse_error(f"a number is shifted by 0 to {NUMBER_BITS - 1} places")
        return places
