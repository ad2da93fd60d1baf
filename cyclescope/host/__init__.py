"""The user's machine: files, the terminal, signals, and the removal of temporary files.

`inputs` reads the user's files, `outputs` writes results. `kept` is for cached files, `leftovers`
for scratch folders and started programs. Nothing here knows boards.
"""
