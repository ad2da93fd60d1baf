"""Fuzzing: inputs made at random, run in worker processes under a watchdog (`make fuzz`).

An input is plain data (`inputs`): what a target needs, no more, so that a file of it shows again
what happened. A target (`targets`) makes inputs, fresh ones or from its part of the corpus, and
runs them; it raises `MisbehaviourError` for what must never be. `driver` starts workers and watches
them: one that dies or takes too long has its input kept as a finding, and is started again.

`corpus/` holds inputs that each found something once, or are good to begin from; `make test` runs
all of them. `python -m fuzz --help`, with `tests` on the path, has the options.
"""
