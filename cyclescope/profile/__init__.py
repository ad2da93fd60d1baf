"""Where a run's cycles went: each of them charged to a call path, an instruction and a cause.

`model` has the data, `building` makes them of what the engine gives, with inlined functions as
frames of their own. `tables` adds up by function, line, file, task or address, `calls` looks at the
calls of one function and at interrupts, `annotation` puts cycles beside source and disassembly.
The other modules write a profile for programs that people have: `speedscope`, `collapsed`,
`callgrind`, `pprof`. Nothing here knows how a board is described or run.
"""
