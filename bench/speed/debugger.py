"""What a debugger costs: a run that it holds and lets go on, and going back ten seconds."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from collections.abc import Callable

from record import say

from cyclescope import Board, firmware
from cyclescope._engine import Gdb

BOARD, APP = "kc705-axi-quad-spi", "coremark_like"
LIMIT_PS = 4 * 10**12
BACK_BOARD, BACK_APP = "nucleo-f411re", "shell"
BACK_PS = 10 * 10**12


def measure(pairs: int) -> None:
    """The same run with and without a debugger, in pairs; then back to a breakpoint at the start."""
    board = Board(BOARD).load(firmware.build_app(APP, BOARD, {"iterations": 1000}))
    ratios = []
    for _ in range(pairs):
        plain, held = _seconds(lambda: board.start().run(LIMIT_PS, None)), _held_seconds(board)
        ratios.append(plain / held)
    ratio = round(statistics.median(ratios), 2)
    back_s = round(_back_seconds(), 2)
    say(
        f"{APP} with GDB's protocol attached and running: {ratio} of the speed without; "
        f"{BACK_APP} on {BACK_BOARD} back {BACK_PS / 10**12:.0f} s to a breakpoint: {back_s} s",
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
        gdb = Gdb(server.fileno(), server.fileno())
        server.close()
        machine = board.start()
        self._run = threading.Thread(target=machine.run, args=(limit_ps, None), kwargs={"gdb": gdb})
        self._run.start()
        self.ask("QStartNoAckMode")

    def ask(self, packet: str) -> bytes:
        self._line.sendall(b"$%s#%02x" % (packet.encode(), sum(packet.encode()) % 256))
        answer = b""
        while answer.count(b"#") < 1 or len(answer) < answer.index(b"#") + 3:
            answer += self._line.recv(1 << 16)
        return answer.lstrip(b"+")

    def interrupt(self) -> None:
        self._line.sendall(b"\x03")
        self._line.recv(1 << 16)

    def end(self) -> None:
        self._line.sendall(b"$k#6b")
        self._line.close()
        self._run.join()


def _held_seconds(board: Board) -> float:
    client = _Client(board, LIMIT_PS)
    seconds = _seconds(lambda: client.ask("vCont;c"))
    client.end()
    return seconds


def _back_seconds() -> float:
    board = Board(BACK_BOARD).load(firmware.build_app(BACK_APP, BACK_BOARD, {}))
    main = next(addr for addr, _, name in board.functions("cpu0") if name == "main")
    client = _Client(board, BACK_PS)
    client.ask(f"Z0,{main:x},2")
    client.ask("vCont;c")
    # to the limit, which halts it
    client.ask("vCont;c")
    seconds = _seconds(lambda: client.ask("bc"))
    assert client.ask(f"p{15:x}").startswith(b"$" + main.to_bytes(4, "little").hex().encode())
    client.end()
    return seconds
