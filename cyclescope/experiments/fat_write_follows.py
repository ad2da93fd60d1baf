"""What follows from the runs of fat-write: f_write's operations, counted, and its time by cause.

The document names both as further work. Counts are calls of the program's own functions, as the
engine sees them: the program is the same with and without. The document's counts were calculated
from its occurrences for its table in `published/` (`derived_*` there).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cyclescope.bench import published
from cyclescope.bench.rows import DERIVED, Row
from cyclescope.bench.views import Pivot, Words
from cyclescope.board.results import Window
from cyclescope.experiments.answers import listed

TABLE = "fatfs_write_nios2"
# Calls that leave a part of a sector for the next call: the order of writes matters for them.
ODD_SIZES = (768, 1280, 1636)

# The timed function, and the one function below it whose reads and writes are those of the FAT.
LOOP, _CHAIN = "write_file", "create_chain"
_CALL, _LOOK_UP, _COPY = "f_write", "get_fat", "memcpy"
_READ, _WRITE, _WRITTEN = "disk_read", "disk_write", "sd_write"
_BLOCK, _STOP = "sd_xmit_block", "sd_xmit_stop"
WATCHED = (_CALL, _CHAIN, _LOOK_UP, _COPY, _READ, _WRITE, _WRITTEN, _BLOCK, _STOP)
WINDOWS = (LOOP, _CHAIN)

# The labels of the rows that follow, by metric.
_COUNT_WORDS = {
    "f_write_calls": "calls of f_write",
    "clusters": "clusters",
    "fat_lookups": "FAT look-ups",
    "multi_writes": "multi-block writes",
    "single_writes": "single-block writes",
    "data_blocks": "data blocks",
    "fat_writes": "FAT and directory writes",
    "fat_reads": "FAT reads",
    "buffer_reads": "reads into the file's buffer",
    "copies": "copies into the file's buffer",
    "flushes": "flushes of the file's buffer",
    "extra_requests": "requests beyond 4096",
}
_SHARE_WORDS = {
    "xmit_share": "xmit share",
    "crc_share": "CRC share",
    "busy_share": "busy share",
    "copies_share": "copies share",
}
_IDEAL_REQUESTS = 4096

_CALL_WORDS = Words("transfer", "call", form="{} B")
_ORDER_WORDS = Words(
    "write_order", "writes in", (("r006", "R0.06's order"), ("current", "current order"))
)
_CRC_WORDS = Words("crc", "CRC", (("computed", "computed"), ("off", "none")))
_COUNTS = Pivot(
    "What f_write does, beside what follows from the document's occurrences",
    ("transfer",),
    ("metric",),
    values=True,
    words=(_CALL_WORDS, Words("metric", "count", tuple(_COUNT_WORDS.items()))),
)
_SHARES = Pivot(
    "Share of the time, %",
    ("write_order", "transfer"),
    ("metric",),
    values=True,
    words=(_CALL_WORDS, _ORDER_WORDS, Words("metric", "share", tuple(_SHARE_WORDS.items()))),
    digits=3,
)
_RATES = Pivot(
    "Rate by how the driver handles CRCs, KiB/s",
    ("transfer",),
    ("crc",),
    values=True,
    words=(_CALL_WORDS, _CRC_WORDS),
    digits=4,
)


@dataclass(frozen=True)
class _Counted:
    """A count of a size's operations, and the table's key of the calculated one."""

    metric: str
    value: int
    key: str | None = None


# The tables of the rows that follow, by metric.
PIVOTS = {
    **dict.fromkeys(_COUNT_WORDS, _COUNTS),
    **dict.fromkeys(_SHARE_WORDS, _SHARES),
    "rate": _RATES,
}

# By the settings in which runs differ, then by size.
_Totals = Mapping[tuple[str, str], Mapping[int, Row]]


def rows(known: Sequence[Row]) -> Iterator[Row]:
    """Counts of what f_write does, shares of the time, and rates with and without CRCs."""
    totals = _totals(known)
    windows = {of: _windows(rows_of) for of, rows_of in totals.items()}
    old, new = windows.get(("r006", "computed"), {}), windows.get(("current", "computed"), {})
    for size, total in totals.get(("r006", "computed"), {}).items():
        if size in old and size in new:
            yield from _counts(total, old[size], new[size])
        requests = _of_same_call(known, total, "xmit_occurrences")
        if requests is not None and total.published is not None:
            beyond = requests.simulated - _IDEAL_REQUESTS
            theirs = _published(total, "summary_extra_requests")
            yield _following(total, "extra_requests", "calls", beyond, theirs)
    for (_, crc), rows_of in totals.items():
        if crc == "computed":
            yield from _shares(known, rows_of, windows)
    yield from _rates(totals)


def _totals(known: Sequence[Row]) -> _Totals:
    found: dict[tuple[str, str], dict[int, Row]] = {}
    for row in known:
        if row.metric == "total_time":
            of = (str(row.settings["write_order"]), str(row.settings["crc"]))
            # of several runs, the document's, or else the first
            sizes = found.setdefault(of, {})
            size = int(row.settings["transfer"])
            if size not in sizes or row.published is not None:
                sizes[size] = row
    return found


# ---- counts


@dataclass(frozen=True)
class _Windows:
    """The timed window of a size, and the calls of `create_chain` in it."""

    loop: Window
    chains: tuple[Window, ...]

    def calls(self, function: str) -> int:
        """How often a function ran."""
        return _calls(self.loop, function)

    def of_fat(self, function: str) -> int:
        """How often it ran for the FAT."""
        return sum(_calls(window, function) for window in self.chains)

    @property
    def copying_ps(self) -> int:
        """Time in copies."""
        sections = self.loop.cores[0].sections
        return sum(e.ps for one in sections if one.name == _COPY for e in one.stack)


def _calls(window: Window, function: str) -> int:
    return sum(one.calls for one in window.cores[0].sections if one.name == function)


def _windows(totals: Mapping[int, Row]) -> Mapping[int, _Windows]:
    """The windows of a run by size; empty if the engine kept only some of them."""
    result = next(iter(totals.values())).run.result
    kept = result.windows if result else ()
    loops = [window for window in kept if window.section == LOOP]
    chains = [window for window in kept if window.section == _CHAIN]
    if len(loops) != len(totals):
        return {}
    found = {}
    for size, loop in zip(totals, loops, strict=True):
        inside = tuple(one for one in chains if loop.begin_ps <= one.begin_ps < loop.end_ps)
        if len(inside) == _calls(loop, _CHAIN):
            found[size] = _Windows(loop, inside)
    return found


def _counts(total: Row, old: _Windows, new: _Windows) -> Iterator[Row]:
    """Counts in R0.06's order. A delayed flush copies once more, and may happen in the end."""
    fat_writes, multi = old.of_fat(_WRITTEN), old.calls(_STOP)
    copies = new.calls(_COPY)
    held = old.calls(_WRITE) - old.calls(_WRITTEN)
    flushes = old.calls(_COPY) - copies - held
    is_late = int(total.settings["transfer"]) in ODD_SIZES
    counted = (
        _Counted("f_write_calls", old.calls(_CALL), "derived_calls"),
        _Counted("clusters", old.calls(_CHAIN)),
        _Counted("fat_lookups", old.calls(_LOOK_UP)),
        _Counted("multi_writes", multi, "derived_multi_commands"),
        _Counted(
            "single_writes",
            old.calls(_WRITTEN) - fat_writes - multi,
            "derived_single_commands",
        ),
        _Counted("data_blocks", old.calls(_BLOCK) - fat_writes, "derived_data_blocks"),
        _Counted("fat_writes", fat_writes, "derived_fat_dir_writes"),
        _Counted("fat_reads", old.of_fat(_READ)),
        _Counted("buffer_reads", old.calls(_READ) - old.of_fat(_READ)),
        _Counted("copies", copies),
        _Counted("flushes", flushes, "derived_late_flushes" if is_late else None),
    )
    for one in counted:
        theirs = _published(total, one.key) if one.key else None
        yield _following(total, one.metric, "count", one.value, theirs)


