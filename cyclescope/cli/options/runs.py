"""Options of commands that make many runs: how long each may be, and how they are made."""

from __future__ import annotations

import click

run_limit_option = click.option(
    "--limit", metavar="TIME", help="The most simulated time of a run: 10s."
)

jobs_option = click.option(
    "--jobs", type=click.IntRange(1), help="Runs at a time [default: one a core]."
)

again_option = click.option("--again", is_flag=True, help="Make runs that were made before again.")
