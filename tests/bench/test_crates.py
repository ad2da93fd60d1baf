"""Crates that carry C sources: where cargo has them, what is said without them, builds."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import BOARD

from cyclescope import firmware, resources
from cyclescope.errors import FirmwareError
from cyclescope.firmware import crates

CRATE = "fatfs-embedded"
# Only what our options leave of FatFs compiles; the crate's own ffconf.h has other ones.
PROGRAM = """
#include "fatfs.h"
_Static_assert(FF_VOLUMES == 2 && FF_USE_LFN == 0 && FF_CODE_PAGE == 437 && !FF_USE_MKFS, "ours");
_Static_assert(FF_MIN_SS == 512 && FF_MAX_SS == 512 && !FF_FS_TINY && FF_FS_NORTC == 1, "ours");
int main(void) { return FF_DEFINED != 80286; }
"""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    crates._packages.cache_clear()
    yield
    crates._packages.cache_clear()


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the manifest to change, in use."""
    shutil.copytree(resources.firmware() / "crates", tmp_path / "crates")
    monkeypatch.setattr(resources, "firmware", lambda: tmp_path)
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    return tmp_path / "crates" / "Cargo.toml"


def program(tmp_path: Path) -> firmware.App:
    source = tmp_path / "main.c"
    source.write_text(PROGRAM)
    return firmware.App(
        name="from_a_crate",
        include=("drivers/fatfs", "{fatfs-embedded}/fatfs/source"),
        sources=(str(source),),
        settings={},
        crates=(CRATE,),
    )


def test_a_crates_folder_has_its_sources_and_their_licence() -> None:
    folder = crates.folder(CRATE)
    assert "R0.15" in (folder / "fatfs" / "source" / "ff.c").read_text()
    assert "FatFs License" in (folder / "fatfs" / "LICENSE.txt").read_text()
    assert crates.versioned_name(CRATE) == "fatfs-embedded-0.1.0"


def test_a_crate_that_the_manifest_does_not_name_is_refused() -> None:
    # in the lock file, but only because another crate depends on it
    with pytest.raises(
        FirmwareError, match=r"crate bitflags is not in .*Cargo\.toml, which has fatfs-embedded"
    ):
        crates.folder("bitflags")


def test_without_cargo_the_message_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FirmwareError, match=r"Cargo\.toml: can't run cargo, .*: No such file"):
        crates.folder(CRATE)


def test_a_version_that_is_not_locked_is_cargos_error(manifest: Path) -> None:
    manifest.write_text(manifest.read_text().replace("=0.1.0", "=0.0.7"))
    with pytest.raises(
        FirmwareError, match=r"can't fetch the crates: .*fatfs-embedded = \"=0\.0\.7\""
    ) as raised:
        crates.folder(CRATE)
    assert "\n" not in str(raised.value)


def test_without_a_network_the_message_names_the_crate(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "empty"))
    with pytest.raises(
        FirmwareError,
        match=r"can't fetch the crates: .*`(fatfs-embedded|freertos-next)`.*: cargo fetch --locked",
    ):
        crates.folder(CRATE)


def test_a_build_does_not_depend_on_where_cargo_keeps_its_crates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = program(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(crates.folder(CRATE), elsewhere)
    elf = firmware.build(firmware.app_recipe(app, BOARD, {}))
    assert str(crates.folder(CRATE)).encode() not in elf.read_bytes()
    monkeypatch.setattr(crates, "folder", lambda name: elsewhere)
    assert firmware.build(firmware.app_recipe(app, BOARD, {})) == elf
    header = elsewhere / "fatfs" / "source" / "ff.h"
    header.write_text(header.read_text() + "\n")
    assert firmware.build(firmware.app_recipe(app, BOARD, {})) != elf


def test_an_app_must_name_the_crates_that_it_uses(tmp_path: Path) -> None:
    app = replace(program(tmp_path), crates=())
    with pytest.raises(FirmwareError, match="lists no crate 'fatfs-embedded'"):
        firmware.app_recipe(app, BOARD, {})
