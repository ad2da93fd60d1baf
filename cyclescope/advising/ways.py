"""Other ways to build a program of an experiment: its app's settings, and the compiler's flags.

An app states which values of a setting that keeps its work the same are worth a try, and their cost
(`advice` in its `app.toml`).
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclescope.advising.whatifs import WhatIf
from cyclescope.bench.planning import Job
from cyclescope.firmware import load_app
from cyclescope.sweeps.targets import FLAGS

_COMPILER = {
    "-O2": ("compiled with -O2", "a debugger that jumps about"),
    "-O3": ("compiled with -O3", "larger code"),
    "-Os": ("compiled with -Os", "a debugger that jumps about"),
    "-falign-functions=32": ("functions at multiples of 32 bytes", "some bytes between functions"),
    "-falign-functions=32 -falign-loops=16": (
        "functions at multiples of 32 bytes, loops of 16",
        "some bytes between functions, no-operations before loops",
    ),
}


def of_job(job: Job) -> Iterator[WhatIf]:
    """The advice of a run's app, and the flags that compilers offer."""
    app = load_app(job.run.app)
    now = job.configured.all_settings
    for name, kind in app.settings.items():
        for value in kind.advice.tries if kind.advice is not None else ():
            if kind.advice is not None and value != now.get(name):
                path = f"{app.name}.{name}"
                yield WhatIf(
                    f"{name.replace('_', ' ')}: {value} instead of {now.get(name)}",
                    kind.advice.takes,
                    f"--set {path}={value}",
                    changes={path: str(value)},
                )
    if app.prebuilt is None:
        for flags, (what, takes) in _COMPILER.items():
            yield WhatIf(what, takes, f"CFLAGS += {flags}", changes={FLAGS: flags})
