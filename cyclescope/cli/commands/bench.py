"""`cyclescope bench`: experiments run with progress on a terminal, their results as files."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from threading import Thread

import click

from cyclescope import bench, experiments
from cyclescope.bench import costs, explaining, planning, result_files
from cyclescope.bench.forecast import Forecast
from cyclescope.bench.kept_runs import KeptRuns
from cyclescope.bench.planning import Job
from cyclescope.bench.results import ExperimentResult
from cyclescope.bench.rows import RunRecord
from cyclescope.board.description.overrides import parse_set
from cyclescope.cli import bench_progress, completions, uncertain_bench
from cyclescope.cli.commands import sensitivity as sensitivity_command
from cyclescope.cli.commands import suite as suite_command
from cyclescope.cli.options.runs import again_option, jobs_option
from cyclescope.cli.tables import bench_summary
from cyclescope.cli.tables import experiment as experiment_tables
from cyclescope.cli.tables import run as tables
from cyclescope.errors import UsageError
from cyclescope.host import interrupts, outputs, processors, terminal
from cyclescope.host.interrupts import Held, Interrupted
from cyclescope.host.outputs import AnyPath
from cyclescope.sweeps.uncertainty import LEAST_SAMPLES

# The files in the folder of --out, and its folder for flame graphs.
FILES = JSON, NOTES, CSV, REPORT = "results.json", result_files.NOTES, "results.csv", "report.html"
PROFILES = "profiles"


@click.command("bench")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completions.benches)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE",
    help="Set a board property or a setting of the app.",
)
@click.option("--quick", is_flag=True, help="Shorten runs whose rows have no published value.")
@click.option(
    "--explain",
    is_flag=True,
    help=(
        "Make all runs, each with its waits and a profile (by default, one run of "
        "each experiment has them)."
    ),
)
@click.option(
    "--all", "with_extra", is_flag=True, help="Make all runs, including those of larger sweeps."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    metavar="DIR",
    help=f"Output folder: {', '.join(FILES)}, and flame graphs in {PROFILES}/.",
)
@click.option(
    "--json", "json_file", metavar="FILE|-", help="Also write the rows as JSON to this file."
)
@click.option(
    "--no-profiles",
    is_flag=True,
    help="Do not make flame graphs (faster).",
)
@click.option(
    "--keep-disks",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep the disk image of each failed run.",
)
@click.option(
    "--sensitivity",
    "measures_sensitivity",
    is_flag=True,
    help=(
        "Measure how published cells depend on each assumed or calibrated value: sensitivity.csv."
    ),
)
@click.option(
    "--uncertainty",
    "samples",
    type=click.IntRange(LEAST_SAMPLES, 100_000),
    is_flag=False,
    flag_value=100,
    metavar="[SAMPLES]",
    help=("Measure the range of published cells over all assumed values: uncertainty.csv."),
)
@click.option(
    "--elfs",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Programs of pqm4, coremark or embench that you built.",
)
@click.option(
    "--board",
    help="With --elfs, the board of all programs [default: by the addresses of each].",
    shell_complete=completions.boards,
)
@click.option(
    "--limit", metavar="TIME", help="With --elfs, limit of simulated time for each program: 100s."
)
@jobs_option
@again_option
def bench_command(
    names: tuple[str, ...],
    sets: tuple[str, ...],
    quick: bool,
    explain: bool,
    with_extra: bool,
    out: Path,
    json_file: str | None,
    no_profiles: bool,
    keep_disks: Path | None,
    measures_sensitivity: bool,
    samples: int | None,
    elfs: Path | None,
    board: str | None,
    limit: str | None,
    jobs: int | None,
    again: bool,
) -> int:
    """Run experiments and compare them with published numbers.

    Without NAME, all experiments run, as far as published numbers need it. One run of each
    experiment is explained by its waits and its profile; --explain makes and explains all runs.
    Results are cached until something that they depend on changes.
    `cyclescope show` prints the tables. For pqm4, coremark and embench, you
    build the programs, and --elfs names their folder; without --elfs, the command prints how to
    get them. Ctrl-C, SIGTERM and SIGHUP stop the bench; results of finished runs are written.
    """
    threads = jobs or processors.count()
    if (elfs, board, limit) != (None, None, None):
        others = quick, explain, with_extra, no_profiles, keep_disks, measures_sensitivity, samples
        if elfs is None or again or any(others):
            raise UsageError("--elfs only takes --board, --limit, --set, --out, --json and --jobs")
        overrides = dict(map(parse_set, sets))
        given = suite_command.Given(elfs, board, overrides, out, json_file, threads, limit)
        return suite_command.run(suite_command.chosen(names), given)
    wanted = suite_command.without_suites(names, to_stderr=json_file == "-")
    if names and not wanted:
        return 0
    if measures_sensitivity or samples is not None:
        beside = sets, quick, explain, with_extra, json_file, no_profiles, keep_disks, again
        _check_alone(measures_sensitivity, samples, any(beside))
        if samples is not None:
            return uncertain_bench.run(experiments.select(wanted), out, threads, samples)
        return sensitivity_command.run(experiments.select(wanted), out, threads)
    changes = list(map(parse_set, sets))
    whole = planning.plan(experiments.select(wanted), changes, quick, with_extra)
    planned = _chosen(whole, explain, every=bool(names) or with_extra)
    own_json = None if json_file == "-" or _is_in(out, json_file) else json_file
    _check_places(out, own_json, keep_disks, dict(changes))
    _check_profiles(out, () if no_profiles else planned)
    recorded = bench.Recorded(profiles=not no_profiles, moments=True)
    before = None if again else KeptRuns(planned, recorded)
    known = Forecast(planned, costs.load(), threads, before)
    # the report's modules are imported while the runs work
    Thread(target=import_module, args=("cyclescope.report.page",), daemon=True).start()
    with interrupts.held_back() as held:
        with bench_progress.shown(planned, known, threads) as watch:
            following = bench.Following(watch.started, watch.built, watch.finished)
            records = bench.run_jobs(
                planned, threads, following, keep_disks, held.stop, known.costs, recorded, before
            )
        results = bench.tabulate(planned, records, _unmade(whole, planned))
        saved = _write(results, out, own_json)
        costs.keep(watch.took)
        with terminal.shown(held.number is not None):
            report = out / REPORT if saved else None
            took = bench_summary.Took(watch.elapsed_s, known.expected_s, known.kept)
            _say(results, report, took, rows_to_stdout=json_file == "-")
    _raise_if_cut_short(held, records)
    return 0 if saved and not any(result.failures for result in results) else 1


def _say(
    results: list[ExperimentResult],
    report: Path | None,
    took: bench_summary.Took,
    rows_to_stdout: bool,
) -> None:
    """The last screen; all tables if the report could not be saved."""
    screen = tables.console(stderr=rows_to_stdout)
    if report is None:
        # the results are not lost
        screen.print(*map(experiment_tables.experiment_table, results))
    screen.print(bench_summary.screen(results, report, took))
    if rows_to_stdout:
        sys.stdout.write(result_files.to_json(results))


def _chosen(whole: list[Job], explain: bool, every: bool) -> list[Job]:
    """The jobs to run, each with its kind of explanation."""
    if explain:
        return whole
    return explaining.marked(whole) if every else explaining.narrowed(whole)


def _unmade(whole: Sequence[Job], planned: Sequence[Job]) -> Counter[str]:
    """The number of runs of each experiment that have no job."""
    made = {(job.experiment.name, job.run.board, job.configured.label) for job in planned}
    return Counter(
        job.experiment.name
        for job in whole
        if (job.experiment.name, job.run.board, job.configured.label) not in made
    )


def _check_alone(measures_sensitivity: bool, samples: int | None, with_others: bool) -> None:
    """Raises `UsageError` for options that a measurement with its own runs does not take."""
    if with_others or (measures_sensitivity and samples is not None):
        named = "--uncertainty" if samples is not None else "--sensitivity"
        raise UsageError(f"{named} makes its own runs: it only takes --out and --jobs")


def _raise_if_cut_short(held: Held, records: Sequence[RunRecord | None]) -> None:
    """Raises `Interrupted` if a signal came before all runs had ended."""
    done = sum(record is not None for record in records)
    if held.number is not None and done < len(records):
        message = f"interrupted by {held.name}: {done} of {len(records)} runs are finished"
        raise Interrupted(held.number, message)


def _is_in(out: Path, json_file: str | None) -> bool:
    """Whether --json names the file that --out writes anyway."""
    return json_file is not None and outputs.is_same(json_file, out / JSON)


def _check_places(
    out: Path, json_file: str | None, keep_disks: Path | None, changes: dict[str, str]
) -> None:
    """Raises `OutputError` if results can't be saved at the user's paths."""
    for folder in filter(None, (out, keep_disks)):
        outputs.check_folder(folder)
    places = {f"{name} of --out": out / name for name in FILES}
    images = [value for path, value in changes.items() if path.endswith(bench.IMAGE) and value]
    outputs.check_outputs(
        {**places, "--json": json_file}, dict.fromkeys(images, "the image of a chip"), folder=out
    )


def _check_profiles(out: Path, planned: Sequence[Job]) -> None:
    """Raises `OutputError` if flame graphs can't be saved, or would replace files of others."""
    if planned:
        from cyclescope.report import profiles

        outputs.check_folder(out / PROFILES)
        profiles.check(out / PROFILES, [job.profile_name for job in planned])


def _write(results: list[ExperimentResult], out: Path, json_file: str | None) -> bool:
    """Write the files; whether all of them could be written."""
    from cyclescope import report
    from cyclescope.report import profiles

    rows = result_files.to_json(results)
    files: dict[AnyPath, str] = {
        out / JSON: rows,
        out / NOTES: result_files.to_notes(results),
        out / CSV: result_files.to_csv(results),
        out / REPORT: report.render(results),
    }
    if json_file is not None:
        files[json_file] = rows
    graphs = profiles.files(results, out / PROFILES)
    # without a report, its graphs are of no use
    saved = outputs.save_all(files) and profiles.save(graphs)
    if saved:
        profiles.remove_others(out / PROFILES, graphs)
    return saved
