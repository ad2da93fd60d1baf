"""The command line as a separate process for each call, without the time of its imports.

A server has imported the package once; each call is a fork of it. So a call has its own standard
streams, folder, environment, signals and end, like `python -m cyclescope`, in some milliseconds.
Tests of a process's start itself start a new one (`sys.executable`).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Only some commands need these, and they take long to import: a call that does imports them itself.
_LEFT_TO_CALLS = ("cyclescope.testing", "cyclescope.__main__", "cyclescope.dataframes")
# Modules of a command that few others import: imported before the first call of that command.
_OF_COMMANDS = {"sweep": ("pandas", "pyarrow.parquet"), "doctor": ("pandas", "distributed")}
_MESSAGE_BYTES = 1 << 20


@dataclass
class WarmStart:
    """A server of calls; it ends with the process that made it, or by `close`.

    `cpu_s` is the processor time of all calls up to now, in seconds.
    """

    cpu_s: float = 0.0
    _socket: socket.socket | None = None
    _server: subprocess.Popen[bytes] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        timeout_s: float,
        most_file_bytes: int | None = None,
        bounds: tuple[int, int] | None = None,
    ) -> tuple[int, bytes, bytes]:
        """Status, standard output and standard error of a call; a signal's number is negative.

        With `most_file_bytes` no file gets longer; `bounds` are bytes of memory, beyond what has
        been imported, and seconds of processor time. Raises `TimeoutError` if it did not end in
        time.
        """
        with self._lock, contextlib.ExitStack() as opened:
            streams = [os.pipe() for _ in range(2)]
            readers = [opened.enter_context(os.fdopen(reader, "rb")) for reader, _ in streams]
            request = [list(arguments), str(folder), dict(environment), timeout_s]
            request += [most_file_bytes, bounds]
            server = self._connected()
            message = json.dumps(request).encode()
            header = len(message).to_bytes(4, "little")
            socket.send_fds(server, [header], [writer for _, writer in streams])
            server.sendall(message)
            for _, writer in streams:
                os.close(writer)
            errors: list[bytes] = []
            other = threading.Thread(target=lambda: errors.append(readers[1].read()))
            other.start()
            output = readers[0].read()
            other.join()
            status, cpu_s = json.loads(server.recv(_MESSAGE_BYTES))
            self.cpu_s += cpu_s
        if status == -signal.SIGALRM:
            raise TimeoutError(f"cyclescope {' '.join(arguments)}: not done after {timeout_s} s")
        return status, output, errors[0]

    def close(self) -> None:
        """End the server."""
        if self._socket is not None and self._server is not None:
            self._socket.close()
            self._server.wait()

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._socket, theirs = socket.socketpair()
            with theirs:
                command = [sys.executable, __file__, str(theirs.fileno())]
                # a fork lacks the threads that NumPy's and Arrow's libraries would start
                threads = {"OPENBLAS_NUM_THREADS": "1"}
                threads |= {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
                environment = os.environ | threads
                self._server = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=environment
                )
        return self._socket


def _serve(requests: socket.socket) -> None:
    """Answer calls until no client is left."""
    _import_all()
    while True:
        header, descriptors, _, _ = socket.recv_fds(requests, 4, 2)
        if not header:
            return
        message = b""
        while len(message) < int.from_bytes(header, "little"):
            message += requests.recv(_MESSAGE_BYTES)
        arguments, *others = json.loads(message)
        for name in _OF_COMMANDS.get("".join(arguments[:1]), ()):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        child = os.fork()
        if child == 0:
            requests.close()
            _run(arguments, *others, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status, usage = os.wait4(child, 0)
        answer = [os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime]
        requests.sendall(json.dumps(answer).encode())


def _run(
    arguments: list[str],
    folder: str,
    environment: dict[str, str],
    timeout_s: float,
    most_file_bytes: int | None,
    bounds: tuple[int, int] | None,
    descriptors: list[int],
) -> None:
    """Be the command line; never returns."""
    status = 1
    try:
        signal.setitimer(signal.ITIMER_REAL, timeout_s)
        if most_file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_file_bytes, most_file_bytes))
        if bounds is not None:
            _confine(*bounds)
        for number, descriptor in enumerate(descriptors, start=1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["cyclescope", *arguments]
        from cyclescope.cli import main

        main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _confine(memory_bytes: int, cpu_s: int) -> None:
    """Have this process end if it takes more memory or processor time than allowed."""
    has_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most_bytes = has_bytes + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _import_all() -> None:
    """Import the package, read boards and firmware, and draw a page, so that no call has to."""
    import cyclescope

    for found in pkgutil.walk_packages(cyclescope.__path__, "cyclescope."):
        if not found.name.startswith(_LEFT_TO_CALLS):
            with contextlib.suppress(ImportError):
                importlib.import_module(found.name)
    from cyclescope import resources
    from cyclescope.board.description import trees
    from cyclescope.firmware.mentions import mentions
    from cyclescope.report import render

    # a tree names its files as they are seen from the folder, and calls have other ones than this
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in trees.shipped_boards():
            trees.board_tree(name)
    for source in resources.firmware().rglob("*.[chS]"):
        mentions(source.read_bytes())
    # compiles the templates that all pages have
    render([])


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
