"""TCP ports of this machine that a command opens."""

from __future__ import annotations

import ipaddress
import os
import socket

from cyclescope.errors import UsageError


def listening(host: str, port: int, named: str, loopback_only: str | None = None) -> socket.socket:
    """A socket that listens at a port; port 0 is any that is free.

    Raises `UsageError`, which says how the port was `named`, if it can't be opened; and without
    opening it if others could reach it, where `loopback_only` says what to do about that.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if loopback_only is not None and not _is_loopback(str(address[0])):
            raise UsageError(f"{named}: {loopback_only}")
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError, OverflowError) as error:
        number = getattr(error, "errno", None)
        # create_server's own text has the address once more
        if isinstance(number, int) and not isinstance(error, socket.gaierror):
            reason = os.strerror(number)
        else:
            reason = getattr(error, "strerror", str(error))
        raise UsageError(f"{named}: {reason}") from None


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback
