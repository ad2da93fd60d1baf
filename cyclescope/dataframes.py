"""Rows as data frames of pandas or polars; the package requires neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars

Row = dict[str, Any]


def dataframe(rows: list[Row], columns: list[str] | None = None) -> pandas.DataFrame:
    """Rows as a pandas DataFrame. Raises `ImportError` with the install command."""
    try:
        import pandas
    except ImportError as absent:
        raise ImportError("pandas is not installed: pip install 'cyclescope[pandas]'") from absent
    return pandas.DataFrame(rows, columns=columns)


def chosen(
    rows: list[Row], columns: list[str], use_polars: bool
) -> pandas.DataFrame | polars.DataFrame:
    """Rows as a polars or pandas DataFrame. Raises `ImportError` with the install command."""
    if not use_polars:
        return dataframe(rows, columns)
    try:
        import polars
    except ImportError as absent:
        raise ImportError("polars is not installed: pip install 'cyclescope[polars]'") from absent
    names = {name: [row[name] for row in rows] for name in columns}
    return polars.DataFrame(names, strict=False)
