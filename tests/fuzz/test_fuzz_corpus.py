"""Every input of the fuzzing corpus runs as it must, each under the watchdog."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import targets
from fuzz.driver import Driver, Limits
from fuzz.inputs import CORPUS, corpus_files, load

MOST_BYTES = 1_000_000


@pytest.mark.parametrize("name", targets.names())
def test_the_corpus_runs(tmp_path: Path, name: str) -> None:
    files = corpus_files([name])
    assert files
    source, limits = targets.replayed(files), Limits(longest_s=10)
    said: list[str] = []
    with Driver(targets.ALL, source, tmp_path, limits, say=said.append) as driver:
        figures = driver.run()
    assert not figures.findings, said
    assert figures.sums[name].inputs == len(files)


def test_the_corpus_is_small_and_says_what_it_is_for() -> None:
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    for path in files:
        assert path.suffix == ".json"
        assert load(path)["target"] == path.parent.name


@pytest.mark.parametrize("name", targets.names())
def test_the_same_seed_makes_the_same_input(name: str) -> None:
    source = targets.generated("seed", [name])
    for number in range(20):
        assert source(number) == source(number)
