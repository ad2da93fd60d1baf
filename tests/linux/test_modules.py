"""Modules for an initramfs: with all that they need, and in the order in which modprobe loads."""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from pathlib import Path

import pytest

from cyclescope.errors import UsageError
from cyclescope.firmware import objects
from cyclescope.linux.modules import Modules

RELEASE = "6.1.0-test"
NEEDS = {
    "stm32-ipcc": "",
    "rpmsg_core": "",
    "rpmsg_ns": "rpmsg_core",
    "virtio-rpmsg": "rpmsg_core,rpmsg_ns",
}


def module(name: str, depends: str, folder: Path) -> bytes:
    """An object with the information that a module has."""
    source, made = folder / f"{name}.c", folder / f"{name}.o"
    text = f"name={name}\\0depends={depends}\\0alias=of:N*T*Cvendor,{name}\\0"
    source.write_text(f'__attribute__((section(".modinfo"), used)) char const m[] = "{text}";\n')
    objects.run_compiler(["-target", "arm-freestanding-eabi", "-c", str(source)], made)
    return made.read_bytes()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    folder = tmp_path_factory.mktemp("built")
    return {name: module(name, depends, folder) for name, depends in NEEDS.items()}


@pytest.fixture
def release(built: Mapping[str, bytes], tmp_path: Path) -> Path:
    """The folder of a kernel's modules, one of them compressed."""
    drivers = tmp_path / RELEASE / "kernel" / "drivers"
    drivers.mkdir(parents=True)
    for name, data in built.items():
        if name == "rpmsg_ns":
            (drivers / f"{name}.ko.xz").write_bytes(lzma.compress(data))
        else:
            (drivers / f"{name}.ko").write_bytes(data)
    return tmp_path / RELEASE


def test_a_module_comes_with_those_it_needs(release: Path, built: Mapping[str, bytes]) -> None:
    # the folder above serves as well, and names are those of lsmod
    for folder in (release, release.parent):
        files = Modules.of(folder).files_of(["virtio_rpmsg"])
        base = f"lib/modules/{RELEASE}"
        drivers = f"{base}/kernel/drivers"
        assert files[f"{drivers}/rpmsg_ns.ko"] == built["rpmsg_ns"]
        assert f"{drivers}/stm32-ipcc.ko" not in files
        lines = files[f"{base}/modules.dep"].decode().splitlines()
        # the last is loaded first
        assert lines[0] == (
            "kernel/drivers/virtio-rpmsg.ko: "
            "kernel/drivers/rpmsg_ns.ko kernel/drivers/rpmsg_core.ko"
        )
        assert "kernel/drivers/rpmsg_core.ko:" in lines
        aliases = files[f"{base}/modules.alias"].decode().splitlines()
        assert aliases[0] == "alias of:N*T*Cvendor,virtio-rpmsg virtio_rpmsg"


def test_modules_that_need_each_other_come_once(release: Path) -> None:
    drivers = release / "kernel" / "drivers"
    for name, other in (("one", "two"), ("two", "one")):
        (drivers / f"{name}.ko").write_bytes(module(name, other, release))
    lines = Modules.of(release).files_of(["one"])[f"lib/modules/{RELEASE}/modules.dep"]
    assert lines.decode().splitlines()[0] == "kernel/drivers/one.ko: kernel/drivers/two.ko"


def test_wrong_names_and_folders_are_one_line(release: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no module rpmsg_cor.*did you mean 'rpmsg_core'"):
        Modules.of(release).files_of(["rpmsg_cor"])
    with pytest.raises(UsageError, match="no modules"):
        Modules.of(tmp_path / "none")
    (release / "kernel" / "bad.ko").write_bytes(b"no ELF")
    with pytest.raises(UsageError, match=r"bad\.ko: not a module"):
        Modules.of(release).files_of(["bad"])
    (release / "kernel" / "worse.ko.xz").write_bytes(b"no stream")
    with pytest.raises(UsageError, match=r"worse\.ko\.xz: it can't be decompressed"):
        Modules.of(release).files_of(["worse"])
