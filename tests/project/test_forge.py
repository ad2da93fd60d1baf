"""Files for the forge: workflows call only make, forms are complete, versions agree."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted(
    path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"
)
# Shared words and the variables that a target documents: `make fuzz MINUTES=40`.
MAKE = re.compile(r"make(?P<targets>( [a-z][a-z-]*)+)(?P<variables>( [A-Z_]+=[\w./-]+)*)")
ACTION = re.compile(r"[\w-]+/[\w.-]+(/[\w.-]+)*@v\d+")
PUBLISHED_RUNNERS = {
    "ubuntu-22.04",
    "ubuntu-22.04-arm",
    "ubuntu-24.04",
    "ubuntu-24.04-arm",
    "macos-14",
}


def loaded(path: Path) -> Any:
    """A YAML file. The key `on` of a workflow is a boolean to YAML 1.1."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if isinstance(content, dict) and True in content:
        content["on"] = content.pop(True)
    return content


def targets() -> set[str]:
    """The documented targets of the Makefile."""
    return set(re.findall(r"^## ([a-z-]+): ", (ROOT / "Makefile").read_text(), re.MULTILINE))


def jobs(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The jobs of a workflow by name."""
    yield from loaded(path)["jobs"].items()


def named(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.name)


def test_there_are_workflows_for_changes_nights_and_releases() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "nightly.yml", "release.yml"]


@named(WORKFLOWS)
def test_a_workflow_has_a_trigger_and_may_only_read_by_default(path: Path) -> None:
    workflow = loaded(path)
    assert workflow.keys() <= {"name", "on", "permissions", "concurrency", "env", "jobs"}
    assert workflow["name"] == path.stem
    assert workflow["on"].keys() <= {"push", "pull_request", "schedule", "workflow_dispatch"}
    assert workflow["permissions"] == {"contents": "read"}


@named(WORKFLOWS)
def test_each_job_has_a_runner_a_time_limit_and_known_predecessors(path: Path) -> None:
    names = [name for name, _ in jobs(path)]
    for name, job in jobs(path):
        assert 0 < job["timeout-minutes"] <= 180, name
        matrix = job.get("strategy", {}).get("matrix", {})
        assert matrix.keys() <= {"runner"}, name
        runners = matrix.get("runner", [job["runs-on"]])
        assert set(runners) <= PUBLISHED_RUNNERS, name
        assert job["runs-on"] == ("${{ matrix.runner }}" if matrix else runners[0]), name
        needs = job.get("needs", [])
        before = [needs] if isinstance(needs, str) else needs
        # listed in an order in which they can run
        assert set(before) <= set(names[: names.index(name)]), name


@named(WORKFLOWS)
def test_each_step_is_an_action_of_a_major_version_or_a_target_of_make(path: Path) -> None:
    for name, job in jobs(path):
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), name
            if "uses" in step:
                assert ACTION.fullmatch(step["uses"]), step["uses"]
                continue
            call = MAKE.fullmatch(step["run"])
            assert call, step["run"]
            assert set(call["targets"].split()) <= targets(), step["run"]
            makefile = (ROOT / "Makefile").read_text()
            for variable in call["variables"].split():
                assert re.search(rf"^{variable.partition('=')[0]} \?=", makefile, re.MULTILINE)


@named(WORKFLOWS)
def test_expressions_are_never_part_of_a_command(path: Path) -> None:
    steps = [step for _, job in jobs(path) for step in job["steps"]]
    assert not [step["run"] for step in steps if "${{" in step.get("run", "")]


@named(WORKFLOWS)
def test_artifacts_are_made_before_they_are_fetched_and_have_one_name_each(path: Path) -> None:
    made: list[str] = []
    for name, job in jobs(path):
        for step in job["steps"]:
            action = step.get("uses", "").partition("@")[0]
            if action == "actions/upload-artifact":
                made.append(step["with"]["name"])
            if action == "actions/download-artifact":
                assert made, name
                assert job["needs"], name
    assert len(made) == len(set(made))


def test_each_documented_target_is_phony_and_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY:((?:.*\\\n)*.*)$", makefile, re.MULTILINE)
    assert phony
    declared = set(phony[1].replace("\\\n", " ").split())
    assert declared == targets()
    defined = set(re.findall(r"^([a-z-]+):(?!=)", makefile, re.MULTILINE))
    assert declared <= defined


@named(FORMS)
def test_an_issue_form_is_one(path: Path) -> None:
    form = loaded(path)
    assert form.keys() <= {"name", "description", "title", "body"}
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    ids = [field["id"] for field in fields]
    labels = [field["attributes"]["label"] for field in fields]
    assert len(set(ids)) == len(ids)
    assert len(set(labels)) == len(labels)
    for field in form["body"]:
        assert_is_field(field)


def assert_is_field(field: dict[str, Any]) -> None:
    """A field as the forge's schema of forms has it."""
    allowed = {
        "markdown": {"value"},
        "input": {"label", "description", "placeholder", "value"},
        "textarea": {"label", "description", "placeholder", "value", "render"},
        "dropdown": {"label", "description", "options", "multiple", "default"},
    }
    attributes = field["attributes"]
    assert attributes.keys() <= allowed[field["type"]]
    assert field.keys() <= {"type", "id", "attributes", "validations"}
    assert all(isinstance(attributes[key], str) for key in attributes.keys() - {"options"})
    if field["type"] == "markdown":
        assert attributes["value"]
        return
    assert re.fullmatch(r"[a-z-]+", field["id"])
    assert field.get("validations", {}).keys() <= {"required"}
    if field["type"] == "dropdown":
        assert len(set(attributes["options"])) == len(attributes["options"]) > 1


def test_the_form_for_a_wrong_number_asks_for_what_it_takes_to_correct_it() -> None:
    form = loaded(ROOT / ".github/ISSUE_TEMPLATE/number-is-wrong.yml")
    required = {
        field["id"] for field in form["body"] if field.get("validations", {}).get("required")
    }
    assert required >= {"board", "program", "measured", "instrument", "simulated", "doctor"}


def test_the_chooser_of_forms_has_links() -> None:
    config = loaded(ROOT / ".github/ISSUE_TEMPLATE/config.yml")
    assert config.keys() == {"blank_issues_enabled", "contact_links"}
    for link in config["contact_links"]:
        assert link.keys() == {"name", "url", "about"}
        assert link["url"].startswith("https://")


def test_hooks_of_pre_commit_are_local_and_their_scripts_exist() -> None:
    config = loaded(ROOT / ".pre-commit-config.yaml")
    for repository in config["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            assert hook["language"] == "system"
            for script in re.findall(r"scripts/[\w-]+", hook["entry"]):
                assert (ROOT / script).exists(), script


def test_the_citation_has_the_version_of_the_package() -> None:
    citation = loaded(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    assert citation["version"] == package["version"]
    assert " OR ".join(citation["license"]) == package["license"]
    assert citation["repository-code"] == package["repository"]


def test_the_toolchain_file_names_no_channel_that_rustup_would_download() -> None:
    toolchain = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]
    assert toolchain.keys() == {"components"}


def satisfied(expression: str, allowed: set[str]) -> bool:
    """Whether licences that are allowed satisfy an SPDX expression, or an old one with `/`."""
    expression = expression.replace("/", " OR ")
    depth, parts, begin = 0, [], 0
    for place, character in enumerate(expression):
        depth += (character == "(") - (character == ")")
        for word in (" AND ", " OR "):
            if depth == 0 and expression.startswith(word, place):
                parts.append((word, expression[begin:place]))
                begin = place + len(word)
    words = {word for word, _ in parts}
    operands = [part for _, part in parts] + [expression[begin:]]
    # no crate mixes the two without brackets
    assert len(words) <= 1, expression
    if not words:
        text = expression.strip()
        return satisfied(text[1:-1], allowed) if text.startswith("(") else text in allowed
    return (all if words == {" AND "} else any)(satisfied(part, allowed) for part in operands)


@pytest.mark.parametrize(
    ("expression", "is_satisfied"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("GPL-3.0 OR MIT", True),
        ("MIT/GPL-3.0", True),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", False),
        ("(MIT OR Apache-2.0) AND Zlib", True),
    ],
)
def test_licence_expressions_are_read(expression: str, is_satisfied: bool) -> None:
    assert satisfied(expression, {"MIT", "Zlib"}) == is_satisfied


@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
def test_the_licences_of_all_crates_are_allowed() -> None:
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("crates of other hosts have not been downloaded")
    packages = json.loads(done.stdout)["packages"]
    assert [p["name"] for p in packages if not satisfied(p["license"] or "", allowed)] == []
    used = {licence for p in packages for licence in allowed if licence in (p["license"] or "")}
    assert used == allowed


# --- subjects of commits


def checked(message: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """The script's answer to a message."""
    file = tmp_path / "message"
    file.write_text(message, encoding="utf-8")
    command = [sys.executable, str(ROOT / "scripts/commit-subject"), str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "message",
    [
        "engine: a shorter path\n\nWhy it is shorter, in a line that may be longer than a subject.",
        "ospi, leds: less code for the same",
        "docs/how-to: é" + "x" * 45,
        "a: " + "x" * 57,
        "# a comment\n\nengine: after a comment",
        "Merge branch 'a-branch-whose-name-is-longer-than-all-subjects-of-others'",
        'Revert "engine: a subject that had all of its sixty characters in use"',
        "fixup! engine: a shorter path",
        "# only comments: git refuses it itself",
    ],
)
def test_a_good_subject_is_accepted(message: str, tmp_path: Path) -> None:
    done = checked(message, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("a: " + "x" * 58, "61 characters"),
        ("A shorter path", "area: what changes"),
        ("engine:no space", "area: what changes"),
        ("engine: ", "area: what changes"),
        ("engine: a shorter path.", "full stop"),
    ],
)
def test_another_subject_is_refused(message: str, fault: str, tmp_path: Path) -> None:
    done = checked(message, tmp_path)
    assert done.returncode == 1
    assert fault in done.stderr


@pytest.mark.skipif(not shutil.which("git") or not shutil.which("make"), reason="needs git, make")
def test_the_hook_refuses_a_commit_and_spares_a_hook_that_is_there(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "scripts/commit-subject", tmp_path / "scripts/commit-subject")

    def call(*command: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    def commit(subject: str) -> int:
        names = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        return call("git", *names, "commit", "-q", "--allow-empty", "-m", subject).returncode

    assert call("git", "init", "-q").returncode == 0
    assert commit("before the hook") == 0
    for _ in range(2):
        assert call("make", "hooks").returncode == 0
    assert commit("no area") != 0
    assert commit("area: a good subject") == 0
    hook = tmp_path / ".git/hooks/commit-msg"
    hook.write_text("#!/bin/sh\n")
    refused = call("make", "hooks")
    assert refused.returncode != 0
    assert "commit-msg exists" in refused.stderr
    assert hook.read_text() == "#!/bin/sh\n"
