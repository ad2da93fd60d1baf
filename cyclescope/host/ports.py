"""TCP ports of this machine that a command opens."""

from __future__ import annotations

import ipaddress
import os
import socket

from cyclescope.errors import UsageError


def listening(host: str, port: int, named: str, loopback_only: str | None = None) -> socket.socket:
    """A socket that listens at a port; port 0 is any free port.

    Raises `UsageError`, with the user's name `named` of the port, if it can't be opened. If
    `loopback_only` is given, it is the message for an address that other machines can reach, which
    is not opened.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if loopback_only is not None and not _is_loopback(str(address[0])):
            raise UsageError(f"{named}: {loopback_only}")
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError, OverflowError) as error:
        number = getattr(error, "errno", None)
        # create_server's own text repeats the address
        if isinstance(number, int) and not isinstance(error, socket.gaierror):
            reason = os.strerror(number)
        else:
            reason = getattr(error, "strerror", str(error))
        raise UsageError(f"{named}: {reason}") from None


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback
