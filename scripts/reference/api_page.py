"""docs/reference/python-api.md: the public names of the package, with their docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum

import markdown

import cyclescope


def text() -> str:
    """The page."""
    names = cyclescope.__all__
    parts = [
        inspect.cleandoc(cyclescope.__doc__ or ""),
        "\n".join(f"- [`{name}`](#{markdown.anchor(name)})" for name in names),
    ]
    for name in names:
        parts += _entry(name, getattr(cyclescope, name))
    return markdown.page("Python API", *parts)


def _entry(name: str, what: object) -> Iterator[str]:
    yield f"## {name}"
    if not inspect.isclass(what):
        yield _signature(name, what)
        yield _doc(what)
        return
    if issubclass(what, Exception):
        yield f"An exception; derives from `{what.__mro__[1].__name__}`."
    elif what.__module__.startswith("cyclescope."):
        yield _signature(name, what)
    yield _doc(what)
    for member, value in _members(what):
        yield f"### {name}.{member}"
        yield from _member(member, value)


def _members(what: type) -> list[tuple[str, object]]:
    """Public methods and properties that the class has of its own."""
    if issubclass(what, Exception | Enum):
        return []
    own = {name: value for name, value in vars(what).items() if not name.startswith("_")}
    return [(name, value) for name, value in own.items() if _is_described(value)]


def _is_described(value: object) -> bool:
    kinds = (property, classmethod, staticmethod)
    is_method = inspect.isroutine(value) or isinstance(value, kinds)
    return (is_method or inspect.isgetsetdescriptor(value)) and bool(inspect.getdoc(value))


def _member(name: str, value: object) -> Iterator[str]:
    if isinstance(value, property):
        result = inspect.signature(value.fget).return_annotation if value.fget else ""
        yield markdown.code(f"{name}: {_type(result)}", "python")
    elif isinstance(value, classmethod | staticmethod):
        yield _signature(name, value.__func__)
    elif inspect.isroutine(value):
        yield _signature(name, value)
    yield _doc(value)


def _type(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _signature(name: str, what: object) -> str:
    try:
        signature = inspect.signature(what)
    except ValueError:  # of a class of the engine without a constructor's text
        return markdown.code(f"{name}()", "python")
    hidden = [
        param.replace(annotation=param.annotation)
        for param in signature.parameters.values()
        if param.name not in ("self", "cls")
    ]
    shown = signature.replace(parameters=hidden)
    line = f"{name}{_plain(shown)}"
    if len(line) > markdown.COLUMNS:
        line = f"{name}{_plain_lines(shown)}"
    return markdown.code(line, "python")


def _plain(signature: inspect.Signature) -> str:
    return str(signature).replace("'", "").replace("<factory>", "...")


def _plain_lines(signature: inspect.Signature) -> str:
    """A parameter a line."""
    result = _plain(signature.replace(parameters=[]))[2:]
    lines, starred = [], False
    for param in signature.parameters.values():
        if param.kind is param.KEYWORD_ONLY and not starred:
            lines.append("*")
            starred = True
        starred = starred or param.kind is param.VAR_POSITIONAL
        lines.append(str(param).replace("'", "").replace("<factory>", "..."))
    return "(\n" + "".join(f"    {line},\n" for line in lines) + f"){result}"


def _doc(what: object) -> str:
    return inspect.getdoc(what) or ""
