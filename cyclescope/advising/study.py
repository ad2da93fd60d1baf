"""The study of a program: its what-ifs planned, run side by side, and ranked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from cyclescope._engine import Stop
from cyclescope.advising import hot_code, judging, options, registers, ways
from cyclescope.advising.results import Advice, Tried
from cyclescope.advising.whatifs import WhatIf, together
from cyclescope.bench.images import inserted
from cyclescope.bench.planning import with_all_settings
from cyclescope.board import Board, board_tree
from cyclescope.board.description import digests, trees
from cyclescope.board.description.devicetree import Node, Property
from cyclescope.board.description.overrides import apply_overrides
from cyclescope.board.results import RunResult
from cyclescope.errors import EngineError, SettingError, UsageError, error_text
from cyclescope.sweeps import running
from cyclescope.sweeps.measures import Measure, Namer
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.requests import Request
from cyclescope.sweeps.running import StoppedError
from cyclescope.sweeps.store import Store
from cyclescope.sweeps.targets import ElfTarget, ExperimentTarget
from cyclescope.sweeps.trials import ElfTrial, Trial

_BUILT = (
    "levels of optimisation and alignment: the ELF is built already. "
    "`cyclescope sweep --vary elf=a.elf,b.elf` compares builds"
)
_NO_PROFILE = "code in other memories: an experiment's app defines where its code can be"
_DATA_CACHE = "data caches that are off: they need the MMU's tables, which the firmware has to make"
_WITH_MMU = ("arm,cortex-a5", "arm,cortex-a7")
# Ratios of times that agree in this many digits keep the order of the what-ifs.
_EQUAL_DIGITS = 3
# A smaller gain is not combined with the others.
_WORTH_PCT = 0.5


@dataclass(frozen=True)
class Running:
    """How runs are made: the number of threads, the store of earlier outcomes, and the stop.

    `ended` is called with the number of finished runs and of all runs.
    """

    threads: int
    stop: Stop
    store: Store | None
    ended: Callable[[int, int], None] = lambda done, total: None


@dataclass(frozen=True)
class _Batch:
    """Runs as `running.run` takes them."""

    study: Study
    rows: Sequence[int]
    what_ifs: Sequence[WhatIf | None]

    def trial(self, row: int) -> Trial:
        return self.study.trial(self.what_ifs[row])


@dataclass(frozen=True)
class Study:
    """A program on a board with the what-ifs that this board allows.

    `profiled` is the run of an ELF, with its profile, from which hot functions were found; None for
    an experiment.
    """

    request: Request
    target: ElfTarget | ExperimentTarget
    board: str
    what_ifs: tuple[WhatIf, ...]
    untried: tuple[str, ...]
    profiled: RunResult | None = None

    def trial(self, what_if: WhatIf | None) -> Trial:
        """The run of a what-if; for None, of the unchanged program."""
        found = self.target.trial(0, what_if.changes if what_if is not None else {})
        if what_if is None or not isinstance(found, ElfTrial):
            return found
        is_other = what_if.move is not None or what_if.adds
        board = _other_board(found.board, what_if) if is_other else found.board
        return replace(found, board=board, presets=what_if.presets)

    def run(self, how: Running) -> Advice:
        """Make all runs, rank their gains, and run those that can be combined once more.

        Raises `UsageError` if the program itself fails, `SettingError` for a metric that it does
        not have, `StoppedError` after a stop.
        """
        first, *outcomes = self._outcomes([None, *self.what_ifs], how)
        if first.error is not None:
            raise UsageError(f"{self.request.target}: the run itself fails: {first.error}")
        chosen = judging.metrics_of(self.request, first)
        tried = [
            judging.tried(one, first, outcome, chosen)
            for one, outcome in zip(self.what_ifs, outcomes, strict=True)
        ]
        # of equal gains the first is the smaller change
        tried.sort(key=lambda one: (one.ratio is None, round(one.ratio or 0, _EQUAL_DIGITS)))
        known = Namer([first]).values(first)
        return Advice(
            self.request.target,
            self.board,
            tuple(chosen),
            {one.name: known[one.name] for one in chosen},
            judging.where(first),
            tuple(tried),
            self._at_once(tried, first, chosen, how),
            self.untried,
        )

    def _at_once(
        self, tried: Sequence[Tried], first: Outcome, chosen: Sequence[Measure], how: Running
    ) -> Tried | None:
        """The best of those that gain and change nothing twice, in one run."""
        best: list[WhatIf] = []
        for one in tried:
            is_worth = one.is_gain and (one.gain_pct or 0) >= _WORTH_PCT
            if is_worth and not any(one.what_if.touches & other.touches for other in best):
                best.append(one.what_if)
        if len(best) < 2:
            return None
        whole = together(best)
        (outcome,) = self._outcomes([whole], how)
        return judging.tried(whole, first, outcome, chosen)

    def _outcomes(self, what_ifs: Sequence[WhatIf | None], how: Running) -> list[Outcome]:
        done = 0

        def ended(row: int, outcome: Outcome) -> None:
            nonlocal done
            if what_ifs[row] is None and outcome.error is None:
                # report a misspelt metric before all other runs are made
                judging.metrics_of(self.request, outcome)
            done += 1
            how.ended(done, len(what_ifs))

        batch = _Batch(self, range(len(what_ifs)), what_ifs)
        found = running.run(batch, how.threads, how.stop, how.store, ended)
        outcomes = [one for one in found if one is not None]
        if len(outcomes) < len(found):
            raise StoppedError
        return outcomes


def study(request: Request, tries: Mapping[str, str], quick: bool, stop: Stop) -> Study:
    """The what-ifs of a program on its board, and properties that the user wants tried, by path.

    For an experiment it is the first run on its board, in its short form if `quick`. A program that
    the user has built is run once, to find its hot functions. Raises `EngineError` for invalid
    input, `StoppedError` after a stop.
    """
    target = request.target_to_run()
    own = [_own(path, value) for path, value in tries.items()]
    profiled = None
    if isinstance(target, ExperimentTarget):
        job = target.jobs[0]
        if quick:
            job = replace(job, run=with_all_settings(job.experiment.short_form(job.run)))
        target = replace(target, jobs=[job])
        board, found = job.run.board, [*own, *ways.of_job(job)]
        root = _changed(board, job.configured.overrides)
        found += [one for one in options.of_board(root) if not one.adds]
        untried = [_NO_PROFILE]
    else:
        board, untried = target.board, [_BUILT]
        root = _changed(board, target.overrides)
        profiled, in_it = _of_elf(target, root, stop)
        found = [*own, *in_it, *options.of_board(root)]
    if any(name in _WITH_MMU for node in root.walk() for name in node.compatibles):
        untried.append(_DATA_CACHE)
    made = Study(request, target, board, (), tuple(untried), profiled)
    for one in own:
        _check(made, one)
    allowed = tuple(one for one in found if one in own or _is_allowed(made, one))
    return replace(made, what_ifs=allowed)


def _own(path: str, value: str) -> WhatIf:
    return WhatIf(f"{path} = {value}", "", f"{path} = {value}", "--try", {path: value})


def _check(made: Study, what_if: WhatIf) -> None:
    """Raises `SettingError` if a run that the user wants is impossible."""
    try:
        made.trial(what_if).check()
    except EngineError as error:
        raise SettingError(error_text(error).replace("--set ", "--try ", 1)) from None


def _is_allowed(made: Study, what_if: WhatIf) -> bool:
    """Whether the board accepts it: a large cache may be refused."""
    try:
        made.trial(what_if).check()
    except EngineError:
        return False
    return True


def _changed(board: str, overrides: Mapping[str, object]) -> Node:
    """A board's tree with overrides, without overrides by files."""
    tree = board_tree(board)
    plain = {path: value for path, value in overrides.items() if not path.endswith("image")}
    apply_overrides(tree, plain)  # type: ignore[arg-type]
    return tree


