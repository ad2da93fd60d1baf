"""The runs of a sweep on the workers of a Dask cluster, which share no disk with this machine.

A plugin sends the sweep's shipment to each worker, also to workers that join later; a task is then
only a row. Dask gives the task of a lost worker to another. Earlier outcomes are taken from this
machine's cache, and new ones are kept there.
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
from cyclescope.sweeps import outcomes, running, shipment
from cyclescope.sweeps.outcomes import Outcome
from cyclescope.sweeps.planning import Plan
from cyclescope.sweeps.running import Collected, Ended
from cyclescope.sweeps.shipment import Shipment, Unpacked
from cyclescope.sweeps.store import Store

if TYPE_CHECKING:
    from distributed import Client, Future

NO_DASK = "Dask is not installed: pip install 'cyclescope[dask]'"
LOCAL = "local"
# Tasks sent to the cluster, for each thread of its workers: no thread waits for its next task.
_AT_ONCE = 4
_LOOK_S = 0.2
_CONNECT_S = 15


@contextlib.contextmanager
def connected(address: str, workers: int) -> Iterator[Client]:
    """A client of the cluster at an address, or of a new cluster of local processes ("local").

    Raises `UsageError` without Dask, or if no scheduler answers.
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
    """Programs that are started meanwhile ignore Ctrl-C: the process that needs them ends them."""
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
    """The outcomes of a plan's rows, as `running.run` returns them, made by the client's workers.

    Raises `UsageError` if a worker has no Cyclescope or another build of it.
    """
    _check_builds(client)
    name = f"cyclescope-sweep-{uuid.uuid4().hex[:12]}"
    plugin = _plugin(name, shipment.packed(planned))
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
    """The runs that were sent to the cluster, by their place, and those that are not sent yet."""

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
        """Cancel the tasks that are still running."""
        self._client.cancel(list(self._at_work))

    def _fill(self, stop: Stop) -> None:
        """Send runs until the cluster has enough for all threads."""
        threads = sum(self._client.nthreads().values()) or 1
        while len(self._at_work) < threads * _AT_ONCE and not stop.requested:
            place = next(self._to_do, None)
            if place is None:
                return
            self._begin(place)

    def _begin(self, place: int) -> None:
        """Send a run to the cluster, unless the cache has its outcome."""
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
        """Take a task's outcome; send a task that was lost with its worker and scheduler again."""
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
    """Raises `UsageError` if a worker's build of Cyclescope is not this machine's."""
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
"""The sweeps whose runs this process makes, by name."""


def _plugin(name: str, packed: Shipment) -> Any:
    from distributed import WorkerPlugin

    class Unpacks(WorkerPlugin):
        """Unpacks a sweep's shipment on a worker, and removes it when the sweep has ended."""

        def __init__(self) -> None:
            self.name = name

        def setup(self, worker: Any) -> None:
            """Called on each worker."""
            unpack(name, packed)

        def teardown(self, worker: Any) -> None:
            """When the sweep has ended."""
            forget(name)

    return Unpacks()


def unpack(name: str, packed: Shipment) -> None:
    """Unpack a sweep's shipment in this process."""
    _unpacked[name] = Unpacked(packed)


def forget(name: str) -> None:
    """Remove the shipment of a sweep that has ended."""
    here = _unpacked.pop(name, None)
    if here is not None:
        here.close()


def _run_row(name: str, base: int, values: Mapping[str, str]) -> dict[str, Any]:
    """Run a row: its outcome as plain data."""
    return _unpacked[name].run(base, values).to_dict()
