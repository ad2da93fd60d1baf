"""The overhead of a sweep: the same short runs with one worker, with two, and on Dask.

The runs are task switches of the Rhealstone benchmark, a hundred loops each; one timing of the
memory differs in each. All kinds of workers run each part, so that a host that gets slower gets
slower for all of them.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from record import say

from cyclescope import Board, firmware
from cyclescope._engine import Stop
from cyclescope.sweeps import Store, runner
from cyclescope.sweeps.axes import axis
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.planning import Plan
from cyclescope.sweeps.requests import Request, Runner

BOARD = "sama5d2-xplained"
VARIED = "sram0.cyclescope,first-word-cycles"
SETTINGS = {
    "operation": "task-switch",
    "loops": 100,
    "memory": "sram",
    "cache": "on",
    "width": "quad-io",
    "continuous_read": "on",
    "spck_divider": 3,
    "tick": "off",
    "pins": "off",
}
PLANNED = 10_000
WORKERS = 2


def measure(runs: int, pairs: int) -> None:
    """Time the planning, then the runs in `pairs` parts, each with all kinds of workers.

    Two processes that run the engine and nothing else say what two processors of this host are
    worth.
    """
    _plan()
    part = max(1, runs // pairs)
    spent: dict[str, list[float]] = {"one": [], "two": [], "Dask": []}
    engine_s: list[float] = []
    host: list[float] = []
    grown_kib = 0.0
    with (
        runner(1) as one,
        runner(WORKERS) as two,
        runner(WORKERS, "local") as dask,
        ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool,
        tempfile.TemporaryDirectory() as folder,
    ):
        kinds = {"one": one, "two": two, "Dask": dask}
        _run(_planned(1, 1), dask, Path(folder) / "first", [])
        list(pool.map(_engine_s, range(WORKERS), [1] * WORKERS))
        for number in range(pairs):
            plan = _planned(1 + number * part, part)
            for kind, made in kinds.items():
                memory_kib: list[int] = []
                store = Path(folder) / f"{number}-{kind}"
                spent[kind].append(_run(plan, made, store, memory_kib))
                if kind == "two":
                    # by a quarter of the rows, threads and machines have allocated their memory
                    quarter = len(memory_kib) // 4
                    grown_kib = (memory_kib[-1] - memory_kib[quarter]) / (part - quarter)
            few = min(part, 30)
            alone = pool.submit(_engine_s, 1, few).result()
            both = list(pool.map(_engine_s, range(WORKERS), [few] * WORKERS))
            engine_s.append(alone / few)
            host.append(alone / statistics.mean(both))
    scaling = _ratio(spent["one"], spent["two"]) / WORKERS
    dask_ratio = _ratio(spent["two"], spent["Dask"])
    overhead_ms = 1000 * (sum(spent["one"]) / (part * pairs) - statistics.mean(engine_s))
    say(
        f"a sweep of {part * pairs} runs of {1000 * statistics.mean(engine_s):.0f} ms each: "
        f"{overhead_ms:.1f} ms beside each; two workers do {scaling:.2f} of twice the work of one, "
        f"where two processes with nothing but the engine do {statistics.median(host):.2f}; "
        f"a cluster of two processes does {dask_ratio:.2f} of two workers' work; "
        f"a row takes {grown_kib:.1f} KiB",
        sweep_scaling=round(scaling, 3),
        sweep_host_scaling=round(statistics.median(host), 3),
        sweep_overhead_ms=round(overhead_ms, 2),
        sweep_dask_ratio=round(dask_ratio, 3),
        sweep_kib_a_row=round(grown_kib, 2),
    )


def _plan() -> None:
    begun = time.perf_counter()
    plan = _planned(1, PLANNED)
    first: list[float] = []
    stop = Stop()

    def ended(row: int, outcome: Outcome) -> None:
        first.append(time.perf_counter() - begun)
        stop.request()

    with runner(WORKERS) as made:
        made(plan, stop, None, ended)
    say(
        f"{PLANNED} planned runs: the first has ended after {first[0]:.2f} s",
        sweep_first_of_10000_s=round(first[0], 2),
    )


def _planned(first: int, runs: int) -> Plan:
    sets = {f"rhealstone.{name}": str(value) for name, value in SETTINGS.items()}
    varied = axis(VARIED, [str(first + number) for number in range(runs)])
    return Request("rhealstone", axes=(varied,), sets=sets).plan()


def _run(plan: Plan, made: Runner, store: Path, memory_kib: list[int]) -> float:
    """The time of all runs of a plan, with an empty store.

    `memory_kib` gets this process's memory as each row ends.
    """
    failed: list[str] = []

    def ended(row: int, outcome: Outcome) -> None:
        memory_kib.append(_memory_kib())
        if outcome.error is not None:
            failed.append(outcome.error)

    begun = time.perf_counter()
    made(plan, Stop(), Store(store), ended)
    if failed:
        raise SystemExit(f"a run of the sweep failed: {failed[0]}")
    return time.perf_counter() - begun


def _engine_s(first: int, runs: int) -> float:
    """The time that the engine alone takes for this number of runs."""
    elf = firmware.build_app("rhealstone", BOARD, SETTINGS)
    boards = [Board(BOARD, {VARIED: 1 + first + number}).load(elf) for number in range(runs)]
    return sum(board.run().wall_ns for board in boards) / 1e9


def _memory_kib() -> int:
    """The memory of this process."""
    words = Path("/proc/self/status").read_text(encoding="ascii").split()
    return int(words[words.index("VmRSS:") + 1])


def _ratio(more: list[float], less: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(more, less, strict=True))
