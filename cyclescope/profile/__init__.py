"""Profiles: each cycle of a run is charged to a call path, an instruction and a cause.

`model` has the data, `building` makes it from the engine's data, with inlined functions as separate
frames. `tables` sums by function, line, file, task or address, `calls` has the calls of one
function and interrupts, `annotation` puts cycles beside source and disassembly. The other modules
write a profile for other programs: `speedscope`, `collapsed`, `callgrind`, `pprof`. Nothing here
knows how a board is described or run.
"""
