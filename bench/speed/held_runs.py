"""The cost of a debugger: a run that it halts and resumes, and going back ten seconds."""

from __future__ import annotations

import contextlib
import socket
import statistics
import threading
import time
from collections.abc import Callable

from record import say

from cyclescope import Board, firmware
from cyclescope._engine import Gdb

BOARD, APP = "kc705-axi-quad-spi", "coremark_like"
# more rounds than any limit here leaves time for
ENDLESS = 100_000
PS_PER_S = 10**12


def measure(held_ps: int, back_ps: int, pairs: int) -> None:
    """Runs with and without a debugger, alternately; then back to a breakpoint near reset."""
    board = Board(BOARD).load(firmware.build_app(APP, BOARD, {"iterations": ENDLESS}))
    ratios = []
    for _ in range(pairs):
        plain = _seconds(lambda: board.start().run(held_ps, None))
        ratios.append(plain / _held_seconds(board, held_ps))
    ratio = round(statistics.median(ratios), 2)
    back_s = round(_back_seconds(board, back_ps), 2)
    say(
        f"{APP} with GDB's protocol attached and running: {ratio} of the speed without; "
        f"back {back_ps / PS_PER_S:g} s of it to a breakpoint near its start: {back_s} s",
        debugger_attached=ratio,
        debugger_back_s=back_s,
    )


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


class _Client:
    def __init__(self, board: Board, limit_ps: int) -> None:
        self._line, server = socket.socketpair()
        self._received = b""
        gdb = Gdb(server.fileno(), server.fileno())
        server.close()
        machine = board.start()
        self._run = threading.Thread(target=machine.hold, args=(gdb, limit_ps), daemon=True)
        self._run.start()
        self.ask("QStartNoAckMode")

    def ask(self, packet: str) -> bytes:
        self._line.sendall(b"$%s#%02x" % (packet.encode(), sum(packet.encode()) % 256))
        while True:
            end = self._received.find(b"#")
            if end < 0 or len(self._received) < end + 3:
                received = self._line.recv(1 << 16)
                if not received:
                    raise EOFError(f"the run has ended, and {packet} has no answer")
                self._received += received
                continue
            answer = self._received[: end + 3].lstrip(b"+")
            self._received = self._received[end + 3 :]
            # output of the run comes in between
            if not answer.startswith(b"$O") or answer.startswith(b"$OK"):
                return answer

    def end(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # the run has ended
            self._line.sendall(b"$k#6b")
        self._line.close()
        self._run.join()


def _held_seconds(board: Board, limit_ps: int) -> float:
    client = _Client(board, limit_ps)
    seconds = _seconds(lambda: client.ask("vCont;c"))
    client.end()
    return seconds


def _back_seconds(board: Board, limit_ps: int) -> float:
    main = next(addr for addr, _, name in board.functions("cpu0") if name == "main")
    client = _Client(board, limit_ps)
    client.ask(f"Z0,{main:x},4")
    client.ask("vCont;c")
    # to the limit, which halts it
    client.ask("vCont;c")
    seconds = _seconds(lambda: client.ask("bc"))
    assert client.ask(f"p{32:x}").startswith(b"$" + main.to_bytes(4, "little").hex().encode())
    client.end()
    return seconds
