import pytest

from cyclescope.errors import UsageError
from cyclescope.units import format_hz, format_ps, parse_number, parse_time_ps


@pytest.mark.parametrize(
    ("text", "time_ps"),
    [
        ("10s", 10**13),
        ("500ms", 5 * 10**11),
        ("20us", 2 * 10**7),
        ("3ns", 3000),
        ("7ps", 7),
        ("1.5 us", 1_500_000),
        ("213d", None),
        ("10", None),
        ("-1s", None),
        ("0s", None),
        ("0.1ps", None),
        ("1e3s", None),
        ("99999999s", None),
        ("", None),
    ],
)
def test_a_time_is_a_whole_number_of_picoseconds(text: str, time_ps: int | None) -> None:
    if time_ps is not None:
        assert parse_time_ps(text) == time_ps
        return
    with pytest.raises(UsageError, match="time"):
        parse_time_ps(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("40000000", 40_000_000),
        ("0x10", 16),
        ("40M", 40_000_000),
        ("16k", 16_000),
        ("16Ki", 16_384),
        ("-3", -3),
        ("forty", None),
        ("1.5", None),
        ("", None),
    ],
)
def test_numbers_are_decimal_or_hexadecimal_with_a_factor(text: str, number: int | None) -> None:
    assert parse_number(text) == number


def test_times_and_frequencies_are_shown_in_a_readable_unit() -> None:
    assert format_ps(94_338_000_000) == "94.338 ms"
    assert format_ps(999) == "999 ps"
    assert format_hz(100_000_000) == "100 MHz"
    assert format_hz(9_600) == "9.6 kHz"
