"""`cyclescope ipc`: the tests of the RPMsg report from the host, on a real port or a virtual board.

`protocol` is what goes over the port, `link` the port with its clock, `client` runs tests over a
link; `virtual` is a board whose tty the host can write to, `server` offers that as a
pseudo-terminal, `clock` is how a client gets the board's time.
"""
