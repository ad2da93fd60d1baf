"""Devicetree source in, a tree of nodes and raw values out, each with its file and line.

The `devicetree` package (dtlib) parses; this module records the place of each node and property,
which dtlib does not keep. Values stay raw bytes: the engine interprets them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from devicetree import dtlib

from cyclescope.board.description.bounded_dts import BoundedDT
from cyclescope.errors import board_error
from cyclescope.host import inputs

Place = tuple[str, int]

_UNDEFINED = re.compile(r"^(?P<node>/\S*): undefined node label '(?P<label>.*)'$")
_PARSE_ERROR = re.compile(r"^(?P<file>.*?):(?P<line>\d+) \(column \d+\): (?:parse error: )?")

# Properties that are paths; `--set` gives them their values.
_PATHS = ("cyclescope,image",)

# On some malformed input dtlib raises these instead of a parse error.
_TRIPS = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)


# A tree names few files, and each many times.
_printable = cache(inputs.printable)


@dataclass(frozen=True)
class Property:
    """A property: its raw value (cells are big-endian) and how it was written.

    `kind` is "empty", "cells", "strings", "bytes" or "mixed".
    """

    name: str
    value: bytes
    kind: str
    file: str
    line: int

    def to_dict(self) -> dict[str, Any]:
        """The form that the engine takes."""
        return vars(self) | {"file": _printable(self.file)}


@dataclass
class Node:
    """A node with its properties and children, in the order of the source."""

    path: str
    name: str
    labels: list[str]
    file: str
    line: int
    phandle: int | None
    props: dict[str, Property] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)
    # only the root's is set: the files that the tree was read from
    files: list[str] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """The node itself and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def handle(self) -> str:
        """The node's label, or else its full path."""
        return (self.labels or [self.path])[0]

    @property
    def compatibles(self) -> list[str]:
        """The node's compatibles, the most specific first."""
        prop = self.props.get("compatible")
        return prop.value.decode(errors="replace").rstrip("\0").split("\0") if prop else []

    def cells(self, name: str) -> list[int]:
        """The cells of a property; none if it has no such property, or one of another kind."""
        prop = self.props.get(name)
        if prop is None or prop.kind != "cells":
            return []
        words = range(0, len(prop.value), 4)
        return [int.from_bytes(prop.value[at : at + 4], "big") for at in words]

    def number(self, name: str) -> int | None:
        """The value of a property of one cell; None for any other property."""
        cells = self.cells(name)
        return cells[0] if len(cells) == 1 else None

    def copied(self) -> Node:
        """A copy of the tree, which can be changed without changing this one."""
        children = [child.copied() for child in self.children]
        labels, props = list(self.labels), dict(self.props)
        return replace(self, labels=labels, props=props, children=children)

    def to_dict(self) -> dict[str, Any]:
        """The form that the engine takes."""
        return {
            "path": self.path,
            "name": self.name,
            "labels": self.labels,
            "file": _printable(self.file),
            "line": self.line,
            "phandle": self.phandle,
            "props": [prop.to_dict() for prop in self.props.values()],
            "children": [child.to_dict() for child in self.children],
        }


def parse(path: Path) -> Node:
    """Parse a .dts file.

    Raises `BoardError` with the file and line of a syntax error or of an exceeded bound,
    `UsageError` if the path is not a regular file, `OSError` if the file can't be read.
    """
    inputs.check(path)
    shown = shown_path(path)
    places = _Places(shown)
    try:
        root = _LocatedDT(shown, places).root
    except dtlib.DTError as error:
        raise board_error([inputs.printable(_one_line(str(error), places))]) from error
    except RecursionError as error:
        raise board_error([f"{places.here}: nodes or expressions nest too deep"]) from error
    except _TRIPS as error:
        what = f"malformed: {error}" if isinstance(error, ValueError) else "malformed"
        raise board_error([f"{places.here}: {what}"]) from error
    tree = _convert(root, places)
    tree.files = places.files
    return tree


