"""pqm4: post-quantum cryptography on a Cortex-M4, by the cycle counts that its programs print.

A program of pqm4 that measures speed prints pairs of lines, "keypair cycles:" and a number, and
ends what it prints with a line "#". A file's name has the scheme and the implementation.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import cache

from cyclescope.bench import published
from cyclescope.bench.rows import Row
from cyclescope.board.results import RunResult, Settings
from cyclescope.suites.suite import Reading, Reads, Suite

TABLES = {"nucleo-l4r5zi": "pqm4_nucleo_l4r5zi", "stm32f4-disco": "pqm4_stm32f4discovery"}
_NAME = re.compile(r"(?:mupq_(?:pqclean_)?)?crypto_(kem|sign)_([^_].*_.+)_speed", re.DOTALL)
_OPERATIONS = {"kem": ("keypair", "encaps", "decaps"), "sign": ("keypair", "sign", "verify")}
_CYCLES = re.compile(r"(\w+) cycles:")
_SPAN_OF = ("scheme", "implementation", "operation")
_MOSTLY_PERMILLE = 500
_DIGITS = re.compile(r"[0-9]{1,20}")
_KEYS_DIFFER = "ERROR KEYS"
# Schemes that write the signature over the signed message print this on hardware, too: the program
# signs in place, and its verification does the same work either way.
_NOT_VERIFIED = "ERROR Signature did not verify correctly!"
# after this line the program returns from main, to no valid address
_END = "\n#"


def identify(stem: str) -> Settings | None:
    """The kind, scheme and implementation in a file's name.

    Both may contain underscores: names of a published row take precedence, else the last part of
    the name is the implementation.
    """
    match = _NAME.fullmatch(stem)
    if match is None:
        return None
    parts = match[2].split("_")
    halves = [("_".join(parts[:at]), "_".join(parts[at:])) for at in range(len(parts) - 1, 0, -1)]
    scheme, implementation = next((half for half in halves if half in _published()), halves[0])
    return {"kind": match[1], "scheme": scheme, "implementation": implementation}


@cache
def _published() -> frozenset[tuple[str, str]]:
    """The schemes and implementations that any board has numbers of."""
    tables = map(published.load, TABLES.values())
    rows = (row for table in tables for row in table.distinct(("scheme", "implementation")))
    return frozenset((row["scheme"], row["implementation"]) for row in rows)


def cycles(console: str) -> dict[str, list[int]]:
    """The counts on a console, by operation in the order of first occurrence.

    A count that is not a number on its own line is left out.
    """
    found: dict[str, list[int]] = {}
    lines = [line.strip() for line in console.split("\n")]
    for line, following in itertools.pairwise(lines):
        match = _CYCLES.fullmatch(line)
        if match and _DIGITS.fullmatch(following):
            found.setdefault(match[1], []).append(int(following))
    return found


def reads(settings: Settings, result: RunResult) -> Reads:
    """The mean of each operation's counts; an error if one is missing or reported."""
    counts = cycles(result.console)
    wanted = _OPERATIONS[str(settings["kind"])]
    readings = tuple(_readings(settings, {name: counts.get(name, []) for name in wanted}))
    missing = [name for name in wanted if name not in counts]
    remark = _NOT_VERIFIED if _NOT_VERIFIED in result.console else ""
    if _KEYS_DIFFER in result.console:
        return Reads(readings, f"the program says: {_KEYS_DIFFER}")
    if missing:
        return Reads(readings, f"no cycle count of {', '.join(missing)} was printed", remark)
    return Reads(readings, remark=remark)


def _readings(settings: Settings, counts: Mapping[str, list[int]]) -> Iterator[Reading]:
    scheme, implementation = settings["scheme"], settings["implementation"]
    for operation, values in counts.items():
        if not values:
            continue
        where = {"scheme": scheme, "implementation": implementation, "operation": operation}
        mean = (2 * sum(values) + len(values)) // (2 * len(values))
        yield Reading(
            label=f"{scheme} {implementation} {operation}",
            metric="cycles",
            unit="cycles",
            value=mean,
            settings={**where, "executions": len(values)},
            key="mean",
            where=where,
        )


def kind_of(row: Row) -> str:
    """The class of a row's code, by what pqm4 publishes: its share of hashing, and its names.

    Implementations whose names begin with m4 have parts in assembly; the SHA-3 of all of them is in
    assembly, SHA-2 in C.
    """
    where = {name: row.settings[name] for name in _SPAN_OF if name in row.settings}
    found = published.load(TABLES.get(row.board, TABLES["nucleo-l4r5zi"]))
    share = found.find("hashing_permille", where) if len(where) == len(_SPAN_OF) else None
    if share is not None and share >= _MOSTLY_PERMILLE:
        return "hashing"
    return "assembly" if str(row.settings.get("implementation")).startswith("m4") else "C"


SUITE = Suite(
    name="pqm4",
    title="pqm4's post-quantum cryptography on a Cortex-M4",
    how="build the speed programs of github.com/mupq/pqm4 with its make for the platform "
    "nucleo-l4r5zi or stm32f4discovery; they are in its folder elf: "
    "cyclescope bench pqm4 --elfs DIR",
    tables=TABLES,
    files="crypto_..._speed.elf or .hex",
    identify=identify,
    reads=reads,
    limit="5000s",
    end=_END,
    span_of=_SPAN_OF,
    kind_of=kind_of,
    notes=(
        "Errors are against the mean of the hardware's executions. One execution of ours is one "
        "sample of theirs where time depends on random numbers: see their min and max. Built with "
        "more iterations, a program's mean is taken.",
        "nucleo-l4r5zi: the numbers of commit cc2c1b9; stm32f4-disco: those of commit 918f379, "
        "the last that were measured there. Other compilers than theirs (GCC 11.3.1) make other "
        "code of C.",
    ),
)
