"""`cyclescope compare` on git revisions: of a project that builds a program, of an experiment."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOARD, ROOT, Command

Program = Callable[[str], Path]

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
BUILD = ("--board", BOARD, "--build", "cp source app.elf", "--elf", "app.elf")


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture
def project(tmp_path: Path, program: Program) -> Path:
    """A repository with two commits, whose "source" is built by copying it."""
    folder = tmp_path / "a project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", ".")
    for number, name in enumerate(("exit_main", "results")):
        shutil.copy(program(name), folder / "source")
        git(folder, "add", "source")
        git(folder, "commit", "-q", "-m", f"commit {number}")
    return folder


def test_two_revisions_are_built_and_compared(
    cyclescope: Command, project: Path, program: Program
) -> None:
    before = git(project, "status", "--porcelain", "--branch"), git(project, "for-each-ref")
    kept = sorted(path for path in project.rglob("*") if path.is_file())
    found = cyclescope("compare", "HEAD~1", "main", *BUILD, "--json", "-", folder=project)
    assert found.status == 0, found.stderr
    of_files = cyclescope(
        "compare", program("exit_main"), program("results"), "--board", BOARD, "--json", "-"
    )
    one, other = json.loads(found.stdout), json.loads(of_files.stdout)
    assert one["cores"] == other["cores"]
    assert [one[side]["label"] for side in ("before", "after")] == ["HEAD~1", "main"]
    # nothing is left in the repository
    assert before == (
        git(project, "status", "--porcelain", "--branch"),
        git(project, "for-each-ref"),
    )
    assert kept == sorted(path for path in project.rglob("*") if path.is_file())


def test_the_working_tree_is_a_dot(cyclescope: Command, project: Path, program: Program) -> None:
    assert "no difference" in cyclescope("compare", "HEAD", ".", *BUILD, folder=project).stdout
    shutil.copy(program("exit_main"), project / "source")
    changed = cyclescope("compare", "HEAD", ".", *BUILD, folder=project)
    assert changed.status == 0
    assert "B: the working tree" in changed.stdout
    assert "no difference" not in changed.stdout


def test_a_folder_of_the_repository_is_where_it_is_built(
    cyclescope: Command, project: Path
) -> None:
    (project / "part").mkdir()
    git(project, "mv", "source", "part/source")
    git(project, "commit", "-q", "-m", "moved")
    found = cyclescope("compare", "HEAD", ".", *BUILD, folder=project / "part")
    assert "no difference" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nope", "HEAD", *BUILD), "nope: no such revision"),
        (
            ("--board", BOARD, "HEAD", ".", "--build", "true"),
            "--build COMMAND and --elf FILE need each other",
        ),
        (("HEAD", ".", *BUILD[:3], "echo broken; exit 3", *BUILD[4:]), "ended with 3: broken"),
        (("HEAD", ".", *BUILD[:3], "true", *BUILD[4:]), "--build made no app.elf"),
        (("HEAD", ".", *BUILD[:5], "/app.elf"), "--elf /app.elf: give a relative path"),
        (("HEAD", ".", "--experiment", "m4-rules"), "this is no source of Cyclescope"),
        (("HEAD", ".", *BUILD, "--experiment", "m4-rules"), "leave out --build"),
        (("HEAD", ".", "--experiment", "m4-rules", "--board", BOARD), "an experiment sets its own"),
    ],
)
def test_what_is_wrong_is_one_line(
    cyclescope: Command, project: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = cyclescope("compare", *arguments, folder=project)
    assert done.status == 121
    assert words in done.error
    assert done.stderr.count("\n") == 1


def test_without_a_repository(cyclescope: Command) -> None:
    done = cyclescope("compare", "HEAD", ".", *BUILD)
    assert done.status == 121
    assert "not a git repository" in done.error


# The bench of a revision of Cyclescope: its results are what a file of it says.
BENCH = """
import json, pathlib, sys
assert sys.argv[1:5] == ["bench", "m4-rules", "--no-profiles", "--out"], sys.argv
out = pathlib.Path(sys.argv[5])
out.mkdir(exist_ok=True)
row = {"experiment": "m4-rules", "board": "b", "settings": {"n": 1}, "metric": "t"}
row |= {"label": "rule", "unit": "us", "simulated": int(pathlib.Path("takes").read_text())}
(out / "results.json").write_text(json.dumps([row]))
"""


def test_an_experiment_is_that_of_each_revisions_own_code(
    cyclescope: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cyclescope's"
    (folder / "cyclescope" / "experiments").mkdir(parents=True)
    (folder / "cyclescope" / "__init__.py").touch()
    (folder / "cyclescope" / "experiments" / "__init__.py").touch()
    (folder / "cyclescope" / "__main__.py").write_text(BENCH)
    # the same engine as this build's, so that none is built
    for name in ("engine", "debugger", "bindings", "Cargo.toml", "Cargo.lock"):
        (folder / name).symlink_to(ROOT / name)
    git(folder, "init", "-q", "-b", "main", ".")
    for takes in ("10", "11"):
        (folder / "takes").write_text(takes)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", f"it takes {takes} us")
    (folder / "takes").write_text("10")
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    options = ("--experiment", "m4-rules", "--json", "-")
    found = cyclescope("compare", "HEAD~1", "HEAD", *options, folder=folder)
    assert found.status == 0, found.stderr
    (row,) = json.loads(found.stdout)["metrics"]
    assert (row["before"], row["after"], row["verdict"]) == (10, 11, "worse")
    same = cyclescope("compare", "HEAD~1", ".", *options[:2], folder=folder)
    assert "no difference" in same.stdout


# Each bench begins without compiled modules, which takes long.
@pytest.mark.long
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no checkout")
def test_an_experiment_of_two_revisions(
    cyclescope: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last commit, and the same with slower memories."""
    copy = tmp_path / "copy"
    git(tmp_path, "clone", "-q", "--shared", str(ROOT), str(copy))
    shutil.copy(next((ROOT / "cyclescope").glob("_engine*.so")), copy / "cyclescope")
    # the command is this package's, not that of the folder it is called in
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    arguments = ("compare", "HEAD", ".", "--experiment", "m4-rules")
    same = cyclescope(*arguments, folder=copy)
    assert same.status == 0, same.stderr
    assert "no difference" in same.stdout
    board = copy / "boards" / "minimal-armv7m.dts"
    source = board.read_text()
    changed = source.replace(
        "cyclescope,first-word-cycles = <0>", "cyclescope,first-word-cycles = <1>"
    )
    assert changed != source
    board.write_text(changed)
    other = cyclescope(*arguments, folder=copy)
    assert other.status == 0, other.stderr
    assert "no difference" not in other.stdout
    assert not (copy / "results").exists()
