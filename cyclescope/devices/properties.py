"""Properties of the nodes of Python devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, overload

from cyclescope.errors import UsageError

T = TypeVar("T")

# The endings of names of timing properties, by which the engine recognizes them.
UNITS = ("cycles", "clocks", "ps", "ns", "us", "ms", "bytes")


class Property(Generic[T]):
    """A property of a node as an attribute of the device; `cyclescope.property` makes it."""

    def __init__(self, name: str, default: T | None, described: dict[str, Any]) -> None:
        self.name = name
        self.default = default
        self.described = described
        self.attribute = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.attribute = name

    @overload
    def __get__(self, device: None, owner: type) -> Property[T]: ...
    @overload
    def __get__(self, device: object, owner: type) -> T: ...
    def __get__(self, device: object | None, owner: type) -> Any:
        # a device that a board has made has the value in its __dict__
        if device is None:
            return self
        if self.default is None:
            raise AttributeError(f"{self.name} has no default: set {self.attribute} first")
        return self.default


@overload
def property(name: str, meaning: str, *, type: type[bool]) -> Property[bool]: ...
@overload
def property(
    name: str,
    meaning: str,
    *,
    type: type[int] = ...,
    default: int | None = None,
    least: int = 0,
    most: int = 2**32 - 1,
    values: Sequence[int] = (),
    unit: str | None = None,
    timing: bool = False,
    source: str = "",
) -> Property[int]: ...
@overload
def property(
    name: str,
    meaning: str,
    *,
    type: type[str],
    default: str = "",
    values: Sequence[str] = (),
) -> Property[str]: ...
@overload
def property(
    name: str, meaning: str, *, type: type[list[int]], default: Sequence[int] = ()
) -> Property[list[int]]: ...
def property(
    name: str,
    meaning: str,
    *,
    type: Any = int,
    default: Any = None,
    least: int = 0,
    most: int = 2**32 - 1,
    values: Sequence[Any] = (),
    unit: str | None = None,
    timing: bool = False,
    source: str = "",
) -> Any:
    """Declare a property of a device's node; it is read and checked as for other devices.

    `name` is its devicetree name, such as "acme,start-cycles"; `meaning` is for messages and for
    `cyclescope.devices.bindings`. The `type` of the value is a number (`int`, a cell), a flag that
    is true if the property is present (`bool`), a text (`str`), or cells (`list[int]`). A number is
    from `least` to `most`, or one of `values`; `values` can also limit a text. A number without a
    `default` is required; a text without one defaults to the first of `values`, or to "".

    A `timing` property is listed among the board's timing parameters, and its node has the source
    of the value in `cyclescope,sources`; `source` is the source of the default, as "documented:
    <document, section>", "derived: <sum>" or "assumed <least> to <most>: <why>". The name must end
    with the `unit`: cycles, clocks, ps, ns, us, ms or bytes. The attribute's value is in that unit.

    Raises `UsageError` for arguments that do not fit together.
    """
    if unit is not None and (unit not in UNITS or not name.endswith(f"-{unit}")):
        raise UsageError(f"{name}: units are {', '.join(UNITS)}, and the name ends with -<unit>")
    described = {"name": name, "meaning": meaning, "source": source, **_NOTHING}
    if type is int:
        described["kind"] = "timing" if timing else "number"
        described["range"], described["one_of"] = (least, most), list(values) or None
        _check(name, default, least, most, values)
    elif timing or unit:
        raise UsageError(f"{name}: only numbers can have a unit or be timing")
    elif type is bool:
        described["kind"], default = "flag", False
        return Property(name, default, described)
    elif type is str:
        default = default or (values[0] if values else "")
        if values and default not in values:
            raise UsageError(f"{name}: the default {default!r} is not one of its values")
        described["words"] = [default, *(word for word in values if word != default)]
        described["kind"] = "word" if values else "string"
    elif type == list[int]:
        described["kind"], default = "numbers", list(default or ())
    else:
        raise UsageError(f"{name}: the type must be int, bool, str or list[int], not {type!r}")
    described["default"] = None if described["kind"] == "word" else default
    return Property(name, default, described)


# Defaults of the fields that a kind of property does not use.
_NOTHING: dict[str, Any] = {"default": None, "range": None, "one_of": None, "words": []}


def _check(name: str, default: Any, least: int, most: int, values: Sequence[int]) -> None:
    if not 0 <= least <= most < 2**32:
        raise UsageError(f"{name}: a cell has 0 to 4294967295, and least is not above most")
    if default is None:
        return
    allowed = default in values if values else least <= default <= most
    if not allowed:
        raise UsageError(f"{name}: the default {default} is not allowed by the property itself")
