"""Prices of parts: the cost of a value of an axis, to be weighed against its gain.

A price is given for each value (`cpu0.i-cache-size=0:0,4K:0.10,8K:0.15`), or by the unit of a
number (`cpu0.i-cache-size=0.02/1K`). The price of a row is the sum over its axes. The currency is
the user's choice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cyclescope.errors import SettingError
from cyclescope.host.inputs import printable
from cyclescope.similar_names import did_you_mean_or
from cyclescope.sweeps.axes import Axis
from cyclescope.units import parse_number

# A value in the form in which values are compared: 4K equals 4096.
_Key = int | str


@dataclass(frozen=True)
class Price:
    """The prices of an axis: one for each value, or one for each `per` of the number."""

    path: str
    of_values: Mapping[_Key, float] = field(default_factory=dict)
    rate: float = 0.0
    per: int = 0

    def of(self, value: str) -> float | None:
        """The price of a value; None if it has no price."""
        if not self.per:
            return self.of_values.get(_key(value))
        number = parse_number(value)
        return None if number is None else self.rate * number / self.per


@dataclass(frozen=True)
class Prices:
    """The prices of a sweep's axes."""

    axes: tuple[Price, ...] = ()

    def of(self, values: Mapping[str, str]) -> float | None:
        """The price of a row; None without any prices."""
        if not self.axes:
            return None
        return math.fsum(price.of(values[price.path]) or 0.0 for price in self.axes)

    def check(self, axes: Sequence[Axis]) -> None:
        """Raises `SettingError` for a price of an unvaried axis, or a value without price."""
        by_path = {axis.path: axis for axis in axes}
        for price in self.axes:
            axis = by_path.get(price.path)
            if axis is None:
                hint = did_you_mean_or(price.path, by_path, f"--vary has {', '.join(by_path)}")
                raise SettingError(f"--price {price.path}: it is not varied{hint}")
            ends = () if axis.span is None else (str(axis.span.low),)
            without = next((one for one in (*axis.values, *ends) if price.of(one) is None), None)
            if without is not None:
                raise SettingError(f"--price {price.path}: {printable(without)} has no price")


def parse_price(argument: str) -> Price:
    """The price of `PATH=VALUE:PRICE,...` or `PATH=PRICE/UNIT`. Raises `SettingError`."""
    path, equals, text = argument.partition("=")
    if not equals or not path or not text:
        raise SettingError(
            f"--price {printable(argument)}: expected PATH=VALUE:PRICE,... or PATH=PRICE/UNIT"
        )
    rate, slash, unit = text.rpartition("/")
    if slash and ":" not in text:
        per = parse_number(unit)
        if not per or per < 0:
            raise SettingError(f"--price {path}: {printable(unit)} is no unit such as 1K or 1M")
        return Price(path.strip(), rate=_amount(path, rate), per=per)
    pairs = [part.rpartition(":") for part in text.split(",")]
    if any(not colon or not value for value, colon, _ in pairs):
        raise SettingError(f"--price {path}: expected VALUE:PRICE, with a comma before the next")
    return of_values(path.strip(), [(value, amount) for value, _, amount in pairs])


def of_values(path: str, pairs: Iterable[tuple[str, object]]) -> Price:
    """The price of each value of an axis. Raises `SettingError` for what is no number."""
    return Price(path, {_key(value): _amount(path, str(amount)) for value, amount in pairs})


def _amount(path: str, text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not math.isfinite(amount):
        raise SettingError(f"--price {path}: {printable(text)} is no price such as 0.15")
    return amount


def _key(value: str) -> _Key:
    number = parse_number(value.strip())
    return value.strip() if number is None else number
