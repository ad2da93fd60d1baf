"""Two runs, and their differences: to the cycle, by function and cause."""

from cyclescope.comparing.differences import Comparison, compare
from cyclescope.comparing.runs import Run, of_result

__all__ = ["Comparison", "Run", "compare", "of_result"]
