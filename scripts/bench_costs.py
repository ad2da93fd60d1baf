"""cyclescope/data/bench-costs.json: what the bench's runs take on the host that this runs on.

python scripts/bench_costs.py, after a `make bench` on a quiet machine. The table gives hosts that
never ran the bench an order of the runs and an idea of how long it takes. Results don't depend on
it.
"""

import json
from pathlib import Path

from cyclescope import experiments, resources
from cyclescope.bench import costs, planning


def main() -> None:
    """Take the runs of the bench as it is from the cache's own table."""
    known = json.loads((resources.cache() / resources.bench_costs().name).read_text())
    keys = [costs.key(job) for job in planning.plan(experiments.select(()))]
    shipped = Path(__file__).parent.parent / "cyclescope" / "data" / "bench-costs.json"
    table = {key: round(known[key], 2) for key in sorted(keys)}
    shipped.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


main()