def shown_path(path: Path) -> str:
    """A file's path for messages: relative to the working directory if the file lies below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        # the file lies elsewhere, or the working directory was deleted
        return str(path)


class _Places:
    """The places of a source's nodes and properties, and the parser's current place."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.last: Place = (file, 1)
        self.files: list[str] = []
        self.nodes: dict[dtlib.Node, Place] = {}
        self.props: dict[tuple[dtlib.Node, str], Place] = {}

    def of_reference(self, node_path: str, label: str) -> Place | None:
        """The first property of the node that refers to this label."""
        for (node, name), place in self.props.items():
            prop = node.props.get(name)
            if node.path == node_path and prop and any(label == one[2] for one in prop._markers):
                return place
        return None

    @property
    def here(self) -> str:
        """The parser's current place, as file:line."""
        file, line = self.last
        return inputs.printable(f"{file}:{line}")


class _LocatedDT(BoundedDT):
    """A `DT` that records the file and line at which each node and property is named.

    dtlib's parser asks its lexer for tokens one by one. A new name token (not a peeked one that is
    returned again) gives the place; the next token shows whether it names a node or a property.
    """

    def __init__(self, filename: str, places: _Places) -> None:
        self._places = places
        self._named: tuple[str, Place] | None = None
        super().__init__(filename)

    def _next_token(self) -> Any:
        is_new = self._saved_token is None
        token = super()._next_token()
        if not is_new:
            return token
        self._places.last = (self.filename, self._lineno)
        if token.id == dtlib._T.PROPNODENAME:
            self._named = (token.val, self._places.last)
        elif token.val in (";", "=") and self._named and self._open_nodes:
            name, place = self._named
            self._places.props[self._open_nodes[-1], name] = place
            self._named = None
        return token

    def _read(self, path: Path, most_bytes: int) -> tuple[tuple[int, int], bytes]:
        read = super()._read(path, most_bytes)
        self._places.files.append(str(path))
        return read

    def _parse_node(self, node: dtlib.Node) -> dtlib.Node:
        place = self._named[1] if self._named else self._places.last
        self._places.nodes.setdefault(node, place)
        self._named = None
        return super()._parse_node(node)


def _one_line(message: str, places: _Places) -> str:
    """dtlib's message as `file:line: text`; some of its messages come without a place."""
    message = " ".join(message.split())
    match = _PARSE_ERROR.match(message)
    if match:
        return f"{match['file']}:{match['line']}: {message[match.end() :]}"
    undefined = _UNDEFINED.match(message)
    place = undefined and places.of_reference(undefined["node"], undefined["label"])
    file, line = place or (places.file, 1)
    return f"{file}:{line}: {message}"


def _convert(node: dtlib.Node, places: _Places) -> Node:
    file, line = places.nodes[node]
    converted = Node(node.path, node.name, list(node.labels), file, line, _phandle(node))
    for name, prop in node.props.items():
        prop_file, prop_line = places.props.get((node, name), (file, line))
        converted.props[name] = Property(name, prop.value, _kind(prop), prop_file, prop_line)
    converted.children = [_convert(child, places) for child in node.nodes.values()]
    return converted


def _phandle(node: dtlib.Node) -> int | None:
    prop = node.props.get("phandle")
    return int.from_bytes(prop.value, "big") if prop else None


def _kind(prop: dtlib.Property) -> str:
    match prop.type:
        case dtlib.Type.EMPTY:
            return "empty"
        case dtlib.Type.STRING | dtlib.Type.STRINGS | dtlib.Type.PATH:
            return "strings"
        case dtlib.Type.BYTES:
            return "bytes"
        case dtlib.Type.COMPOUND:
            return "mixed"
        case _:
            return "cells"


def refuse_host_files(root: Node) -> None:
    """Raises `BoardError` if the source itself names a file that the board reads or writes.

    Only the user may name files of the host: a board's source may come from anyone.
    """
    faults = [
        _named_file(node, node.props[name])
        for node in root.walk()
        for name in _PATHS
        if name in node.props and node.props[name].value.strip(b"\0")
    ]
    if faults:
        raise board_error(faults)


def _named_file(node: Node, prop: Property) -> str:
    path = f"{(node.labels or [node.path])[0]}.{prop.name}"
    return (
        f"{prop.file}:{prop.line}: {node.name}: {prop.name} names a file on the host: "
        f'a board\'s source may not; leave it "" here, and name the file by --set {path}=FILE'
    )
