"""The user's machine: files, the terminal, signals, and what must not stay behind there.

`inputs` reads what the user names, `outputs` writes it. `kept` is for files of the cache,
`leftovers` for scratch folders and programs that were started. Nothing here knows boards.
"""
