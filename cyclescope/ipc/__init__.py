"""`cyclescope ipc`: the tests of the RPMsg report from the host, on a real port or a virtual board.

`protocol` has the messages on the port, `link` the port with its clock, `client` runs tests over a
link; `virtual` is a board with a tty for the host, `server` offers that as a pseudo-terminal,
`clock` gives the board's time to a client.
"""
