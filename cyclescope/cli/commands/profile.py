"""`cyclescope profile`: the cycles of a run by function, line, file, task or address."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from cyclescope.board.results import RunResult
from cyclescope.cli.colour import no_color_option
from cyclescope.cli.options.groups import TakesArguments
from cyclescope.cli.profiled_run import GROUPS, ProfiledRun, exporter, profiled_run_options
from cyclescope.errors import UsageError
from cyclescope.host.outputs import opened, write_text
from cyclescope.profile.profile import Profile
from cyclescope.profile.tables import WAITED

_GROUPS = {
    **GROUPS,
    "Output": ("by", "top", "functions", "by_cause", "waits", "quiet", "no_color"),
    "Files": ("flame", "speedscope", "collapsed", "callgrind", "pprof", "json_file"),
}


@click.command("profile", cls=TakesArguments, groups=_GROUPS)
@click.argument("elf", type=click.Path(path_type=Path))
@profiled_run_options
@click.option(
    "--by",
    type=click.Choice(["function", "line", "file", "task", "address"]),
    default="function",
    show_default=True,
    help="Sum cycles by this.",
)
@click.option(
    "--top",
    type=click.IntRange(1, 1_000_000),
    default=20,
    show_default=True,
    metavar="N",
    help="Show the N entries with the most own cycles.",
)
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="FUNCTION",
    help=("Also show how long the calls of a function took; CORE:FUNCTION for another core."),
)
@click.option("--cause", "by_cause", is_flag=True, help="Show all causes of cycles, one per line.")
@click.option(
    "--waits",
    is_flag=True,
    help="Also show what each function, file or task waited for (slower).",
)
@no_color_option
@click.option("--flame", metavar="FILE.html", help="Write a flame graph as an HTML page.")
@click.option("--speedscope", metavar="FILE", help="Write a file for speedscope.")
@click.option(
    "--collapsed",
    metavar="FILE",
    help="Write collapsed stacks; --cause adds causes as innermost frames.",
)
@click.option("--callgrind", metavar="FILE", help="Write a file for KCachegrind.")
@click.option("--pprof", metavar="FILE", help="Write a file for pprof.")
@click.option("--json", "json_file", metavar="FILE|-", help="Write the profile as JSON.")
def profile_command(
    elf: Path,
    options: ProfiledRun,
    by: str,
    top: int,
    functions: tuple[str, ...],
    by_cause: bool,
    waits: bool,
    json_file: str | None,
    **files: str | None,
) -> int:
    """Run a firmware ELF and show where its cycles went.

    Nothing is sampled: each cycle of each core is charged to a call path, an instruction and a
    cause, and profiling does not change the number of cycles. Arguments after -- are passed to the
    firmware. The exit status is 0 if the firmware ended, with any status of its own, or reached the
    limit.
    """
    if waits and by not in WAITED:
        others = f"{', '.join(WAITED[:-1])} or {WAITED[-1]}"
        raise UsageError(f"--waits are recorded by calls, not by {by}: give --by {others}")
    on_stdout = json_file == "-"
    outputs = {f"--{name}": path for name, path in files.items()}
    outputs["--json"] = None if on_stdout else json_file

    def show(result: RunResult, profile: Profile) -> None:
        _write(profile, by_cause, files)
        if json_file is not None:
            _write_json(json_file, profile, result, by, functions)
        from cyclescope.cli.tables import profile as profile_tables
        from cyclescope.cli.tables import run as tables  # imported while the firmware ran

        screen = tables.console(stderr=on_stdout)
        screen.print(
            profile_tables.profile(result, profile, by, top, by_cause, functions, screen.width)
        )

    loaded = options.load(elf)
    return options.run(
        loaded,
        functions,
        outputs,
        show,
        to_stderr=on_stdout,
        waits=waits,
        call_sites=files["callgrind"] is not None,
    )


def _write(profile: Profile, by_cause: bool, files: dict[str, str | None]) -> None:
    """Write the requested files; imports only their modules. Raises `OutputError`."""
    if files["flame"]:
        from cyclescope.report.flame import flame_page

        write_text(files["flame"], flame_page(profile, exporter()))
    if files["speedscope"]:
        from cyclescope.profile.speedscope import speedscope

        write_text(files["speedscope"], speedscope(profile, exporter()))
    if files["collapsed"]:
        from cyclescope.profile.collapsed import collapsed

        _write_lines(files["collapsed"], collapsed(profile, by_cause))
    if files["callgrind"]:
        from cyclescope.profile.callgrind import callgrind

        _write_lines(files["callgrind"], callgrind(profile, exporter()))
    if files["pprof"]:
        from cyclescope.profile.pprof import pprof

        with opened(files["pprof"], "wb") as file:
            file.write(pprof(profile, exporter()))


def _write_lines(path: str, lines: Iterable[str]) -> None:
    with opened(path, "w") as file:
        file.writelines(lines)


def _write_json(
    path: str, profile: Profile, result: RunResult, by: str, functions: tuple[str, ...]
) -> None:
    from cyclescope.profile.plain import plain

    data: dict[str, Any] = plain(profile, by, functions) | {"outcome": result.outcome}
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        write_text(path, text)
