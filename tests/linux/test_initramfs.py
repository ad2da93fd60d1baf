"""Archives for Linux: the same bytes each time, with what an archive has to have."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from cyclescope.errors import UsageError
from cyclescope.linux import initramfs


def records(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Mode and contents of each entry, by its name, read as the format says."""
    found, at = {}, 0
    while True:
        assert data[at : at + 6] == b"070701"
        words = [int(data[at + 6 + 8 * number :][:8], 16) for number in range(13)]
        mode, size, name_size = words[1], words[6], words[11]
        name = data[at + 110 :][: name_size - 1].decode()
        at += 110 + name_size + -(110 + name_size) % 4
        if name == "TRAILER!!!":
            return found
        found[name] = (mode, data[at : at + size])
        at += size + -size % 4


def test_an_archive_has_its_files_and_their_folders_first() -> None:
    entries = {"usr/bin/tool": initramfs.file(b"text\n"), "init": initramfs.file(b"x", 0o700)}
    data = initramfs.archive(entries)
    assert len(data) % 512 == 0
    assert list(records(data)) == ["usr", "usr/bin", "usr/bin/tool", "init"]
    assert records(data)["usr/bin/tool"] == (stat.S_IFREG | 0o755, b"text\n")
    assert records(data)["init"] == (stat.S_IFREG | 0o700, b"x")


def test_busybox_is_a_whole_system_with_programs() -> None:
    found = records(initramfs.of_busybox(b"\x7fELF", {"bin/measure": b"code"}))
    assert found["bin/busybox"][1] == b"\x7fELF"
    assert found["bin/measure"] == (stat.S_IFREG | 0o755, b"code")
    assert stat.S_ISCHR(found["dev/console"][0])
    assert found["init"][1].startswith(b"#!/bin/busybox sh\n")


def test_a_folder_gives_the_same_bytes_at_any_time(tmp_path: Path) -> None:
    archives = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        (folder / "bin").mkdir(parents=True)
        names = ["bin/b", "bin/a", "init"]
        for name in names if number == 1 else names[::-1]:
            (folder / name).write_text(name)
            (folder / name).chmod(0o755)
            os.utime(folder / name, (number, number))
        (folder / "link").symlink_to("bin/a")
        archives.append(initramfs.of_folder(folder))
    assert archives[0] == archives[1]
    found = records(archives[0])
    assert list(found) == ["bin", "bin/a", "bin/b", "init", "link", "dev", "dev/console"]
    assert found["link"] == (stat.S_IFLNK | 0o777, b"bin/a")


@pytest.mark.skipif(shutil.which("cpio") is None, reason="needs cpio")
def test_cpio_reads_an_archive(tmp_path: Path) -> None:
    (tmp_path / "init").write_text("text")
    data = initramfs.of_folder(tmp_path)
    done = subprocess.run(["cpio", "-t", "--quiet"], input=data, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["init", "dev", "dev/console"]


def test_a_folder_without_init_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it has no file init"):
        initramfs.of_folder(tmp_path)


def test_a_pipe_in_a_folder_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "init")
    with pytest.raises(UsageError, match="no file, folder, link or device"):
        initramfs.of_folder(tmp_path)


def test_files_are_found_in_archives_one_after_the_other() -> None:
    one = initramfs.of_files({"init": b"first", "lib/firmware/m4.elf": b"\x7fELF code"})
    two = initramfs.of_files({"bin/tool": b"other"})
    found = {path: (one + two)[at : at + size] for path, at, size in initramfs.files_in(one + two)}
    assert found == {
        "init": b"first",
        "lib/firmware/m4.elf": b"\x7fELF code",
        "bin/tool": b"other",
    }
    # compressed, or cut off
    assert list(initramfs.files_in(b"\xfd7zXZ\0")) == []
    assert list(initramfs.files_in(one[:118])) == []
