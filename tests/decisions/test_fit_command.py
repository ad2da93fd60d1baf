"""`cyclescope fit`: what it prints, writes and refuses before anything runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, Command

from cyclescope import cli
from cyclescope.board import Board
from cyclescope.errors import EngineError
from cyclescope.fitting import fit, parameters
from cyclescope.fitting.judging import TOLD, Judgement
from cyclescope.fitting.overlays import overlay
from cyclescope.fitting.results import FitResult, FittedCell
from cyclescope.statuses import Status
from cyclescope.sweeps import running

Program = Callable[[str], Path]
DDR = "ddr.cyclescope,first-word-cycles"
DIVIDE = "cpu0.cyclescope,divide-cycles"


def table(elf: Path, path: Path, **changed: int) -> Path:
    """What a board takes with other values, as if it had been measured."""
    hidden = {DDR: 33, DIVIDE: 36}
    functions = ("divide", "stride", "fill", "print")
    sections = Board(BOARD, hidden).load(elf).run(sections=functions).cores[0].sections
    lines = [f"{one.name}.ps,{one.ps / 1e6:.2f}us,0.1%" for one in sections]
    lines += [f"{one.name}.cycles,{one.cycles},20" for one in sections]
    path.write_text("\n".join(["metric,value,error", *lines]) + "\n")
    return path


def test_it_prints_and_writes_what_it_found(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    elf = program("measured")
    cells = table(elf, tmp_path / "cells.csv")
    done = cyclescope(
        "fit",
        elf,
        "--board",
        BOARD,
        "--cells",
        cells,
        "--free",
        DDR,
        "--free",
        DIVIDE,
        "--out",
        "fitted.dts",
        "--json",
        "fit.json",
        "--jobs",
        "2",
    )
    assert done.status == 0, done.stderr
    assert "ddr.first-word-cycles" in done.stdout
    assert "8 cells fitted to" in done.stdout
    assert "held out" in done.stdout
    assert "warning" not in done.stderr
    found = json.loads((tmp_path / "fit.json").read_text())
    assert {one["path"]: one["value"] for one in found["parameters"]} == {DDR: 33, DIVIDE: 36}
    assert found["cells"][0]["measured"] == pytest.approx(found["cells"][0]["after"], rel=1e-3)
    result = fit(elf, BOARD, [DDR, DIVIDE], cells)
    assert {**result.to_dict(), "runs": 0} == {**found, "runs": 0}


def test_the_board_that_it_writes_is_the_old_one_with_these_values(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    elf = program("measured")
    cells = table(elf, tmp_path / "cells.csv")
    done = cyclescope(
        "fit",
        elf,
        "--board",
        BOARD,
        "--cells",
        cells,
        "--free",
        DDR,
        "--free",
        DIVIDE,
        "--out",
        "fitted.dts",
        "--jobs",
        "2",
    )
    assert done.status == 0, done.stderr
    fitted = Board(tmp_path / "fitted.dts")
    assert fitted.warnings == ()
    changed = [
        (old, new)
        for old, new in zip(Board(BOARD).parameters, fitted.parameters, strict=True)
        if (old.value, old.basis, old.source) != (new.value, new.basis, new.source)
    ]
    assert [(new.property_name, new.value) for _, new in changed] == [
        ("cyclescope,divide-cycles", "36"),
        ("cyclescope,first-word-cycles", "33"),
    ]
    for _, new in changed:
        assert new.basis == "calibrated"
        assert new.source.startswith("fitted to 8 cells of cells.csv by cyclescope fit")
    # it can be fitted again, beside a program of its own
    own = tmp_path / "boards" / "again.dts"
    own.parent.mkdir()
    done = cyclescope(
        "fit",
        elf,
        "--board",
        "fitted.dts",
        "--cells",
        cells,
        "--free",
        f"{DDR}=20:40",
        "--out",
        own,
        "--jobs",
        "2",
    )
    assert done.status == 0, done.stderr
    assert next(one for one in Board(own).parameters if one.label == "ddr").value == "33"


def test_a_node_without_a_label_of_its_own_is_named_by_its_path(tmp_path: Path) -> None:
    board, path = "stm32mp157c-dk2", "/apb1/from-mlahb.cyclescope,request-cycles"
    (free,) = parameters.resolved([parameters.parse(path)], board, {})
    judged = Judgement(free, free.board_value + 1, TOLD, (free.board_value + 1,))
    cell = FittedCell("a", "a.cycles", 4.0, 3.0, 4.0, is_fitted=True)
    result = FitResult(
        "app.elf",
        board,
        "cells.csv",
        (judged,),
        (cell,),
        (),
        (),
        None,
        None,
        1,
        None,
        None,
        4,
    )
    own = tmp_path / "own.dts"
    own.write_text(overlay(result, own, {}))
    changed = [
        (new.node, new.property_name, int(new.value), new.basis, new.plausible)
        for old, new in zip(Board(board).parameters, Board(own).parameters, strict=True)
        if old != new
    ]
    node = "/apb1/from-mlahb"
    value = free.board_value + 1
    assert changed == [(node, "cyclescope,request-cycles", value, "calibrated", "")]


def test_a_file_has_all_of_a_fit(cyclescope: Command, program: Program, tmp_path: Path) -> None:
    elf = program("measured")
    table(elf, tmp_path / "cells.csv")
    (tmp_path / "fit.toml").write_text(
        f'target = "{elf}"\nboard = "{BOARD}"\ncells = "cells.csv"\n'
        f'[free]\n"{DDR}" = "20:40"\n"{DIVIDE}" = []\n'
    )
    done = cyclescope("fit", "fit.toml", "--json", "-", "--jobs", "2")
    assert done.status == 0, done.stderr
    values = {one["path"]: one["value"] for one in json.loads(done.stdout)["parameters"]}
    assert values == {DDR: 33, DIVIDE: 36}
    (tmp_path / "odd.toml").write_text(f'target = "{elf}"\ncell = "cells.csv"\n')
    done = cyclescope("fit", "odd.toml")
    assert done.stderr == (
        "cyclescope: error: odd.toml: cell: no such key in a fit; did you mean 'cells'?\n"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "nothing is free: --free PATH"),
        (("--free", "ddr.cyclescope,first-word"), "no such board property; did you mean"),
        (("--free", "spi0.clock-frequency=1:2"), "no timing parameter"),
        (("--free", "ddr.cyclescope,beat-cycles"), "the board does not say what is plausible"),
        (("--free", f"{DDR}=20"), "one value is not free"),
        (("--free", f"{DDR}=40:20"), "nothing between 40 and 20"),
        (("--free", f"{DDR}=a:b"), "expected LOW:HIGH"),
        (("--free", f"{DDR}=1:2000000"), "it may be 0 to 1000000"),
        (("--free", DDR, "--free", f"{DDR}=1:2"), "is there twice"),
        (("--free", DDR, "--set", f"{DDR}=20"), "--set says its value"),
        (("--free", DDR, "--out", "cells.csv"), "must end in .dts"),
        (("--free", DDR, "--json", "cells.csv"), "would overwrite the measurements"),
        (("--free", DDR, "--limit", "1 week"), "time '1 week'"),
    ],
)
def test_what_can_not_be_fitted_runs_nothing(
    program: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cells.csv").write_text("metric,value\ndivide.cycles,4000\n")
    elf = program("measured")
    with pytest.raises(SystemExit) as ended:
        cli.main(["fit", str(elf), "--board", BOARD, "--cells", "cells.csv", *options])
    assert ended.value.code == Status.USAGE
    refused(capsys.readouterr().err, words)


def refused(stderr: str, words: str) -> None:
    assert words in stderr
    assert stderr.startswith("cyclescope: error: ")
    assert stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no column 'value'"),
        ("metric\na\n", "no column 'value' in its first line; there are metric"),
        ("metric,value\n", "no cells"),
        ("metric,value\ndivide.cycles\n", "cells.csv:2: not as many fields"),
        ("metric,value\ndivide.cycles,1,2\n", "cells.csv:2: not as many fields"),
        ("value\n1\n", "cells.csv:2: which metric is it?"),
        ("metric,value\ndivide.cycles,fast\n", "cells.csv:2: 'fast' is no number"),
        ("metric,value\ndivide.cycles,0\n", "cells.csv:2: value 0: expected a number above 0"),
        ("metric,value\ndivide.cycles,2ms\n", "divide.cycles is not in picoseconds"),
        ("metric,value,error\ndivide.cycles,1,-3\n", "cells.csv:2: '-3' is no number"),
        ("metric,value,error\ndivide.cycles,1,0%\n", "cells.csv:2: error 0%: expected"),
        ("metric,value,metrics\na,1,b\n", "column 'metrics' is no setting"),
        ("metric,value,value\na,1,1\n", "two columns are called 'value'"),
        ("metric,value,ddr.x\na,1,1\n", "cells.csv: column ddr.x: no such board property"),
        (f'metric,value,"{DDR}"\na,1,30\n', "is a column of the table, and free"),
        ("metric,value,cpu0.d-cache-size\na,1,3K\n", "cpu0.d-cache-size=3K"),
        ("metric,value,elf\na,1,missing.elf\n", "missing.elf"),
        ('metric,value\n"a,1\n', "cells.csv:1: unexpected end"),
    ],
)
def test_a_table_that_is_none_runs_nothing(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    monkeypatch.setattr(running, "run", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cells.csv").write_text(text)
    with pytest.raises(EngineError, match=re.escape(words)) as refusal:
        fit(program("measured"), BOARD, [DDR], "cells.csv")
    assert "\n" not in str(refusal.value)


def test_a_metric_that_no_run_has_is_told(
    cyclescope: Command, program: Program, tmp_path: Path
) -> None:
    (tmp_path / "cells.csv").write_text("metric,value\ncpu0.cycle,4000\n")
    elf = program("measured")
    done = cyclescope("fit", elf, "--board", BOARD, "--cells", "cells.csv", "--free", DDR)
    assert done.status == Status.USAGE
    assert "no run has cpu0.cycle; did you mean 'cpu0.cycles'" in done.stderr


def test_a_run_that_fails_is_told(cyclescope: Command, program: Program, tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("metric,value\nelapsed_ps,4ms\n")
    elf = program("trap_without_handler")
    done = cyclescope("fit", elf, "--board", BOARD, "--cells", "cells.csv", "--free", DDR)
    assert done.status == Status.USAGE
    assert "elapsed_ps: the run failed" in done.stderr


def test_an_experiment_takes_no_table(cyclescope: Command, tmp_path: Path) -> None:
    done = cyclescope("fit", "rhealstone", "--free", DDR, "--cells", "cells.csv")
    refused(done.stderr, "rhealstone is fitted to what was published")
