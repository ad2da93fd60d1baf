"""Registers of a Python device: offset, reset value, access, and hooks for accesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from cyclescope.errors import UsageError

_ACCESSES = ("rw", "ro", "wo", "w1c", "rc")
_WORD = 0xFFFF_FFFF

Hook = TypeVar("Hook", bound=Callable[..., Any])


class Register:
    """A register of 32 bits, as an attribute of a `Device`: its value, an int.

    `offset` is in bytes from the start of the node's range, a multiple of 4. `reset` is the value
    after reset, `mask` has the bits that firmware can write. `access` is "rw", "ro" (it can't be
    written), "wo" (it reads 0), "w1c" (writing a 1 clears the bit) or "rc" (a read clears it). Byte
    and half-word accesses affect their part of it.

    Raises `UsageError` for an invalid offset, value or access.
    """

    def __init__(
        self, offset: int, *, reset: int = 0, access: str = "rw", mask: int = _WORD
    ) -> None:
        if access not in _ACCESSES:
            raise UsageError(f"access must be one of {', '.join(_ACCESSES)}, not {access!r}")
        if offset < 0 or offset % 4 or not 0 <= reset <= _WORD or not 0 <= mask <= _WORD:
            raise UsageError("the offset must be a multiple of 4, and reset and mask have 32 bits")
        self.offset = offset
        self.reset = reset
        self.access = access
        self.mask = mask
        self.name = ""
        self._read: Callable[[Any], int | None] | None = None
        self._write: Callable[[Any, int], None] | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, device: None, owner: type) -> Register: ...
    @overload
    def __get__(self, device: object, owner: type) -> int: ...
    def __get__(self, device: object | None, owner: type) -> Any:
        return self if device is None else device.__dict__.get(self.name, self.reset)

    def __set__(self, device: object, value: int) -> None:
        device.__dict__[self.name] = value & _WORD

    def on_read(self, hook: Hook) -> Hook:
        """A decorator: the method `hook(self)` is called before a read; it may return the value."""
        self._read = hook
        return hook

    def on_write(self, hook: Hook) -> Hook:
        """A decorator: the method `hook(self, value)` is called after a write of `value`."""
        self._write = hook
        return hook

    def read_by_firmware(self, device: object) -> int:
        """The value of a firmware read, with its side effects."""
        given = self._read(device) if self._read else None
        held: int = self.__get__(device, type(device))
        value = held if given is None else given
        if self.access == "rc":
            self.__set__(device, 0)
        return 0 if self.access == "wo" else value

    def write_by_firmware(self, device: object, value: int) -> None:
        """A firmware write of all 32 bits, with its side effects."""
        held: int = self.__get__(device, type(device))
        if self.access == "w1c":
            self.__set__(device, held & ~(value & self.mask))
        elif self.access not in ("ro", "rc"):
            self.__set__(device, held & ~self.mask | value & self.mask)
        if self._write:
            self._write(device, value)
