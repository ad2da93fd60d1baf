"""`cyclescope doctor` and `cyclescope devices`: what there is, as tables and as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from conftest import ROOT, Command
from warm_start import WarmStart

from cyclescope.board.description.devicetree_bindings import bindings
from cyclescope.host import programs
from cyclescope.host.programs import Program
from cyclescope.statuses import Status

Doctor = Callable[..., tuple[int, str, str]]


@pytest.fixture
def doctor(command_line: WarmStart, tmp_path: Path) -> Doctor:
    """Calls it with a PATH that has nothing but the test's folder, and other variables."""

    def call(*arguments: str, **variables: str) -> tuple[int, str, str]:
        environment = os.environ | {"PATH": str(tmp_path)} | variables
        status, *streams = command_line.call(["doctor", *arguments], tmp_path, environment, 120)
        out, error = (stream.decode() for stream in streams)
        return status, out, error

    return call


def test_doctor_finds_what_is_required(cyclescope: Command) -> None:
    done = cyclescope("doctor", "--json", "-")
    assert (done.status, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["ok"] is True
    required = {one["name"]: one for one in found["findings"] if one["required"]}
    assert {"Python", "engine", "boards", "cache", "ziglang"} <= required.keys()
    assert all(one["present"] for one in required.values())
    assert required["ziglang"]["version"] == metadata.version("ziglang")
    assert f"{len(bindings())} models" in required["engine"]["version"]
    # and it looks for each module that the package needs
    names = {one["name"].lower() for one in found["findings"]}
    for requirement in metadata.requires("cyclescope") or []:
        name = requirement.split(">")[0].split("=")[0].split(";")[0].strip()
        assert name.lower() in names, requirement


def test_a_missing_tool_is_reported_with_its_use_and_remedy(doctor: Doctor, tmp_path: Path) -> None:
    # a PATH with one program, which says its version
    tool = tmp_path / "sigrok-cli"
    tool.write_text("#!/bin/sh\necho sigrok-cli 9.8.7\n")
    tool.chmod(0o755)
    status, stdout, stderr = doctor()
    assert (status, stderr) == (0, "")
    present, _, missing = stdout.partition("optional, not installed")
    assert "9.8.7" in present
    assert "apt install gcc-arm-none-eabi" in missing
    assert "https://rustup.rs" in missing
    assert "sigrok-cli" not in missing


def test_a_missing_requirement_gives_a_failing_status(doctor: Doctor, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status, stdout, stderr = doctor(CYCLESCOPE_CACHE=str(tmp_path / "file" / "cache"))
    assert status == Status.FAILED
    assert "missing" in stdout
    assert stderr.startswith("cyclescope: error: cache is required: set CYCLESCOPE_CACHE")
    status, stdout, _ = doctor("--json", "-", CYCLESCOPE_CACHE=str(tmp_path / "file" / "cache"))
    assert status == Status.FAILED
    found = json.loads(stdout)
    assert found["ok"] is False
    assert [one["present"] for one in found["findings"] if one["name"] == "cache"] == [False]


def test_doctor_names_what_the_install_script_installs() -> None:
    script = (ROOT / "scripts" / "install-debian-packages").read_text(encoding="utf-8")
    wanted = {program.package for program in programs.OPTIONAL if program.package}
    assert {name for name in wanted - {"git", "make"} if name not in script} == set()


@pytest.mark.parametrize("body", ["exit 3", "sleep 0", "printf '\\377\\376'", "kill -9 $$"])
def test_a_program_without_a_version_has_an_empty_one(tmp_path: Path, body: str) -> None:
    tool = tmp_path / "odd"
    tool.write_text(f"#!/bin/sh\n{body}\n")
    tool.chmod(0o755)
    assert programs.version(Program("odd", "nothing"), str(tool)) == ""
    tool.chmod(0o644)
    assert programs.version(Program("odd", "nothing"), str(tool)) == ""


# ---- devices


def test_devices_as_json_have_all_that_the_models_say(cyclescope: Command) -> None:
    found = json.loads(cyclescope("devices", "--json", "-").stdout)
    assert [one["compatible"] for one in found["devices"]] == [one.compatible for one in bindings()]
    assert "cyclescope,cacheable" in found["common_properties"]


def test_a_device_as_json_has_its_properties(cyclescope: Command, tmp_path: Path) -> None:
    done = cyclescope("devices", "xlnx,xps-uartlite-1.00.a", "--json", "uart.json")
    assert (done.status, done.stdout) == (0, "")
    (uart,) = json.loads((tmp_path / "uart.json").read_text())["devices"]
    assert uart["group"] == "Serial ports"
    properties = {one["name"]: one for one in uart["properties"]}
    assert properties["cyclescope,read-cycles"]["timing"] is True
    assert properties["cyclescope,read-cycles"]["unit"] == "cycles"
    assert properties["xlnx,odd-parity"]["default"] == "0"
    assert properties["current-speed"]["required"] is True


def test_a_file_that_can_not_be_written_is_reported(
    cyclescope: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for command in ("devices", "doctor"):
        done = cyclescope(command, "--json", "none/x.json")
        assert done.status == Status.USAGE
        assert "its folder does not exist" in done.error
