"""Many programs in one image: all of them are run, and one that differs is found and made small."""

from __future__ import annotations

import time

import pytest

from fuzz import boards, many, target_many
from fuzz.inputs import Input, MisbehaviourError
from fuzz.target_many import Many

FEW = 12
# of all instruction sets, one that answers soon
BOARDS = ("minimal-armv7m", "minimal-armv7a", "minimal-rv32", "minimal-mips32", "picosoc-hx8k")
NEVER_S = float("inf")


def image(board: str, monkeypatch: pytest.MonkeyPatch) -> Input:
    """A few programs of this board."""
    monkeypatch.setattr(target_many, "MAKERS", {board: target_many.MAKERS[board]})
    made = Many().make("seed")
    return made | {"programs": made["programs"][:FEW]}


def test_there_are_images_for_all_boards() -> None:
    assert set(target_many.MAKERS) == set(boards.NAMES)


@pytest.mark.parametrize("board", BOARDS)
def test_all_programs_of_an_image_are_run(board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # a PicoRV32 has no way to end a run but to stop
    end = "fault" if board == "picosoc-hx8k" else "exit"
    assert Many().run(image(board, monkeypatch)) == (end, FEW)


def test_a_difference_is_reduced_to_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    made = image("minimal-rv32", monkeypatch)
    planted = made["programs"][7]
    stepped = target_many.stepped

    def differs(now: Input, compiled: target_many.Seen) -> target_many.Seen | None:
        found = stepped(now, compiled)
        has_it = any(entry == planted[2] for _, _, entry, *_ in now["programs"])
        return found | {"elapsed_ps": 0} if found and has_it else found

    monkeypatch.setattr(target_many, "stepped", differs)
    with pytest.raises(MisbehaviourError, match="minimal-rv32, stepped: elapsed_ps differ"):
        Many().run(made)
    (left,) = Many().reduced(made)["programs"]
    # all but the jump back
    nops = len(left[1]) // 4 - 1
    assert left[1] == made["nop"] * nops + planted[1][4 * nops :]


def test_instructions_that_it_takes_are_left() -> None:
    programs = [[0, b"abcdefgh", 0, 1, 0], [8, b"ijklmnop", 8, 1, 0]]
    made = {"nop": b"__", "tail": 2, "programs": programs}

    def fails(now: Input) -> bool:
        return any(b"kl" in code for _, code, *_ in now["programs"])

    (left,) = many.reduced(made, fails, NEVER_S)["programs"]
    assert left[1] == b"__kl__op"
    assert many.reduced(made, fails, time.process_time() - 1) == made
