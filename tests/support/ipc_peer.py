"""A pseudo-terminal with a peer in Python that answers as the report's firmware does, or worse."""

from __future__ import annotations

import os
import pty
import threading
import tty
from collections.abc import Callable

from cyclescope.ipc.protocol import CHECKED, COUNT, HEADER, PREAMBLE, crc16

# a peer's reaction when all bytes of a test are there: its answer, or None to hang up
Answer = Callable[[bytes], bytes | None]


def acknowledge(data: bytes) -> bytes:
    return COUNT.pack(len(data))


def acknowledge_with_crc(data: bytes) -> bytes:
    return CHECKED.pack(len(data), crc16(data[HEADER.size :]))


class Peer:
    """The peer, in a thread of its own while the context lasts.

    It takes `most_bytes` in all and then nothing any more.
    """

    def __init__(self, answer: Answer = acknowledge, most_bytes: int = 1 << 30) -> None:
        self._answer = answer
        self._left = most_bytes
        self.tests: list[bytes] = []
        self.crcs: list[int] = []

    def __enter__(self) -> Peer:
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        os.close(self._slave)
        self._thread.join()

    def _run(self) -> None:
        data = b""
        # a read fails when the last one at the other end has gone
        while self._left > 0:
            try:
                chunk = os.read(self._master, min(self._left, 496))
            except OSError:
                break
            self._left -= len(chunk)
            data += chunk
            if len(data) < HEADER.size:
                continue
            preamble, total, crc = HEADER.unpack(data[: HEADER.size])
            assert preamble == PREAMBLE
            if len(data) < total:
                continue
            self.tests.append(data)
            self.crcs.append(crc)
            answer = self._answer(data)
            data = b""
            if answer is None:
                break
            os.write(self._master, answer)
        if self._left > 0:
            os.close(self._master)
