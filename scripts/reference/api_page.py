"""docs/reference/python-api.md: the public names of the package, with their docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from operator import itemgetter

import markdown

import cyclescope
from cyclescope import devices, errors
from cyclescope.board import debugger

OTHERS = """\
Other classes derived from `EngineError` are in `cyclescope.errors`:
"""


def text() -> str:
    """The page."""
    names = cyclescope.__all__
    parts = [
        inspect.cleandoc(cyclescope.__doc__ or ""),
        "\n".join(f"- [`{name}`](#{markdown.anchor(name)})" for name in names),
    ]
    for name in names:
        parts += _entry(name, getattr(cyclescope, name))
    for module in (debugger, devices):
        parts += [f"## {module.__name__}", inspect.cleandoc(module.__doc__ or "")]
        for name in [name for name in module.__all__ if name not in names]:
            parts += _entry(name, getattr(module, name))
    parts += ["## Other errors", OTHERS, markdown.items(_other_errors())]
    return markdown.page("Python API", *parts)


def _other_errors() -> Iterator[str]:
    for name in errors.__all__:
        what = getattr(errors, name)
        if inspect.isclass(what) and name not in cyclescope.__all__:
            yield f"`{name}`: {inspect.getdoc(what)}"


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
    """Public methods and properties that the class defines itself."""
    if issubclass(what, Exception | Enum):
        return []
    own = {name: value for name, value in vars(what).items() if not name.startswith("_")}
    shown = [(name, value) for name, value in own.items() if _is_described(value)]
    # a class of the engine has its properties in no order: they follow the rest, by name
    unordered = [item for item in shown if inspect.isgetsetdescriptor(item[1])]
    return [item for item in shown if item not in unordered] + sorted(unordered, key=itemgetter(0))


def _is_described(value: object) -> bool:
    kinds = (property, cached_property, classmethod, staticmethod)
    is_method = inspect.isroutine(value) or isinstance(value, kinds)
    return (is_method or inspect.isgetsetdescriptor(value)) and bool(inspect.getdoc(value))


def _member(name: str, value: object) -> Iterator[str]:
    if isinstance(value, property | cached_property):
        getter = value.fget if isinstance(value, property) else value.func
        result = inspect.signature(getter).return_annotation if getter else ""
        yield markdown.code(f"{name}: {_type(result)}", "python")
    elif isinstance(value, classmethod | staticmethod):
        yield _signature(name, value.__func__)
    elif inspect.isroutine(value):
        yield _signature(name, value)
    yield _doc(value)


def _type(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


class _Text:
    """An annotation that is shown as it is written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _signature(name: str, what: object) -> str:
    try:
        signature = inspect.signature(what)
    except ValueError:  # of a class of the engine without a constructor's text
        return markdown.code(f"{name}()", "python")
    parameters = [
        param.replace(annotation=_shown(param.annotation), default=_default(param.default))
        for param in signature.parameters.values()
        if param.name not in ("self", "cls")
    ]
    result = inspect.Signature.empty if inspect.isclass(what) else signature.return_annotation
    shown = signature.replace(parameters=parameters, return_annotation=_shown(result))
    line = f"{name}{shown}"
    if len(line) > markdown.COLUMNS:
        line = f"{name}{_in_lines(shown)}"
    return markdown.code(line, "python")


def _shown(annotation: object) -> object:
    return _Text(annotation) if isinstance(annotation, str) else annotation


def _default(value: object) -> object:
    """For a field with a factory, only that it has a default."""
    return _Text("...") if "factory" in repr(value) else value


def _in_lines(signature: inspect.Signature) -> str:
    """A parameter a line."""
    result = str(signature.replace(parameters=[]))[2:]
    lines, starred = [], False
    for param in signature.parameters.values():
        if param.kind is param.KEYWORD_ONLY and not starred:
            lines.append("*")
            starred = True
        starred = starred or param.kind is param.VAR_POSITIONAL
        lines.append(str(param))
    return "(\n" + "".join(f"    {line},\n" for line in lines) + f"){result}"


def _doc(what: object) -> str:
    return inspect.getdoc(what) or ""
