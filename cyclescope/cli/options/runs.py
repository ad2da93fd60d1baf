"""Options of commands that make many runs: limit, parallelism and cache."""

from __future__ import annotations

import click

run_limit_option = click.option(
    "--limit", metavar="TIME", help="Limit of simulated time for each run: 10s."
)

jobs_option = click.option(
    "--jobs", type=click.IntRange(1), help="Number of parallel runs [default: one per processor]."
)

again_option = click.option("--again", is_flag=True, help="Repeat runs whose results are cached.")
