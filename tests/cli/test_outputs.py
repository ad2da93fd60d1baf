"""Outputs of the command line: refused before anything runs, or saved, or an error in the end."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, NEEDS_NODES, Command, Finished
from ipc_peer import Peer
from tiers import ALL
from warm_start import WarmStart

from cyclescope import Board, bench, experiments, firmware
from cyclescope.bench import planning
from cyclescope.errors import OutputError, UsageError
from cyclescope.host import outputs
from cyclescope.statuses import Status

NAME = "quad-spi-throughput"

# An experiment of one run that ends soon.
ONE_RUN = "m4-rules"

Program = Callable[[str], Path]


@pytest.fixture
def with_full_disk(command_line: WarmStart, tmp_path: Path) -> Command:
    """Calls the command line where no file gets longer than 10 bytes."""

    def call(*arguments: object) -> Finished:
        texts = [str(argument) for argument in arguments]
        status, *streams = command_line.call(texts, tmp_path, os.environ, 300, most_file_bytes=10)
        return Finished(status, *(stream.decode() for stream in streams))

    return call


def errors(stderr: str) -> list[str]:
    assert "Traceback" not in stderr
    lines = [line for line in stderr.splitlines() if line.startswith("cyclescope: error: ")]
    return [line.removeprefix("cyclescope: error: ") for line in lines]


# ---- run


def test_results_go_through_a_fifo_and_a_link_and_keep_a_mode(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "private").touch(0o600)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "fifo").read_text()))
    reader.start()
    for name in ("fifo", "link", "private"):
        done = cyclescope("run", program("exit_main"), "--board", BOARD, "--json", name)
        assert done.status == 7, done.stderr
    reader.join(60)
    texts = [*read, (tmp_path / "real").read_text(), (tmp_path / "private").read_text()]
    assert [json.loads(text)["exit_code"] for text in texts] == [7, 7, 7]
    assert (tmp_path / "fifo").is_fifo()
    assert (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


@NEEDS_NODES
def test_a_device_node_stays_one(cyclescope: Command, program: Program, tmp_path: Path) -> None:
    null = tmp_path / "null"
    os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    run = ("run", program("exit_code"), "--board", BOARD)
    assert cyclescope(*run, "--json", null, "--vcd", null).status == 42
    assert null.is_char_device()
    done = cyclescope(*run, "--set", f"flash0.cyclescope,image={null}")
    assert done.status == Status.USAGE
    assert "it is a character device; an image is a regular file or a block device" in done.error
    assert null.is_char_device()


def test_a_shells_process_substitution_gets_the_results(program: Program, tmp_path: Path) -> None:
    """The argument of `--json >(cat > FILE)`: the name of a pipe that the command inherits."""
    with contextlib.ExitStack() as pipes:
        options, readers = [], []
        for name in ("json", "vcd"):
            file = pipes.enter_context((tmp_path / name).open("wb"))
            reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file)
            readers.append(pipes.enter_context(reader))
            assert reader.stdin is not None
            options += [f"--{name}", f"/dev/fd/{reader.stdin.fileno()}"]
        command = [sys.executable, "-m", "cyclescope", "run", program("exit_main")]
        ends = [reader.stdin.fileno() for reader in readers if reader.stdin]
        done = subprocess.run(
            [*command, "--board", BOARD, *options],
            pass_fds=ends,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        for reader in readers:
            reader.communicate(timeout=60)
    assert (done.returncode, errors(done.stderr)) == (7, [])
    assert json.loads((tmp_path / "json").read_text())["exit_code"] == 7
    assert (tmp_path / "vcd").read_text().startswith("$")


@pytest.mark.parametrize(
    ("option", "path", "said"),
    [
        ("--json", "none/x", "none/x: its folder does not exist: make it first"),
        ("--json", "", "'' is not a valid file name"),
        ("--vcd", "folder", "folder: this is a folder: name a file"),
    ],
)
def test_an_output_that_can_not_be_saved_prevents_the_run(
    cyclescope: Command, program: Program, tmp_path: Path, option: str, path: str, said: str
) -> None:
    (tmp_path / "folder").mkdir()
    done = cyclescope("run", program("exit_main"), "--board", BOARD, option, path)
    assert (done.status, done.stdout, done.error) == (Status.USAGE, "", said)


def test_nothing_that_was_given_is_overwritten(
    cyclescope: Command,
    program: Program,
    changed_board: Callable[..., Path],
    tmp_path: Path,
) -> None:
    elf = shutil.copy(program("exit_main"), tmp_path / "firmware.elf")
    part = tmp_path / "part.dtsi"
    part.write_text('/ { model = "part"; };\n')
    board = changed_board('/include/ "part.dtsi"')
    image = tmp_path / "flash.bin"
    image.write_bytes(b"\xff")
    (tmp_path / "link").symlink_to("firmware.elf")
    os.link(board, tmp_path / "hard.json")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    loaded = Board(board, {"flash0.cyclescope,image": str(image)}).load(elf)
    for name, what in (
        ("firmware.elf", "the firmware"),
        ("link", "the firmware"),
        ("changed.dts", "the board"),
        ("hard.json", "the board"),
        ("part.dtsi", "the board"),
        ("flash.bin", "the image of flash0"),
    ):
        with pytest.raises(OutputError, match=f"vcd would overwrite {what}: name another file"):
            loaded.run(vcd=tmp_path / name)
    run = ("run", elf, "--board", board, "--set", f"flash0.cyclescope,image={image}")
    for option, name, what in (
        ("--json", "link", "the firmware"),
        ("--vcd", "part.dtsi", "the board"),
    ):
        done = cyclescope(*run, option, name)
        assert done.status == Status.USAGE
        assert done.error == f"{name}: {option} would overwrite {what}: name another file"
    done = cyclescope(*run, "--json", "x", "--vcd", "./x")
    assert (done.status, done.error) == (Status.USAGE, "./x: --json and --vcd name the same file")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_no_image_is_the_firmware_or_the_board(
    program: Program, changed_board: Callable[..., Path], tmp_path: Path
) -> None:
    elf = Path(shutil.copy(program("exit_main"), tmp_path / "firmware.elf"))
    board = changed_board("")
    image = "flash0.cyclescope,image"
    with pytest.raises(UsageError, match="this file is the firmware: give flash0 another image"):
        Board(board, {image: str(elf)}).load(elf)
    with pytest.raises(UsageError, match="this file is the board: give flash0 another image"):
        Board(board, {image: str(board)})


def test_from_python_waveforms_are_checked_too(program: Program, tmp_path: Path) -> None:
    board = Board(BOARD).load(program("exit_main"))
    with pytest.raises(OutputError, match="its folder does not exist"):
        board.run(vcd=tmp_path / "none" / "x.vcd")
    with pytest.raises(OutputError, match="vcd would overwrite the firmware"):
        board.run(vcd=program("exit_main"))
    assert board.run(vcd=tmp_path / "x.vcd").failed_saves == ()


def test_on_a_full_disk_each_file_has_an_error_and_all_else_is_there(
    with_full_disk: Command, program: Program, tmp_path: Path
) -> None:
    (tmp_path / "wires.vcd").write_text("old")
    done = with_full_disk(
        "run",
        program("flash_readback"),
        "--board",
        BOARD,
        "--json",
        "result.json",
        "--vcd",
        "wires.vcd",
        "--set",
        "flash0.cyclescope,image=flash.bin",
    )
    # the firmware itself ends well
    assert done.status == Status.UNSAVED
    assert "flash read back: no error" in done.stdout
    assert "cycle stack of cpu0" in done.stdout
    image, *others = errors(done.stderr)
    assert image.startswith("flash0: flash.bin could not be written and is as before: File too l")
    names = ("wires.vcd", "result.json")
    assert others == [f"{name}: can't be written: File too large" for name in names]
    # nothing half-written, and nothing of the user's gone
    assert [path.name for path in tmp_path.iterdir()] == ["wires.vcd"]


def test_a_firmwares_own_status_is_more_than_that_of_a_lost_file(
    with_full_disk: Command, program: Program
) -> None:
    done = with_full_disk("run", program("exit_code"), "--board", BOARD, "--json", "result.json")
    assert done.status == 42
    assert errors(done.stderr) == ["result.json: can't be written: File too large"]


def test_results_of_a_run_name_files_that_could_not_be_saved(
    program: Program, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    board = Board(BOARD, {"flash0.cyclescope,image": str(folder / "flash.bin")})
    board.load(program("flash_readback"))
    # the folder goes while the firmware runs
    result = board.run(console=lambda text: shutil.rmtree(folder, ignore_errors=True))
    assert result.exit_code == 0
    (failure,) = result.failed_saves
    assert failure.startswith(f"flash0: {folder / 'flash.bin'} could not be written")
    assert result.to_dict()["failed_saves"] == [failure]


# ---- bench


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--json", "none/x"), "none/x: its folder does not exist: make it first"),
        (("--json", "folder"), "folder: this is a folder: name a file"),
        (("--out", "file"), "file: file is not a folder"),
        (("--out", "file/x"), "file/x: file is not a folder"),
        (("--out", "full"), "full/report.html: this is a folder: name a file"),
        (("--keep-disks", "file"), "file: file is not a folder"),
    ],
)
def test_a_bench_that_could_not_save_runs_nothing(
    cyclescope: Command, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "full" / "report.html").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    done = cyclescope("bench", NAME, *arguments)
    assert (done.status, done.stdout, done.error) == (Status.USAGE, "", said)
    assert done.stderr.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_benchs_json_may_be_the_one_that_it_writes_anyway(
    cyclescope: Command, tmp_path: Path
) -> None:
    done = cyclescope("bench", ONE_RUN, "--out", "out", "--json", "out/results.json")
    assert done.status == 0, done.stderr
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"results.json", "notes.json", "results.csv", "report.html", "profiles"}
    done = cyclescope("bench", ONE_RUN, "--out", "out", "--json", "out/results.csv")
    assert done.error == "out/results.csv: results.csv of --out and --json name the same file"


def test_of_several_files_those_that_can_be_written_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("old")
    lost, there = tmp_path / "file" / "a.json", tmp_path / "new" / "b.csv"
    assert not outputs.save_all({lost: "a", there: "b"})
    assert there.read_text() == "b"
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"cyclescope: error: {tmp_path / 'file'}")
    assert outputs.save_all({there: "c"})
    assert (there.read_text(), capsys.readouterr().err) == ("c", "")


def test_a_bench_on_a_full_disk_shows_its_tables_and_names_each_file(
    with_full_disk: Command, tmp_path: Path
) -> None:
    # no program can be built there
    for job in planning.plan(experiments.select([ONE_RUN]), []):
        firmware.build_app(job.run.app, job.run.board, job.run.settings)
    fewer = () if ALL else ("--no-profiles",)
    done = with_full_disk("bench", ONE_RUN, "--json", "rows.json", *fewer)
    assert done.status == Status.FAILED
    assert f" {ONE_RUN} " in done.stdout
    said = [
        f"{name}: can't be written: File too large"
        for name in (
            "results/results.json",
            "results/notes.json",
            "results/results.csv",
            "results/report.html",
            "rows.json",
        )
    ]
    assert errors(done.stderr) == said
    assert not list((tmp_path / "results").iterdir())


def test_runs_of_a_bench_start_from_copies_of_an_image(tmp_path: Path) -> None:
    image = tmp_path / "flash.bin"
    image.write_bytes(b"contents")
    changes = [
        (f"{NAME}.pages", "1"),
        (f"{NAME}.bytes", "256"),
        ("flash0.cyclescope,bulk-erase-typical-ms", "10"),
        ("flash0.cyclescope,image", str(image)),
    ]
    jobs = planning.plan(experiments.select([NAME]), changes)[:3]
    records = bench.run_jobs(jobs, threads=2)
    assert [record and record.error for record in records] == [None] * 3
    assert image.read_bytes() == b"contents"
    # none yet is an erased flash
    image.unlink()
    jobs = planning.plan(experiments.select([NAME]), changes)[:3]
    assert [record and record.error for record in bench.run_jobs(jobs, threads=2)] == [None] * 3
    assert not image.exists()


# ---- ipc


def test_an_ipc_that_could_not_save_measures_nothing(cyclescope: Command, tmp_path: Path) -> None:
    with Peer() as peer:
        done = cyclescope("ipc", "--port", peer.port, "--json", "none/x")
        assert (done.status, done.stdout) == (Status.USAGE, "")
        assert done.error == "none/x: its folder does not exist: make it first"
        assert peer.tests == []
    (tmp_path / "own.elf").touch()
    board = ("ipc", "--board", "stm32mp157c-dk2", "--firmware", "own.elf")
    done = cyclescope(*board, "--json", "./own.elf")
    assert done.status == Status.USAGE
    assert done.error == "./own.elf: --json would overwrite the firmware: name another file"


def test_an_ipc_on_a_full_disk_shows_what_it_measured(with_full_disk: Command) -> None:
    with Peer() as peer:
        arguments = ("--test", "512x1", "--json", "out.json")
        done = with_full_disk("ipc", "--port", peer.port, *arguments)
    assert done.status == Status.FAILED
    assert "512x1" in done.stdout
    assert errors(done.stderr) == ["out.json: can't be written: File too large"]
