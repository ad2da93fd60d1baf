"""C sources from crates: their folders in cargo's own cache.

`firmware/crates/` holds a manifest that pins each crate, and its lock file with the checksums.
Nothing is compiled as Rust: cargo only fetches the crates, once, and returns their folders.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from cyclescope import resources
from cyclescope.errors import FirmwareError
from cyclescope.host import leftovers

# The target of the fetched dependencies: one without an operating system has the fewest.
_PLATFORM = "riscv32imc-unknown-none-elf"


def folder(name: str) -> Path:
    """The folder of a crate that `firmware/crates/Cargo.toml` names.

    Raises `FirmwareError` if it names no such crate, or if cargo is missing or can't fetch it.
    """
    return _package(name)[1]


def versioned_name(name: str) -> str:
    """A crate's name with its version, "fatfs-embedded-0.1.0": the same on every machine.

    Raises `FirmwareError` as `folder` does.
    """
    return _package(name)[0]


def _package(name: str) -> tuple[str, Path]:
    manifest = resources.firmware().resolve() / "crates" / "Cargo.toml"
    packages = _packages(manifest)
    if name not in packages:
        known = ", ".join(packages) or "none"
        raise FirmwareError(f"crate {name} is not in {manifest}, which has {known}")
    return packages[name]


@cache
def _packages(manifest: Path) -> dict[str, tuple[str, Path]]:
    """The crates that a manifest depends on: versioned name and folder, by name."""
    found = _metadata(manifest)
    named = {
        dependency["name"]
        for package in found["packages"]
        if package["id"] in found["workspace_members"]
        for dependency in package["dependencies"]
    }
    return {
        package["name"]: (
            f"{package['name']}-{package['version']}",
            Path(package["manifest_path"]).resolve().parent,
        )
        for package in found["packages"]
        if package["name"] in named
    }


def _metadata(manifest: Path) -> dict[str, Any]:
    command = [
        "cargo",
        "metadata",
        "--locked",
        "--format-version=1",
        f"--filter-platform={_PLATFORM}",
        f"--manifest-path={manifest}",
        "--color=never",
    ]
    try:
        done = leftovers.call(command)
    except OSError as error:
        raise FirmwareError(
            f"{manifest}: can't run cargo, which fetches these crates: {error.strerror}; "
            "install Rust from https://rustup.rs"
        ) from error
    if done.returncode != 0:
        raise FirmwareError(
            f"{manifest}: cargo can't fetch the crates: {_reason(done.stderr)}; run once, "
            f"with a network: cargo fetch --locked --manifest-path {manifest}"
        )
    metadata: dict[str, Any] = json.loads(done.stdout)
    return metadata


def _reason(stderr: bytes) -> str:
    """Cargo's error and its causes on one line, without progress before it and advice after it."""
    text = stderr.decode(errors="replace").strip()
    error = text[text.find("error:") :].removeprefix("error:") if "error:" in text else text
    error = re.split(r"^As a reminder|^hint:", error, flags=re.MULTILINE)[0]
    return re.sub(r"\s+", " ", error).strip() or "no message"
