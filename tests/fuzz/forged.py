"""Snapshots with other contents whose digest fits: only a forger makes them."""

from __future__ import annotations

import struct

_MASK, _FACTOR, _MIX = (1 << 64) - 1, 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
# Magic number, format and build; then the sizes of all and of the head, with the digest between.
_HEAD_BYTES = 8 + 4 + 16
_SUMS = struct.Struct("<QQQ")


def state_of(snapshot: bytes) -> bytes:
    """The machine's state in a snapshot."""
    return snapshot[_state_at(snapshot) :]


def with_state(snapshot: bytes, state: bytes) -> bytes:
    """The snapshot with another state and its digest."""
    head = snapshot[_HEAD_BYTES + _SUMS.size : _state_at(snapshot)]
    sums = _SUMS.pack(len(head) + len(state), _digest([head, state]), len(head))
    return snapshot[:_HEAD_BYTES] + sums + head + state


def _state_at(snapshot: bytes) -> int:
    return _HEAD_BYTES + _SUMS.size + int(_SUMS.unpack_from(snapshot, _HEAD_BYTES)[2])


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 64 - bits) & _MASK


def _mixed(number: int) -> int:
    for _ in range(2):
        number = (number ^ number >> 32) * _MIX & _MASK
    return number ^ number >> 32


def _digest(parts: list[bytes]) -> int:
    """The digest of `engine/engine/src/state/digest.rs`."""
    total = 0
    for part in parts:
        whole = len(part) // 8 * 8
        words = struct.unpack(f"<{whole // 8}Q", part[:whole])
        one = _mixed(len(part))
        other = _MASK ^ one
        for word in (*words, int.from_bytes(part[whole:], "little")):
            one = _rotated((one ^ word) * _FACTOR & _MASK, 29)
            other = _rotated(other + word & _MASK, 23) * _FACTOR & _MASK
        total = _mixed(total ^ _mixed(one ^ _rotated(other, 32))) * _FACTOR & _MASK
    return total
