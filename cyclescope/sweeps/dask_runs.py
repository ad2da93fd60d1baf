"""The runs of a sweep on the workers of a Dask cluster, which share no disk with this machine.

A plugin takes the sweep's luggage to each worker, also to one that comes later; a task then is no
more than a row. A task whose worker is lost is given to another by Dask. Outcomes that were made
before are taken from this machine's cache, and new ones go there.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import threading
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cyclescope._engine import Stop
from cyclescope.board.description import digests
from cyclescope.errors import EngineError, UsageError, error_text
from cyclescope.sweeps import luggage, outcomes, running
from cyclescope.sweeps.luggage import Luggage, Unpacked
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.planning import Plan
from cyclescope.sweeps.running import Collected, Ended
from cyclescope.sweeps.store import Store

if TYPE_CHECKING:
    from distributed import Client, Future

NO_DASK = "Dask is not installed: pip install 'cyclescope[dask]'"
LOCAL = "local"
# Tasks that are at the cluster, for each thread of its workers: none waits for the next.
_AT_ONCE = 4
_LOOK_S = 0.2
_CONNECT_S = 15


@contextlib.contextmanager
def connected(address: str, workers: int) -> Iterator[Client]:
    """A client of the cluster at an address, or of a new one of local processes ("local").

    Raises `UsageError` without Dask, or if nothing answers there.
    """
    try:
        import distributed
    except ImportError as absent:
        raise UsageError(NO_DASK) from absent
    with contextlib.ExitStack() as opened:
        if address == LOCAL:
            with _ctrl_c_ignored():
                cluster = distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
                )
            where: Any = opened.enter_context(cluster)
        else:
            where = address
        try:
            client = distributed.Client(where, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(f"--dask {address}: no Dask scheduler answers there") from error
        yield opened.enter_context(client)


@contextlib.contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Programs that are started meanwhile ignore Ctrl-C: who asked for them ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run(
    planned: Plan, client: Client, stop: Stop, store: Store | None, ended: Ended
) -> list[Outcome | None]:
    """The outcomes of a plan's rows, as `running.run` has them, made by the client's workers.

    Raises `UsageError` if a worker has another build of Cyclescope, or none.
    """
    _check_builds(client)
    name = f"cyclescope-sweep-{uuid.uuid4().hex[:12]}"
    plugin = _plugin(name, luggage.packed(planned))
    try:
        client.register_plugin(plugin)
    except Exception as error:
        raise UsageError(f"--dask: a worker can't take what the runs need: {error}") from error
    collected = Collected(planned, ended)
    tasks = _Tasks(planned, client, name, store, collected)
    try:
        tasks.work(stop)
    finally:
        tasks.cancel()
        client.unregister_worker_plugin(name)
    return collected.found


class _Tasks:
    """The runs that are at the cluster, by their place, and those that are still to go there."""

    def __init__(
        self,
        planned: Plan,
        client: Client,
        name: str,
        store: Store | None,
        collected: Collected,
    ) -> None:
        self._planned, self._client, self._name = planned, client, name
        self._store, self._collected = store, collected
        self._to_do = iter(range(len(collected.runs)))
        self._keys: dict[int, str | None] = {}
        self._at_work: dict[Future, int] = {}
        self._done: queue.SimpleQueue[Future] = queue.SimpleQueue()

    def work(self, stop: Stop) -> None:
        """Until all runs have ended, or `stop` is requested."""
        while not stop.requested:
            self._fill(stop)
            if not self._at_work:
                return
            with contextlib.suppress(queue.Empty):
                self._take(self._done.get(timeout=_LOOK_S))

    def cancel(self) -> None:
        """Nobody waits for what is still at work."""
        self._client.cancel(list(self._at_work))

    def _fill(self, stop: Stop) -> None:
        """Give the cluster as many runs as it has room for."""
        threads = sum(self._client.nthreads().values()) or 1
        while len(self._at_work) < threads * _AT_ONCE and not stop.requested:
            place = next(self._to_do, None)
            if place is None:
                return
            self._begin(place)

    def _begin(self, place: int) -> None:
        """A run goes to the cluster, unless it was made before."""
        row = self._collected.runs[place][0]
        try:
            self._keys[place], kept = running.looked_up(self._planned.trial(row), self._store)
        except (EngineError, OSError) as error:
            kept = outcomes.failed(error_text(error))
        if kept is None:
            self._submit(place)
        else:
            self._collected.add(place, kept)

    def _submit(self, place: int) -> None:
        base, point = self._planned.rows[self._collected.runs[place][0]]
        values = self._planned.values(point)
        future = self._client.submit(_run_row, self._name, base, values, pure=False)
        self._at_work[future] = place
        future.add_done_callback(self._done.put)

    def _take(self, future: Future) -> None:
        """What a task gave; one that was lost with all that knew of it is given again."""
        place = self._at_work.pop(future)
        if future.status == "finished":
            outcome = outcomes.from_dict(future.result())
            running.keep(self._store, self._keys.pop(place, None), outcome)
            self._collected.add(place, outcome)
        elif future.status == "error":
            error = future.exception()
            self._collected.add(place, outcomes.failed(f"on its worker: {error}"))
        else:
            self._submit(place)
        future.release()


def _check_builds(client: Client) -> None:
    """Raises `UsageError` if a worker's runs would not be those of this machine."""
    try:
        builds = client.run(digests.of_build)
    except Exception as error:
        raise UsageError(f"--dask: a worker has no Cyclescope: {error}") from error
    if not builds:
        raise UsageError("--dask: the cluster has no workers yet")
    other = next((worker for worker, build in builds.items() if build != digests.of_build()), None)
    if other is not None:
        raise UsageError(f"--dask: worker {other} has another build of Cyclescope")


# ---- on the worker

_unpacked: dict[str, Unpacked] = {}
"""The sweeps that this process works for, by name."""


def _plugin(name: str, packed: Luggage) -> Any:
    from distributed import WorkerPlugin

    class Unpacks(WorkerPlugin):
        """Takes a sweep's luggage to a worker, and away when the sweep has ended."""

        def __init__(self) -> None:
            self.name = name

        def setup(self, worker: Any) -> None:
            """Called on each worker."""
            unpack(name, packed)

        def teardown(self, worker: Any) -> None:
            """When the sweep has ended."""
            forget(name)

    return Unpacks()


def unpack(name: str, packed: Luggage) -> None:
    """Have a sweep's luggage at hand in this process."""
    _unpacked[name] = Unpacked(packed)


def forget(name: str) -> None:
    """A sweep has ended."""
    here = _unpacked.pop(name, None)
    if here is not None:
        here.close()


def _run_row(name: str, base: int, values: Mapping[str, str]) -> dict[str, Any]:
    """Run a row: its outcome as plain data."""
    return _unpacked[name].run(base, values).to_dict()