# ---- shares and rates


def _shares(
    known: Sequence[Row],
    totals: Mapping[int, Row],
    windows: Mapping[tuple[str, str], Mapping[int, _Windows]],
) -> Iterator[Row]:
    """The shares of the program's own counter, and the share of copies that the engine measures."""
    keys = {"xmit": "xmit_percent", "CRC": "crc_percent", "busy": None}
    for size, total in totals.items():
        for part, key in keys.items():
            section = _of_same_call(known, total, f"{part.lower()}_time")
            if section is not None:
                share = round(section.simulated / total.simulated * 100, 3)
                theirs = _published(total, key) if key else None
                yield _following(total, f"{part.lower()}_share", "%", share, theirs)
        found = windows[str(total.settings["write_order"]), "computed"].get(size)
        if found is not None:
            whole_ps = found.loop.end_ps - found.loop.begin_ps
            share = round(found.copying_ps / whole_ps * 100, 4)
            yield _following(total, "copies_share", "%", share, None)


def _of_same_call(known: Sequence[Row], total: Row, metric: str) -> Row | None:
    same = (row for row in known if row.run is total.run and row.metric == metric)
    size = total.settings["transfer"]
    return next((row for row in same if row.settings["transfer"] == size), None)


def _rates(totals: _Totals) -> Iterator[Row]:
    """Rates do not depend on the file's size, as far as the calls are the same."""
    for crc in ("computed", "off"):
        for size, total in totals.get(("r006", crc), {}).items():
            kib = -(-int(total.settings["file_bytes"]) // size) * size / 1024
            theirs = _published(total, "derived_file_bytes")
            their_s = total.published
            published_rate = (
                round(theirs / 1024 / their_s, 3) if theirs and their_s is not None else None
            )
            rate = round(kib / total.simulated, 3)
            yield _following(total, "rate", "KiB/s", rate, published_rate)


def _published(total: Row, key: str) -> float | None:
    """The table's number for a size, if the row is of the document's run."""
    if total.published is None:
        return None
    where = {"kind": "fwrite", "transfer_bytes": total.settings["transfer"]}
    return published.load(TABLE).find(key, where)


def _following(total: Row, metric: str, unit: str, simulated: float, theirs: float | None) -> Row:
    words = _COUNT_WORDS | _SHARE_WORDS
    return total.following(
        metric=metric,
        label=f"{total.settings['transfer']} B {words.get(metric, metric)}",
        unit=unit,
        simulated=simulated,
        published=theirs,
        basis=DERIVED,
        timed=(),
        parts=(),
        pivot=PIVOTS[metric],
        sweeps=(),
        digits=None,
    )


# ---- in words


def findings(known: Sequence[Row]) -> Iterator[str]:
    """The part of copies, and the times of a driver without CRCs."""
    yield from _what_copies_take(known)
    yield from _without_crcs(known)


def _what_copies_take(known: Sequence[Row]) -> Iterator[str]:
    copies, busy, old_copies = (
        [
            row.simulated
            for row in known
            if row.metric == metric
            and row.settings["write_order"] == order
            and row.settings["transfer"] in ODD_SIZES
        ]
        for metric, order in (
            ("copies_share", "current"),
            ("busy_share", "r006"),
            ("copies_share", "r006"),
        )
    )
    reads = [row.simulated for row in known if row.metric == "buffer_reads"]
    if not len(copies) == len(busy) == len(old_copies) == len(ODD_SIZES):
        return
    yield (
        f"The document attributes the slowness of calls of {listed(ODD_SIZES)} bytes to copies. "
        f"They take {listed([f'{share:.2g}' for share in old_copies])} % of the time, and "
        f"{listed([f'{share:.2g}' for share in copies])} % in the current order of writes, where "
        f"the total is short; {listed([f'{share:.1f}' for share in busy])} % is waiting for the "
        f"card. FatFs reads {'no' if not any(reads) else sum(reads)} sector into the file's "
        "buffer, as the file only grows."
    )


def _without_crcs(known: Sequence[Row]) -> Iterator[str]:
    rates = {
        (str(row.settings["crc"]), int(row.settings["transfer"])): row.simulated
        for row in known
        if row.metric == "rate"
    }
    shown = (65536, 512, 768)
    if any((crc, size) not in rates for crc in ("computed", "off") for size in shown):
        return
    before, after = ([rates[crc, size] for size in shown] for crc in ("computed", "off"))
    yield (
        f"Without the driver's CRCs calls of {listed(shown)} bytes run at "
        f"{_rates_in_words(after)} KiB/s instead of {_rates_in_words(before)}: large calls wait "
        "for the processor, small and odd ones for the card."
    )


def _rates_in_words(rates: Sequence[float]) -> str:
    return listed([f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}" for rate in rates])
