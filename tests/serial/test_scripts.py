"""The text of scripts: what is understood, and what is said of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.board.scripts import (
    At,
    End,
    Expect,
    Script,
    Send,
    Step,
    Wait,
    format_script,
    parse_script,
)
from cyclescope.errors import UsageError
from cyclescope.units import MAX_PS


def steps(text: str) -> list[Step]:
    return [step for _, step in parse_script(text).steps]


def test_all_that_a_script_can_say() -> None:
    text = r"""
    # a comment
    expect "> " within 100ms   # and one after a step
    expect "a \"quoted\" # text"
    send "\r\n\t\e\0\\\x7fé"
    wait 10us
    at 1s
    at 2s send "x"
    send "ab" pausing 1ms
    at 3s end 4
    end"""
    assert steps(text) == [
        Expect(b"> ", 10**11),
        Expect(b'a "quoted" # text'),
        Send(b"\r\n\t\x1b\0\\\x7f\xc3\xa9"),
        Wait(10**7),
        At(10**12),
        At(2 * 10**12),
        Send(b"x"),
        Send(b"a"),
        Wait(10**9),
        Send(b"b"),
        Wait(10**9),
        At(3 * 10**12),
        End(4),
        End(),
    ]


def test_places_are_lines() -> None:
    script = parse_script('\nend\n\nsend "x"\n', "s.txt")
    assert [place for place, _ in script.steps] == ["s.txt:2", "s.txt:4"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('expect "x', "a text has no closing quote"),
        ("expect x", "expected a quoted text"),
        (r'send "\q"', "unknown escape \\q: expected"),
        ("wait 10", "time '10': expected a number"),
        ("wait 10 ms", "wait 10 ms: expected expect"),
        ('expect "x" in 10ms', "expected expect"),
        ("end 256", "expected expect"),
        ("end ٣", "expected expect"),
        ("at 1s frob", "frob: expected expect"),
        ("frob", "frob: expected expect"),
    ],
)
def test_faults_are_reported_with_their_line(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_script(f"end\n{line}", "s.txt")
    assert str(caught.value).startswith("s.txt:2: ")
    assert message in str(caught.value)


def test_steps_in_python_are_checked() -> None:
    for step in (Expect(""), Wait(-1), At(MAX_PS + 1), End(256), "end"):
        with pytest.raises(UsageError):
            Script.of([step]).items()  # type: ignore[list-item]


texts = st.binary(max_size=20)
times = st.integers(1, MAX_PS)
any_step = st.one_of(
    st.builds(Expect, texts.filter(bool), st.none() | times),
    st.builds(Send, texts),
    st.builds(Wait, times),
    st.builds(At, times),
    st.builds(End, st.integers(0, 255)),
)


@given(st.lists(any_step))
def test_steps_as_text_are_the_same_steps(made: list[Step]) -> None:
    assert steps(format_script(made)) == made


words = st.sampled_from(
    [
        "expect",
        "send",
        "wait",
        "at",
        "within",
        "pausing",
        "end",
        '"',
        '"a"',
        r'"\x4"',
        "\\",
        "1s",
        "#",
    ]
)


@given(st.lists(words | st.text(max_size=6)).map(" ".join) | st.text())
def test_any_text_is_a_script_or_refused_in_one_line(text: str) -> None:
    message = "s:"
    try:
        parse_script(text, "s").items()
    except UsageError as error:
        message = str(error)
    assert message.startswith("s:")
    assert "\n" not in message
