"""Files for results: what is written, how, and what is refused; nothing of the user's is lost."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import NEEDS_NODES

from cyclescope.errors import OutputError
from cyclescope.host import outputs


def may_write_everything() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.touch(0o444)
        return os.access(path, os.W_OK)


NOT_FOR_ROOT = pytest.mark.skipif(may_write_everything(), reason="root may write everything")


@pytest.fixture(autouse=True)
def no_scratch_is_left(tmp_path: Path) -> Iterator[None]:
    yield
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".tmp")]


def refused(path: Path | str) -> str:
    with pytest.raises(OutputError) as raised:
        outputs.check(path)
    message = str(raised.value)
    assert str(path) in message
    return message


# ---- regular files


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        outputs.write_text(tmp_path / "new", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "old"
    path.write_text("a longer text")
    path.chmod(mode)
    outputs.write_text(path, "text")
    assert path.read_text() == "text"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@NEEDS_NODES
def test_a_replaced_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.touch()
    os.chown(path, 1234, 1235)
    outputs.write_text(path, "text")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1235)


def test_links_are_followed_and_stay(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    real = tmp_path / "folder" / "real"
    real.write_text("old")
    (tmp_path / "link").symlink_to("second")
    (tmp_path / "second").symlink_to("folder/real")
    outputs.check(tmp_path / "link")
    outputs.write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert real.read_text() == "new"
    # one that leads to nothing yet
    real.unlink()
    outputs.check(tmp_path / "link")
    outputs.write_text(tmp_path / "link", "newer")
    assert real.read_text() == "newer"


def test_a_check_makes_nothing_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_text("old")
    before = path.stat()
    outputs.check(path)
    outputs.check(tmp_path / "new")
    outputs.check_folder(tmp_path / "a" / "b")
    assert path.stat() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_in_the_middle_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_text("old")

    def write(error: BaseException) -> None:
        with outputs.opened(path, "wb") as file:
            file.write(b"new")
            raise error

    with pytest.raises(KeyboardInterrupt):
        write(KeyboardInterrupt())
    assert path.read_text() == "old"
    with pytest.raises(OutputError) as raised:
        write(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert str(raised.value) == f"{path}: can't be written: No space left on device"
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "old"


@pytest.mark.parametrize("error", [errno.EPERM, errno.EBUSY])
def test_a_file_that_nothing_can_be_renamed_to_is_written_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    # as in a folder with the sticky bit, or where the file is mounted alone
    path = tmp_path / "old"
    path.write_text("a longer text")
    inode = path.stat().st_ino

    def replace(scratch: Path, target: Path) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(Path, "replace", replace)
    outputs.write_text(path, "text")
    assert path.read_text() == "text"
    assert path.stat().st_ino == inode


@NOT_FOR_ROOT
def test_a_file_in_a_folder_without_permission_is_written_itself(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "old"
    path.parent.mkdir()
    path.write_text("a longer text")
    path.parent.chmod(0o555)
    try:
        outputs.check(path)
        outputs.write_text(path, "text")
        assert path.read_text() == "text"
        assert "Permission denied" in refused(path.parent / "new")
    finally:
        path.parent.chmod(0o755)


@NOT_FOR_ROOT
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.touch(0o444)
    assert refused(path).endswith("can't be written: Permission denied")


def test_an_impossible_place_for_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "circle").symlink_to("circle")
    assert refused(tmp_path).endswith("this is a folder: name a file")
    assert refused(tmp_path / "none" / "x").endswith("its folder does not exist: make it first")
    assert refused(tmp_path / "file" / "x").endswith("Not a directory")
    assert refused(f"{tmp_path}/new/").endswith("is not a valid file name")
    assert refused("").endswith("is not a valid file name")
    assert "levels of symbolic links" in refused(tmp_path / "circle")
    assert refused(tmp_path / ("n" * 300)).endswith("File name too long")
    # a name may be as long as the system lets it
    outputs.write_text(tmp_path / ("n" * 255), "text")


def test_a_folder_is_checked_with_those_that_it_is_to_be_in(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "nowhere").symlink_to("none")
    for name, said in (
        ("file", "is not a folder"),
        ("file/a", "file is not a folder"),
        ("nowhere", "is a broken link"),
    ):
        with pytest.raises(OutputError, match=said):
            outputs.check_folder(tmp_path / name)
    outputs.make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    with pytest.raises(OutputError):
        outputs.make_folder(tmp_path / "file")


# ---- what is no regular file


def test_a_fifo_is_written_through(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    outputs.check(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()), daemon=True)
    reader.start()
    outputs.write_text(path, "text")
    reader.join(10)
    assert read == ["text"]
    assert path.is_fifo()


@NEEDS_NODES
def test_a_device_is_written_through_and_stays(tmp_path: Path) -> None:
    # a node as /dev/null; the real one is not for tests
    path = tmp_path / "null"
    os.mknod(path, stat.S_IFCHR | 0o622, os.makedev(1, 3))
    before = path.stat()
    outputs.check(path)
    outputs.write_text(path, "text")
    assert path.is_char_device()
    assert (path.stat().st_ino, path.stat().st_mode) == (before.st_ino, before.st_mode)
    # it takes any number of outputs
    outputs.check_outputs({"--json": path, "--vcd": path}, {})


@NEEDS_NODES
def test_a_full_device_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "full"
    os.mknod(path, stat.S_IFCHR | 0o622, os.makedev(1, 7))
    outputs.check(path)
    with pytest.raises(OutputError) as raised:
        outputs.write_text(path, "text")
    assert str(raised.value) == f"{path}: can't be written: No space left on device"


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert refused("socket").endswith("this is a socket: name a file")


@pytest.mark.parametrize("form", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_a_descriptor_is_written_through_whatever_it_leads_to(tmp_path: Path, form: str) -> None:
    read, write = os.pipe()
    if form == "link":
        (tmp_path / "link").symlink_to(f"/dev/fd/{write}")
        path = str(tmp_path / "link")
    else:
        path = form.format(write)
    outputs.check(path)
    outputs.write_text(path, "text")
    os.close(write)
    assert os.read(read, 100) == b"text"
    os.close(read)


def test_a_descriptor_writes_at_the_files_position(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("w") as log:
        log.write("before\n")
        log.flush()
        outputs.check(f"/dev/fd/{log.fileno()}")
        outputs.write_text(f"/dev/fd/{log.fileno()}", "text\n")
        log.write("after\n")
    assert path.read_text() == "before\ntext\nafter\n"


def test_a_descriptor_that_can_not_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (tmp_path / "file").open() as file:
        assert "not open for writing" in refused(f"/dev/fd/{file.fileno()}")
    assert "not open for writing" in refused("/dev/fd/987")


def test_standard_output_is_a_descriptor(tmp_path: Path) -> None:
    script = "import sys; from cyclescope.host import outputs; print('before');"
    script += "outputs.write_text('/dev/stdout', 'text\\n'); print('after')"
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "before\ntext\nafter\n"


# ---- files that are one


def test_two_outputs_must_not_be_one_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("new")
    (tmp_path / "old").touch()
    os.link(tmp_path / "old", tmp_path / "hard")
    os.mkfifo(tmp_path / "fifo")
    for one, other in (
        ("new", "new"),
        ("new", "link"),
        ("old", "hard"),
        ("old", f"../{tmp_path.name}/old"),
        ("fifo", "fifo"),
    ):
        both = {"--json": tmp_path / one, "--vcd": tmp_path / other}
        with pytest.raises(OutputError) as raised:
            outputs.check_outputs(both, {})
        said = f"{tmp_path / other}: --json and --vcd name the same file"
        assert str(raised.value) == said
    outputs.check_outputs({"--json": tmp_path / "new", "--vcd": tmp_path / "old"}, {})


def test_an_output_must_not_be_an_input(tmp_path: Path) -> None:
    path = tmp_path / "firmware.elf"
    path.write_text("elf")
    (tmp_path / "soft").symlink_to(path)
    os.link(path, tmp_path / "hard")
    for name in ("firmware.elf", "soft", "hard"):
        with pytest.raises(OutputError) as raised:
            outputs.check_outputs({"--json": tmp_path / name}, {str(path): "the firmware"})
        said = f"{tmp_path / name}: --json would overwrite the firmware: name another file"
        assert str(raised.value) == said
    outputs.check_outputs({"--json": tmp_path / "x", "--vcd": None}, {"none": "the firmware"})
