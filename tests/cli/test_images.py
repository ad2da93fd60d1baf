"""Images of chips: what may be one, and that a run has its own for itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import BOARD, ROOT, Command
from tiers import mostly_long

from cyclescope import Board, disks, firmware
from cyclescope.errors import BoardError, DiskError
from cyclescope.statuses import Status

Program = Callable[[str], Path]
FLASH = "flash0.cyclescope,image"
CARD_BOARD = "nios2-mmc"
CARD = "card0.cyclescope,image"
CARD_BYTES = 16 * 2**20
TAKEN = "another run has it: wait for its end, or give each run an image of its own"


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "card.img"
    with path.open("wb") as new:
        new.truncate(CARD_BYTES)
    return path


def endless(board: str) -> Path:
    source = ROOT / "tests" / "firmware" / "endless_loop.c"
    return firmware.build(firmware.board_recipe("endless_loop", board, [source]))


@contextmanager
def running(elf: Path, board: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A run of another process that is under way."""
    command = [sys.executable, "-m", "cyclescope", "run", elf, "--board", board, *arguments]
    process = subprocess.Popen(
        [*map(str, command), "--limit", "100000s"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "looping\n"
        yield process
    finally:
        process.kill()
        process.wait()


# ---- what may be an image


def test_an_image_that_can_not_be_saved_is_a_fault_of_the_board_before_anything_runs(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "fifo")
    for path, said in (
        ("none/flash.bin", "its folder does not exist: make it first"),
        ("fifo", "it is a FIFO; an image is a regular file or a block device"),
    ):
        done = cyclescope(
            "run",
            program("flash_readback"),
            "--board",
            BOARD,
            "--set",
            f"{FLASH}={path}",
            timeout_s=60,
        )
        assert (done.status, done.stdout) == (Status.USAGE, "")
        assert done.error == f"--set: flash@0: cyclescope,image is {path}; {said}"


def test_a_boards_source_names_no_file_of_the_host(changed_board: Callable[..., Path]) -> None:
    board = changed_board('&flash0 { cyclescope,image = "none/flash.bin"; };')
    with pytest.raises(BoardError, match=r"changed.dts:3: flash@0: .* names a file on the host"):
        Board(board)


def test_a_card_that_is_a_fifo_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(BoardError, match="it is a FIFO"):
        Board(CARD_BOARD, {CARD: str(tmp_path / "fifo")})


def test_two_chips_of_a_board_have_no_image_together(card: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(card)
    other = {CARD: str(card), "card1.cyclescope,image": str(tmp_path / "link")}
    with pytest.raises(BoardError, match="has it, too: each chip needs an image of its own"):
        Board(CARD_BOARD, other)
    protected = {"card0.cyclescope,write-protect": True, "card1.cyclescope,write-protect": True}
    assert Board(CARD_BOARD, other | protected).inputs[str(card)] == "the image of card0"


def test_the_flashs_image_keeps_its_mode_and_links_to_it(program: Program, tmp_path: Path) -> None:
    image = tmp_path / "flash.bin"
    image.touch(0o600)
    (tmp_path / "link").symlink_to("flash.bin")
    result = Board(BOARD, {FLASH: str(tmp_path / "link")}).load(program("flash_readback")).run()
    assert result.exit_code == 0
    assert image.stat().st_size == 16 * 2**20
    assert image.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "link").is_symlink()


# ---- one run at a time


@pytest.mark.parametrize("exists", mostly_long([True, False], short={False}))
def test_a_flashs_image_is_one_runs_alone(
    cyclescope: Command, program: Program, tmp_path: Path, exists: bool
) -> None:
    image = tmp_path / "flash.bin"
    if exists:
        image.touch()
    setting = ("--set", f"{FLASH}={image}")
    run = ("run", program("flash_readback"), "--board", BOARD, *setting)
    with running(endless(BOARD), BOARD, *setting):
        done = cyclescope(*run)
        assert (done.status, done.stdout) == (Status.USAGE, "")
        assert done.error == f"--set: flash@0: cyclescope,image is {image}; {TAKEN}"
        # showing the board takes no lock on the image
        assert cyclescope("board", BOARD, *setting).status == 0
    # also not one that was killed
    assert cyclescope(*run).status == 0
    assert image.stat().st_size == 16 * 2**20


def test_a_card_is_one_runs_alone_unless_all_only_read_it(program: Program, card: Path) -> None:
    elf = endless(CARD_BOARD)
    settings = {CARD: str(card)}
    with running(elf, CARD_BOARD, "--set", f"{CARD}={card}"):
        with pytest.raises(BoardError, match=TAKEN):
            Board(CARD_BOARD, settings).load(elf).run("1ms")
        with pytest.raises(DiskError, match="another run uses it"), disks.copy_of(card):
            pass
    protected = settings | {"card0.cyclescope,write-protect": True}
    flag = ("--set", "card0.cyclescope,write-protect=true")
    with running(elf, CARD_BOARD, "--set", f"{CARD}={card}", *flag):
        assert Board(CARD_BOARD, protected).load(elf).run("1ms").outcome == "limit"
        with pytest.raises(BoardError, match=TAKEN):
            Board(CARD_BOARD, settings).load(elf).run("1ms")


def test_boards_of_one_program_wait_for_each_other_too(program: Program, tmp_path: Path) -> None:
    settings = {FLASH: str(tmp_path / "flash.bin")}
    one, other = (Board(BOARD, settings).load(program("flash_readback")) for _ in range(2))
    refused: list[str] = []

    def meanwhile(text: str) -> None:
        try:
            other.run()
        except BoardError as error:
            refused.append(str(error))

    assert one.run(console=meanwhile).failed_saves == ()
    assert refused
    assert all(message.endswith(TAKEN) for message in refused)
    # neither a board that is loaded, nor one that has run, holds anything
    assert other.load(program("flash_readback")).run().exit_code == 0
    assert one.run().exit_code == 0


def test_a_run_that_ends_by_an_exception_lets_its_image_go(
    program: Program, tmp_path: Path
) -> None:
    board = Board(BOARD, {FLASH: str(tmp_path / "flash.bin")}).load(program("flash_readback"))

    def fail(text: str) -> None:
        raise LookupError(text)

    with pytest.raises(LookupError) as kept:
        board.run(console=fail)
    assert board.run().exit_code == 0
    assert kept.traceback


def test_a_run_starts_from_what_the_one_before_left(program: Program, tmp_path: Path) -> None:
    # both boards are made before either runs
    image = tmp_path / "flash.bin"
    boards = [Board(BOARD, {FLASH: str(image)}).load(program("flash_readback")) for _ in range(2)]
    boards[0].run()
    programmed = image.read_bytes()
    marked = b"\x12" + programmed[1:]
    image.write_bytes(marked)
    assert boards[1].run().exit_code == 0
    assert image.read_bytes() == marked
