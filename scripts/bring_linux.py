#!/usr/bin/env python3
"""Bring Debian's kernel for 32-bit Arm and a static busybox into the cache, without root.

    scripts/install-debian-packages linux [RELEASE]

APT checks the packages' signatures; it uses lists and folders of its own, and the system stays as
it is. `packages.json` in the folder has what was brought, with versions and SHA-256 sums.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIRROR = "http://deb.debian.org/debian"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
ARCHITECTURE = "armhf"
# depends on the kernel itself, whose name has its version
KERNEL, BUSYBOX = "linux-image-armmp", "busybox-static"
TOOLS = ("apt-get", "apt-cache", "dpkg-deb")


class MissingError(Exception):
    """Something that this needs is not here; the text says what to do."""


def main(arguments: list[str]) -> int:
    """Bring the packages; gives the exit status."""
    try:
        release = arguments[0] if arguments else host_release()
        bring(release, cache() / "linux")
    except MissingError as missing:
        print(f"install-debian-packages: {missing}", file=sys.stderr)
        return 1
    return 0


def cache() -> Path:
    """The cache of `cyclescope`."""
    if chosen := os.environ.get("CYCLESCOPE_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cyclescope"


def host_release() -> str:
    """The release of Debian on this machine; "stable" on any other system."""
    try:
        lines = Path("/etc/os-release").read_text("utf-8").splitlines()
    except OSError:
        return "stable"
    facts = dict(line.split("=", 1) for line in lines if "=" in line)
    is_debian = facts.get("ID", "").strip('"') == "debian"
    return facts.get("VERSION_CODENAME", "stable").strip('"') if is_debian else "stable"


def bring(release: str, folder: Path) -> None:
    """Download the packages of a release, and put their files into a folder."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing or not KEYRING.is_file():
        lacks = ", ".join(missing) or str(KEYRING)
        raise MissingError(
            f"no {lacks} here: from https://packages.debian.org download {KERNEL}'s kernel package "
            f"and {BUSYBOX} for {ARCHITECTURE}; unpack them, and give their files by path: "
            "cyclescope boot --kernel boot/vmlinuz-... --initrd FOLDER with bin/busybox and init"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        apt = Apt(Path(scratch), release)
        names = (apt.kernel(), BUSYBOX)
        packages = [apt.download(name) for name in names]
        root = Path(scratch) / "root"
        for package in packages:
            run(["dpkg-deb", "--extract", str(package), str(root)])
        put(root, folder)
        text = json.dumps({"release": release, "packages": list(map(facts, packages))}, indent=2)
        (folder / "packages.json").write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"in {folder}: cyclescope boot --kernel debian --initrd busybox")


class Apt:
    """APT with folders of its own."""

    def __init__(self, scratch: Path, release: str) -> None:
        self._folder = scratch / "debs"
        for name in ("lists/partial", "archives/partial", "debs"):
            (scratch / name).mkdir(parents=True)
        (scratch / "status").touch()
        source = f"deb [arch={ARCHITECTURE} signed-by={KEYRING}] {MIRROR} {release} main\n"
        (scratch / "sources.list").write_text(source, encoding="utf-8")
        settings = {
            "APT::Architecture": ARCHITECTURE,
            "APT::Architectures": ARCHITECTURE,
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
            "Dir::State": scratch,
            "Dir::State::status": scratch / "status",
            "Dir::Cache": scratch,
            "Dir::Etc::sourcelist": scratch / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
        }
        given = (("-o", f"{name}={value}") for name, value in settings.items())
        self._options = [part for parts in given for part in parts]
        try:
            run(["apt-get", *self._options, "--quiet", "update"])
        except MissingError as error:
            raise MissingError(f"{error}; is {release!r} a release at {MIRROR}?") from None

    def kernel(self) -> str:
        """The name of the newest kernel's package."""
        lines = run(["apt-cache", *self._options, "depends", KERNEL]).splitlines()
        for line in lines:
            what, _, name = line.strip().partition(": ")
            if what == "Depends" and name.startswith("linux-image-"):
                return name
        raise MissingError(f"{KERNEL} of this release depends on no kernel")

    def download(self, name: str) -> Path:
        """The file of a package."""
        before = set(self._folder.iterdir())
        run(["apt-get", *self._options, "--quiet", "download", name], self._folder)
        (package,) = set(self._folder.iterdir()) - before
        return package


def run(command: list[str], folder: Path | None = None) -> str:
    """The output of a command. Raises `MissingError` with its last line if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise MissingError(f"{command[0]} failed: {why}")
    return done.stdout


def put(root: Path, folder: Path) -> None:
    """Put the files that a boot needs into the folder, and the modules of the kernel."""
    (kernel,) = root.glob("boot/vmlinuz-*")
    places = (root / "bin/busybox", root / "usr/bin/busybox")
    (busybox,) = (path for path in places if path.is_file())
    shutil.copy(kernel, folder / "vmlinuz")
    shutil.copy(busybox, folder / "busybox")
    boards = {path.stem for path in (ROOT / "boards").glob("*.dts")}
    (folder / "dtbs").mkdir(exist_ok=True)
    for path in root.glob("usr/lib/linux-image-*/**/*.dtb"):
        if path.stem in boards:
            shutil.copy(path, folder / "dtbs" / path.name)
    modules = folder / "modules"
    shutil.rmtree(modules, ignore_errors=True)
    (found,) = (path for path in (root / "lib/modules", root / "usr/lib/modules") if path.is_dir())
    shutil.move(found, modules)


def facts(package: Path) -> dict[str, str]:
    """A package's name, version and SHA-256 sum."""
    names = ("Package", "Version", "Architecture")
    lines = run(["dpkg-deb", "--field", str(package), *names]).splitlines()
    found = dict(line.split(": ", 1) for line in lines)
    with package.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {name.lower(): found[name] for name in names} | {"sha256": digest}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
