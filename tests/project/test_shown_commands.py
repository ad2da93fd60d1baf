"""Command lines in the pages: commands, options, boards and experiments that there are."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator

import click
import pytest
from conftest import ROOT
from test_docs import pages

from cyclescope import experiments, suites
from cyclescope.board import shipped_boards
from cyclescope.cli import cli

BLOCK = re.compile(r"^ *```(?:console|sh)\b[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^|\$ )(cyclescope (?:[^|\n\\]|\\\n)*)", re.MULTILINE)


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of each call of the command line in a page's blocks."""
    for block in BLOCK.findall(text):
        for call in COMMAND.findall(block):
            yield shlex.split(call, comments=True)[1:]


def faults(arguments: list[str]) -> Iterator[str]:
    """Parts of a call that do not exist."""
    name, *rest = arguments
    command = cli.get_command(click.Context(cli), name)
    if command is None:
        yield f"no command {name}"
        return
    own = rest[: rest.index("--")] if "--" in rest else rest
    known = {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
    given = [word for word in own if word.startswith("-") and word != "-"]
    yield from (f"no option {word}" for word in given if word not in known)
    board = dict(itertools.pairwise(own)).get("--board")
    if board and not board.endswith(".dts") and board not in shipped_boards():
        yield f"no board {board}"
    if name == "bench":
        yield from _unknown_experiments(command, own)


def _unknown_experiments(command: click.Command, words: list[str]) -> Iterator[str]:
    options = [param for param in command.params if isinstance(param, click.Option)]
    known = (*experiments.KNOWN, *suites.ALL)
    valued = {name for option in options if not option.is_flag for name in option.opts}
    for before, word in itertools.pairwise(["", *words]):
        is_value = before in valued
        if not word.startswith("-") and not is_value and word not in known:
            yield f"no experiment {word}"


@pytest.mark.parametrize("page", pages())
def test_pages_show_commands_that_there_are(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [fault for arguments in commands(text) for fault in faults(arguments)]
    assert not found


@pytest.mark.parametrize("page", pages())
def test_parts_to_include_are_shipped(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r'[`"](?:boards/)?([\w-]+\.dtsi)[`"]', text)
    assert not [name for name in named if not (ROOT / "boards" / name).is_file()]


def test_names_that_do_not_exist_are_found() -> None:
    text = "```sh\ncyclescope benhc\ncyclescope run a.elf --baord x\n```\n"
    text += "```console\n$ cyclescope run a.elf \\\n    --board none -- --own | head\noutput\n```\n"
    text += "```sh\ncyclescope bench --quick none --set a=b fat-write   # all\n```\n"
    found = [fault for arguments in commands(text) for fault in faults(arguments)]
    wanted = ["no command benhc", "no option --baord", "no board none", "no experiment none"]
    assert found == wanted