def _of_elf(target: ElfTarget, root: Node, stop: Stop) -> tuple[RunResult, list[WhatIf]]:
    """A run with its profile, and from that: registers to set, and hot code in other memories."""
    trial = target.trial(0, {})
    assert isinstance(trial, ElfTrial)
    with inserted(trial.overrides) as (overrides, _):
        board = trial.loaded_board(overrides)
        used = _used(board)
        result = board.run(trial.limit, profile=True, stop=stop)
        if stop.requested:
            raise StoppedError
        description = board.describe()
        found = [*registers.of_board(root, description)]
        if result.profile is not None:
            core = board.debug().core.name
            hot = hot_code.hot_functions(board, result.profile, core)
            found += hot_code.what_ifs(root, description, hot, used)
        return result, found


def _used(board: Board) -> dict[str, int]:
    """Bytes of the loaded program by the memory's node."""
    found: dict[str, int] = {}
    entries = board.describe()["map"]
    for segment in board.loaded:
        for entry in entries:
            if entry["base"] <= segment.address < entry["base"] + entry["size"]:
                found[entry["path"]] = found.get(entry["path"], 0) + segment.memory_bytes
    return found


def _other_board(board: str, what_if: WhatIf) -> str:
    """The name of the board with properties that it leaves out, or code in another memory.

    It becomes a board of this process.
    """
    tree = board_tree(board)
    for path, value in what_if.adds.items():
        handle, _, name = path.rpartition(".")
        node = next(one for one in tree.walk() if one.handle == handle)
        is_number = isinstance(value, int)
        raw = int(value).to_bytes(4, "big") if is_number else f"{value}\0".encode()
        kind = "cells" if is_number else "strings"
        node.props[name] = Property(name, raw, kind, hot_code.ORIGIN, 0)
    if what_if.move is not None:
        hot_code.add(tree, what_if.move)
    name = f"{board}, {digests.of_tree(tree)[:16]}"
    trees.give(name, tree)
    return name
