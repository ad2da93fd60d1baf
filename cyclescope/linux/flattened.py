"""Flattened devicetrees: the bytes of a .dtb in, a tree of nodes out, and back.

The format is that of the Devicetree Specification, release v0.4, chapter 5.
"""

from __future__ import annotations

import struct

from cyclescope.board.description.devicetree import Node, Property
from cyclescope.errors import UsageError

_MAGIC = 0xD00DFEED
_VERSION, _COMPATIBLE_VERSION = 17, 16
_BEGIN_NODE, _END_NODE, _PROPERTY, _NOP, _END = 1, 2, 3, 4, 9
_HEADER = struct.Struct(">10I")
# no memory is reserved: one entry of zeroes, the end of the list
_NO_RESERVATIONS = bytes(16)
# Linux's own tools refuse deeper trees
_MOST_DEPTH = 64


def is_flattened(data: bytes) -> bool:
    """Whether data begin as a flattened devicetree does."""
    return data[:4] == _MAGIC.to_bytes(4, "big")


def read(data: bytes, name: str) -> Node:
    """The tree of a flattened devicetree; `name` is its file's, for messages.

    Raises `UsageError` if it is not one, or damaged.
    """
    if not is_flattened(data):
        raise UsageError(
            f"{name}: not a flattened devicetree (.dtb): compile a .dts with dtc first"
        )
    try:
        return _Reader(data, name).tree()
    except (struct.error, IndexError, ValueError) as error:
        raise UsageError(f"{name}: a damaged devicetree: {error}") from None


class _Reader:
    """A reader of tokens; raises `ValueError`, `IndexError` or `struct.error` for damaged data."""

    def __init__(self, data: bytes, name: str) -> None:
        _, total, structure, strings, _, _, oldest, _, strings_bytes, structure_bytes = (
            _HEADER.unpack_from(data)
        )
        if total > len(data):
            raise ValueError(f"it has {len(data)} of its {total} bytes")
        if oldest > _VERSION:
            raise ValueError(f"its version is {oldest}, not {_VERSION}")
        self._structure = data[structure : structure + structure_bytes]
        self._strings = data[strings : strings + strings_bytes]
        self._name = name
        self._at = 0

    def tree(self) -> Node:
        if self._token() != _BEGIN_NODE:
            raise ValueError("it has no root node")
        root = self._node("", 0)
        if self._token() != _END:
            raise ValueError("nodes follow its root")
        return root

    def _token(self) -> int:
        while True:
            (token,) = struct.unpack_from(">I", self._structure, self._at)
            self._at += 4
            if token != _NOP:
                return int(token)

    def _node(self, parent: str, depth: int) -> Node:
        if depth > _MOST_DEPTH:
            raise ValueError(f"its nodes nest deeper than {_MOST_DEPTH}")
        name = self._text(self._structure, self._at)
        self._advance(len(name) + 1)
        path = f"{parent.rstrip('/')}/{name}"
        node = Node(path, name or "/", [], self._name, 0, None)
        while (token := self._token()) != _END_NODE:
            if token == _BEGIN_NODE:
                node.children.append(self._node(path, depth + 1))
            elif token == _PROPERTY:
                self._property(node)
            else:
                raise ValueError(f"token {token:#x} in {path}")
        if "phandle" in node.props:
            node.phandle = node.number("phandle")
        return node

    def _property(self, node: Node) -> None:
        size, place = struct.unpack_from(">II", self._structure, self._at)
        self._at += 8
        value = self._structure[self._at : self._at + size]
        if len(value) < size:
            raise ValueError(f"a property of {node.path} is cut off")
        self._advance(size)
        set_bytes(node, self._text(self._strings, place), value)

    def _advance(self, size: int) -> None:
        """Go on to the next multiple of four bytes."""
        self._at += size + -size % 4

    @staticmethod
    def _text(data: bytes, at: int) -> str:
        return data[at : data.index(b"\0", at)].decode()


def written(root: Node) -> bytes:
    """The bytes of a tree as a flattened devicetree."""
    names = _Names()
    structure = _of_node(root, names, is_root=True) + _END.to_bytes(4, "big")
    at = _HEADER.size + len(_NO_RESERVATIONS)
    strings = bytes(names.strings)
    header = _HEADER.pack(
        _MAGIC,
        at + len(structure) + len(strings),
        at,
        at + len(structure),
        _HEADER.size,
        _VERSION,
        _COMPATIBLE_VERSION,
        0,
        len(strings),
        len(structure),
    )
    return header + _NO_RESERVATIONS + structure + strings


class _Names:
    """The names of properties, each once."""

    def __init__(self) -> None:
        self.strings = bytearray()
        self._places: dict[str, int] = {}

    def place(self, name: str) -> int:
        """The offset of a name, which is added if it is new."""
        if name not in self._places:
            self._places[name] = len(self.strings)
            self.strings += name.encode() + b"\0"
        return self._places[name]


def _of_node(node: Node, names: _Names, *, is_root: bool = False) -> bytes:
    name = b"" if is_root else node.name.encode()
    parts = [_BEGIN_NODE.to_bytes(4, "big"), _padded(name + b"\0")]
    for prop in node.props.values():
        parts.append(struct.pack(">3I", _PROPERTY, len(prop.value), names.place(prop.name)))
        parts.append(_padded(prop.value))
    parts += [_of_node(child, names) for child in node.children]
    parts.append(_END_NODE.to_bytes(4, "big"))
    return b"".join(parts)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def set_bytes(node: Node, name: str, value: bytes) -> None:
    """Give a node a property with this raw value."""
    kind = "cells" if value and len(value) % 4 == 0 else "bytes" if value else "empty"
    node.props[name] = Property(name, value, kind, node.file, node.line)


def set_cells(node: Node, name: str, *cells: int) -> None:
    """Give a node a property of cells."""
    set_bytes(node, name, struct.pack(f">{len(cells)}I", *cells))


def set_strings(node: Node, name: str, *texts: str) -> None:
    """Give a node a property of strings."""
    set_bytes(node, name, b"".join(text.encode() + b"\0" for text in texts))


def child(node: Node, name: str) -> Node:
    """The child of this name, which is made if it is not there."""
    for one in node.children:
        if one.name == name:
            return one
    made = Node(f"{node.path.rstrip('/')}/{name}", name, [], node.file, node.line, None)
    node.children.append(made)
    return made
