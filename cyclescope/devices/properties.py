"""Properties that the node of a device in Python may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, overload

from cyclescope.errors import UsageError

T = TypeVar("T")

# What the names of timing properties end with; the engine knows them by that.
UNITS = ("cycles", "clocks", "ps", "ns", "us", "ms", "bytes")


class Property(Generic[T]):
    """A property of a node, as an attribute of the device: what `cyclescope.property` makes."""

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
        # a device that a board has made has the value itself, in its __dict__
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
    """A property that the node of a device may have, read and checked as those of other devices.

    `name` is the devicetree's, as in "acme,start-cycles"; `meaning` stands in messages and in
    `cyclescope.devices.bindings`. By `type` the value is a number (`int`, a cell), true if the
    property is there (`bool`), a text (`str`), or cells (`list[int]`). A number is from `least` to
    `most`, or one of `values`; a text may have to be one of `values`. A number without a `default`
    must be there; a text is then "" or the first of `values`.

    A `timing` property is listed among the board's timing parameters, and its node says in
    `cyclescope,sources` where the value comes from; for the default, `source` does, as
    "documented: <document, section>", "derived: <sum>" or "assumed <least> to <most>: <why>". A
    `unit` must be what the name ends with: cycles, clocks, ps, ns, us, ms or bytes. The attribute's
    value is in that unit.

    Raises `UsageError` for what does not go together.
    """
    if unit is not None and (unit not in UNITS or not name.endswith(f"-{unit}")):
        raise UsageError(f"{name}: units are {', '.join(UNITS)}, and the name ends with -<unit>")
    described = {"name": name, "meaning": meaning, "source": source, **_NOTHING}
    if type is int:
        described["kind"] = "timing" if timing else "number"
        described["range"], described["one_of"] = (least, most), list(values) or None
        _check(name, default, least, most, values)
    elif timing or unit:
        raise UsageError(f"{name}: only numbers have a unit, and only they are timing")
    elif type is bool:
        described["kind"], default = "flag", False
        return Property(name, default, described)
    elif type is str:
        default = default or (values[0] if values else "")
        if values and default not in values:
            raise UsageError(f"{name}: the default {default!r} is none of its values")
        described["words"] = [default, *(word for word in values if word != default)]
        described["kind"] = "word" if values else "string"
    elif type == list[int]:
        described["kind"], default = "numbers", list(default or ())
    else:
        raise UsageError(f"{name}: the type is int, bool, str or list[int], and not {type!r}")
    described["default"] = None if described["kind"] == "word" else default
    return Property(name, default, described)


# What a property has that has nothing of the kind.
_NOTHING: dict[str, Any] = {"default": None, "range": None, "one_of": None, "words": []}


def _check(name: str, default: Any, least: int, most: int, values: Sequence[int]) -> None:
    if not 0 <= least <= most < 2**32:
        raise UsageError(f"{name}: a cell has 0 to 4294967295, and least is not above most")
    if default is None:
        return
    allowed = default in values if values else least <= default <= most
    if not allowed:
        raise UsageError(f"{name}: the default {default} is not allowed by the property itself")
