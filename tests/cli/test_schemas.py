"""JSON output of commands matches the schemas, without other keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from conftest import BOARD, Command
from few_runs import FEW
from jsonschema import Draft202012Validator

from cyclescope import firmware
from cyclescope.board import Board

Program = Callable[[str], Path]

FOLDER = resources.files("cyclescope") / "schemas"
NAMES = ("bench", "run", "ipc", "profile", "compare", "sweep", "uncertainty", "fit", "advise")
IPC_BOARD = "stm32mp157c-dk2"


def schema(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.schema.json").read_text())


def faults(name: str, data: Any) -> list[str]:
    return [error.message for error in Draft202012Validator(schema(name)).iter_errors(data)]


def objects(part: Any) -> list[dict[str, Any]]:
    """All schemas of objects with named keys within a schema."""
    found = []
    if isinstance(part, dict):
        found = [part] if "properties" in part and part.get("type") == "object" else []
        found += [entry for value in part.values() for entry in objects(value)]
    if isinstance(part, list):
        found += [entry for value in part for entry in objects(value)]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_sound_and_name_all_keys(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    entries = objects(schema(name))
    assert entries
    for entry in entries:
        assert entry["additionalProperties"] is False
        assert all("description" in prop or "$ref" in prop for prop in entry["properties"].values())


def test_bench_gives_what_its_schema_says(cyclescope: Command) -> None:
    experiment = "quad-spi-throughput"
    short = (
        "--set",
        f"{experiment}.pages=4",
        "--set",
        f"{experiment}.bytes=1024",
        "--set",
        "flash0.cyclescope,bulk-erase-typical-ms=10",
    )
    call = ("bench", experiment, *short, *FEW, "--json", "-")
    rows = json.loads(cyclescope(*call).stdout)
    assert rows
    assert faults("bench", rows) == []
    odd = [{**rows[0], "colour": "blue"}]
    assert any("colour" in fault for fault in faults("bench", odd))


def test_run_gives_what_its_schema_says(cyclescope: Command, program: Program) -> None:
    arguments = ("--board", BOARD, "--section", "main", "--json", "-")
    result = json.loads(cyclescope("run", program("exit_main"), *arguments).stdout)
    assert result["cores"][0]["sections"]
    assert faults("run", result) == []
    limited = cyclescope("run", program("exit_main"), *arguments, "--limit", "1us")
    assert faults("run", json.loads(limited.stdout)) == []
    assert faults("run", {**result, "wall_ns": 1})


def test_frames_and_metrics_are_in_the_schema() -> None:
    board = "ben-nanonote-ssi"
    settings = {"stack": "spi-jz4740-ssi", "operation": "identify"}
    elf = firmware.build_app("bitbang_spi", board, settings)
    result = Board(board).load(elf).run(frame_on="ssi").to_dict()
    assert result["frame"]["wires"]
    assert result["metrics"]
    assert faults("run", json.loads(json.dumps(result))) == []


def test_windows_are_in_the_schema(program: Program) -> None:
    result = Board(BOARD).load(program("exit_main")).run(windows=("main",)).to_dict()
    assert result["windows"]
    assert faults("run", json.loads(json.dumps(result))) == []


def test_sweep_gives_what_its_schema_says(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    options = ("--board", BOARD, "--section", "main", "--out", tmp_path / "out", "--json", "-")
    words = "ddr.cyclescope,first-word-cycles"
    priced = ("--vary", f"{words}=20,40", "--price", f"{words}=20:1,40:0.5")
    grid = json.loads(cyclescope("sweep", program("results"), *options, *priced).stdout)
    assert faults("sweep", grid) == []
    drawn = ("--vary", f"{words}=20:40:log", "--samples", "2", "--limit", "1us")
    sampled = json.loads(cyclescope("sweep", program("results"), *options, *drawn).stdout)
    assert sampled["rows"][0]["error"]
    assert faults("sweep", sampled) == []
    assert faults("sweep", {**grid, "wall_ns": 1})


def test_fit_gives_what_its_schema_says(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    names = ("print.cycles", "divide.cycles", "fill.cycles")
    lines = [f"{name},{value}" for name, value in zip(names, (200000, 4300, 140000), strict=True)]
    (tmp_path / "cells.csv").write_text("\n".join(["metric,value", *lines]) + "\n")
    axi = ("axi_lite.cyclescope,request-cycles=1:6", "axi_lite.cyclescope,response-cycles=1:6")
    free = (*axi, "cpu0.cyclescope,divide-cycles", "dma0.cyclescope,setup-cycles")
    options = [word for path in free for word in ("--free", path)]
    table = ("--cells", "cells.csv", "--every", "2", "--json", "-")
    done = cyclescope("fit", program("measured"), "--board", BOARD, *options, *table)
    found = json.loads(done.stdout)
    assert found["others"]
    assert faults("fit", found) == []
    assert faults("fit", {**found, "wall_ns": 1})


def test_ipc_gives_what_its_schema_says(cyclescope: Command) -> None:
    done = cyclescope("ipc", "--board", IPC_BOARD, "--test", "16x2", "--json", "-")
    results = json.loads(done.stdout)
    assert len(results["tests"]) == 1
    assert faults("ipc", results) == []
