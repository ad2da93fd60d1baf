"""Files of the cache are whole, or made again: after a power loss or a killed build."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, ROOT

from cyclescope import disks, firmware
from cyclescope.disks import Disk
from cyclescope.errors import FirmwareError
from cyclescope.firmware import compiler_cache
from cyclescope.firmware.recipe import Recipe
from cyclescope.host import kept

SOURCE = ROOT / "tests" / "firmware" / "exit_code.c"

Damage = Callable[[Path], object]
DAMAGES: dict[str, Damage] = {
    "cut": lambda path: os.truncate(path, 1000),
    "empty": lambda path: os.truncate(path, 0),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "a bit": lambda path: path.write_bytes(_flipped(path.read_bytes())),
    "no digest": lambda path: path.with_name(f"{path.name}.digest").unlink(),
    "a cut digest": lambda path: os.truncate(path.with_name(f"{path.name}.digest"), 9),
}


def _flipped(data: bytes) -> bytes:
    return data[:5000] + bytes([data[5000] ^ 1]) + data[5001:]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def recipe() -> Recipe:
    return firmware.board_recipe("exit_code", BOARD, [SOURCE])


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which a program was built from nothing, without a folder of the user's."""
    cache = tmp_path_factory.mktemp("first") / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CYCLESCOPE_CACHE", str(cache))
        patch.setenv("TMPDIR", "/nowhere")
        patch.delenv("HOME", raising=False)
        assert firmware.build(recipe()).stat().st_size > 1000
    return cache


@pytest.fixture
def built(first: Path, cache: Path) -> Path:
    """The test's own copy of it."""
    shutil.copytree(first, cache, symlinks=True)
    return cache


def test_a_damaged_elf_is_built_again(built: Path) -> None:
    elf = firmware.build(recipe())
    good = elf.read_bytes()
    for name, damage in DAMAGES.items():
        damage(elf)
        assert firmware.build(recipe()) == elf
        assert elf.read_bytes() == good, name
    # and one that is whole is not built again
    before = elf.stat().st_mtime_ns
    firmware.build(recipe())
    assert elf.stat().st_mtime_ns == before


def test_the_compilers_cache_is_not_trusted_after_damage(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler_cache.distrust.cache_clear()
    elf = firmware.build(recipe())
    good = elf.read_bytes()
    # with an empty object the linker makes a program without it, and without a message
    objects = list((built / "zig").glob("*/o/*/*.o"))
    assert objects
    for path in (elf, *objects):
        os.truncate(path, 0)
    assert firmware.build(recipe()).read_bytes() == good


def test_the_compilers_cache_is_of_this_boot_alone(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    boot = tmp_path / "boot_id"
    monkeypatch.setattr(compiler_cache, "_BOOT", boot)
    folders = []
    for name in ("first", "second"):
        boot.write_text(f"{name}\n")
        compiler_cache._boot.cache_clear()
        folders.append(compiler_cache.folder())
        assert compiler_cache.folder() == folders[-1]
    assert [folder.exists() for folder in folders] == [False, True]
    boot.unlink()
    compiler_cache._boot.cache_clear()
    assert compiler_cache.folder().is_dir()
    monkeypatch.undo()
    compiler_cache._boot.cache_clear()


BUILD = f"""
import pathlib
from cyclescope import firmware
recipe = firmware.board_recipe("exit_code", {BOARD!r}, [pathlib.Path({str(SOURCE)!r})])
print(firmware.build(recipe).stat().st_size)
"""


def building(cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BUILD],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"CYCLESCOPE_CACHE": str(cache)},
    )


def test_a_build_that_was_killed_and_two_at_once(cache: Path) -> None:
    killed = building(cache)
    until = time.monotonic() + 60
    while not list(cache.glob("firmware/*/")) and time.monotonic() < until:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    both = [building(cache) for _ in range(2)]
    sizes = [build.communicate(timeout=120)[0] for build in both]
    elf = firmware.build(recipe())
    assert sizes == [f"{elf.stat().st_size}\n"] * 2
    assert kept.is_whole(elf)


def test_an_unusable_cache_folder_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken = tmp_path / "file"
    taken.write_text("mine")
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(taken))
    with pytest.raises(FirmwareError, match=r"can't build firmware there: .*CYCLESCOPE_CACHE"):
        firmware.build(recipe())


def test_the_compiler_needs_no_folder_of_the_users(first: Path) -> None:
    # the fixture's environment has none
    (elf,) = first.glob("firmware/exit_code-*.elf")
    assert kept.is_whole(elf)


def test_a_damaged_image_is_made_again(cache: Path) -> None:
    disk = Disk(16 * 2**20, fat_bits=12, sectors_per_cluster=16)
    image = disks.image(disk)
    good = image.read_bytes()
    for damage in ("cut", "empty", "a bit", "no digest"):
        DAMAGES[damage](image)
        assert disks.image(disk) == image
        assert image.read_bytes() == good, damage


def test_a_digest_does_not_depend_on_holes(tmp_path: Path) -> None:
    with_holes, without = tmp_path / "a", tmp_path / "b"
    data = bytes(100_000) + b"x" + bytes(300_000) + b"y" + bytes(70_000)
    without.write_bytes(data)
    with with_holes.open("wb") as file:
        file.truncate(len(data))
        for place in (100_000, 400_001):
            file.seek(place)
            file.write(data[place : place + 1])
    assert with_holes.read_bytes() == data
    kept_at = tmp_path / "kept"
    kept.keep(with_holes, kept_at)
    without.replace(kept_at)
    assert kept.is_whole(kept_at)
