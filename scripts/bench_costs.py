"""cyclescope/data/bench-costs.json: costs of the bench's runs, in units of this host.

python scripts/bench_costs.py, after `make bench` with empty caches, and `make bench
BENCH_FLAGS=--explain`, on an idle machine. `cyclescope/bench/calibration.py` measures the unit,
here and on the host that uses the table. The table gives hosts that never ran the bench an order of
the runs, and a forecast of the bench's time. Results don't depend on it.
"""

import json
from pathlib import Path

from cyclescope import experiments
from cyclescope.bench import calibration, costs, explaining, planning
from cyclescope.host import processors


def main() -> None:
    """Take the costs of the bench's current runs from the cache's own table."""
    known = costs.load().here
    unit_s = calibration.unit_s(processors.count())
    jobs = planning.plan(experiments.select(()))
    every = [*jobs, *explaining.marked(jobs)]
    wanted = {
        "runs": (known.runs, {costs.REPORT, *map(costs.key, every)}),
        "builds": (known.builds, set(map(costs.build_key, every))),
    }
    table = {
        kind: {name: round(took[name] / unit_s, 2) for name in sorted(names & took.keys())}
        for kind, (took, names) in wanted.items()
    }
    shipped = Path(__file__).parent.parent / "cyclescope" / "data" / "bench-costs.json"
    shipped.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


main()
