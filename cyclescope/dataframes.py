"""Rows as data frames of pandas or polars, neither of which the package needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars

Row = dict[str, Any]


def dataframe(rows: list[Row], columns: list[str] | None = None) -> pandas.DataFrame:
    """Rows as a pandas DataFrame. Raises `ImportError`, saying what to install, without pandas."""
    try:
        import pandas
    except ImportError as absent:
        raise ImportError("pandas is not installed: pip install 'cyclescope[pandas]'") from absent
    return pandas.DataFrame(rows, columns=columns)


def chosen(
    rows: list[Row], columns: list[str], use_polars: bool
) -> pandas.DataFrame | polars.DataFrame:
    """Rows as a DataFrame of polars or pandas. Raises `ImportError`, saying what to install."""
    if not use_polars:
        return dataframe(rows, columns)
    try:
        import polars
    except ImportError as absent:
        raise ImportError("polars is not installed: pip install 'cyclescope[polars]'") from absent
    names = {name: [row[name] for row in rows] for name in columns}
    return polars.DataFrame(names, strict=False)
