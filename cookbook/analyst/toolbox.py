"""The tools of the analyst. The agent has all of them; the chain and the chat engine have `run_sql` only.

Agents in the field carry some thousands of tokens of tool definitions, so these say at length what they do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import duckdb

from analyst.data import TABLES, Result, Warehouse

Tool = Callable[..., str]


def _text(relation: duckdb.DuckDBPyRelation) -> str:
    return Result(tuple(relation.columns), relation.fetchall()).text


def _telling(tool: Tool) -> Tool:
    """The tool, telling the model what DuckDB has to say against its arguments."""

    @wraps(tool)
    def told(*args: Any, **kwargs: Any) -> str:
        try:
            return tool(*args, **kwargs)
        except duckdb.Error as error:
            return f"error: {error}"

    return told


class Toolbox:
    """Each method is a tool: its docstring is what the model reads."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse

    def _table(self, name: str, where: str) -> duckdb.DuckDBPyRelation:
        table = self._warehouse.connection.cursor().table(name)
        return table.filter(where) if where else table

    def run_sql(self, sql: str) -> str:
        """Run a SQL query in DuckDB and return the whole result as CSV.

        Args:
            sql: One SELECT statement over flights, airlines, airports, planes and weather.
        """
        return self._warehouse.answer(sql)

    def list_tables(self) -> str:
        """List the tables of the warehouse with their number of rows and the names of their columns.

        Use this once at the beginning of an analysis, or when a query failed because a table or a column has another
        name than you thought. The answer is CSV with the columns table, rows and columns. The list does not change
        during a session, so there is no need to ask for it again. flights has one row per planned departure; airlines,
        airports and planes describe the codes in its columns carrier, origin, dest and tailnum; weather has one row
        per airport of departure and hour.
        """
        cursor = self._warehouse.connection.cursor()
        tables = [(name, cursor.table(name)) for name in TABLES]
        return Result(("table", "rows", "columns"), [(n, len(t), " ".join(t.columns)) for n, t in tables]).text

    def describe_table(self, table: str) -> str:
        """Describe a table: for every column the count of values, mean, standard deviation, minimum, maximum and
        median.

        Use this to find out about ranges, missing values and implausible extremes before you rely on a column. For
        text columns only count, minimum and maximum are filled. Times such as dep_time are numbers in the form HHMM
        (517 is 5:17), so their mean and deviation mean little; delays are minutes, and negative when early.

        Args:
            table: Name of the table: flights, airlines, airports, planes or weather.
        """
        return _text(self._table(table, "").describe())

    def sample_rows(self, table: str, rows: int = 10, where: str = "") -> str:
        """Return some rows of a table as CSV, all columns, in the order in which they are stored.

        Use this to see what values look like, not to answer a question: the rows are the first ones, not a random
        sample, and flights are stored by date, so that the first rows are all of 1 January. For anything that counts,
        sums or compares use run_sql or one of the statistical tools, which look at all rows.

        Args:
            table: Name of the table: flights, airlines, airports, planes or weather.
            rows: How many rows, from 1 to 100. More than 20 are rarely needed to see the form of the data.
            where: A condition in SQL, such as "origin = 'JFK' AND month = 7". Leave it empty for all rows.
        """
        return _text(self._table(table, where).limit(max(1, min(rows, 100))))

    def top_values(self, table: str, column: str, limit: int = 10, where: str = "") -> str:
        """Count how often each value of a column occurs, and return the most frequent ones as CSV.

        Use this for categories: carriers, airports, manufacturers, engine types. The answer has the columns value and
        count, the most frequent value first; missing values are counted like any other value. For the distribution of
        a number use histogram.

        Args:
            table: Name of the table: flights, airlines, airports, planes or weather.
            column: Name of the column whose values are counted, or an expression in SQL such as "month" or "hour // 6".
            limit: How many values, from 1 to 100.
            where: A condition in SQL, such as "dep_delay > 60". Leave it empty for all rows.
        """
        counted = self._table(table, where).aggregate(f"{column} AS value, count(*) AS count", column)
        return _text(counted.order("count DESC, value").limit(max(1, min(limit, 100))))

    def compare_groups(self, table: str, group: str, measure: str, where: str = "") -> str:
        """Compare the groups of a table by one measure: number of rows, mean, median, lowest and highest value of each
        group.

        Use this for questions such as "which carrier is late most", "does the delay depend on the origin", "are newer
        aircraft faster". Rows in which the measure is missing are counted in the number of rows but left out of the
        statistics. The answer is CSV, the group with the highest mean first. A difference between two means says little
        when one of the groups has only few rows, so look at their number before you draw a conclusion.

        Args:
            table: Name of the table: flights, airlines, airports, planes or weather.
            group: Name of the column that makes the groups, or an expression in SQL.
            measure: Name of the column that is compared, or an expression in SQL such as "dep_delay - arr_delay".
            where: A condition in SQL. Leave it empty for all rows.
        """
        statistics = ", ".join(f"{f}({measure}) AS {f}" for f in ("avg", "median", "min", "max"))
        compared = self._table(table, where).aggregate(f'{group} AS "group", count(*) AS rows, {statistics}', group)
        return _text(compared.order('avg DESC NULLS LAST, "group"'))

    def time_series(self, measure: str, grain: str = "month", where: str = "") -> str:
        """Follow a measure of the flights over the year: number of flights and mean of the measure per month or per
        day.

        Use this to find seasons, trends and single days that stand out. The year is 2013 and complete, with 365 days;
        a series by day therefore has 365 rows, one by month has 12. The answer is CSV in the order of time. For the
        hours of the day or the days of the week, which repeat, use compare_groups instead.

        Args:
            measure: Name of a column of flights, or an expression in SQL, such as "dep_delay" or "(dep_time IS
                NULL)::INT".
            grain: Either "month" or "day".
            where: A condition in SQL, such as "carrier = 'UA'". Leave it empty for all flights.
        """
        keys = "month, day" if grain == "day" else "month"
        series = self._table("flights", where).aggregate(f"{keys}, count(*) AS flights, avg({measure}) AS mean", keys)
        return _text(series.order(keys))

    def histogram(self, table: str, column: str, width: float, where: str = "") -> str:
        """Show how the values of a number are distributed: how many rows fall into each bin of equal width.

        Use this before you speak of a mean: delays, for one, are far from symmetrical, and a few very long ones move
        the mean a lot. The answer is CSV with the columns from and rows, the lowest bin first; empty bins are left
        out. Choose a width that gives 10 to 40 bins; describe_table tells minimum and maximum.

        Args:
            table: Name of the table: flights, airlines, airports, planes or weather.
            column: Name of the column, or an expression in SQL that gives a number.
            width: Width of a bin in the unit of the column, above 0; 15 is a good start for delays in minutes.
            where: A condition in SQL. Leave it empty for all rows.
        """
        bin_start = f"{width} * floor({column} / {width})"
        binned = self._table(table, where).aggregate(f'{bin_start} AS "from", count(*) AS rows', bin_start)
        return _text(binned.order('"from"'))

    def correlation(self, table: str, one: str, other: str, where: str = "") -> str:
        """Compute how two numbers go together: Pearson's coefficient, slope and intercept of the line, and the number
        of rows.

        Use this as a first look at whether one thing could explain another, such as distance and arrival delay. The
        coefficient sees straight lines only, and says nothing about which of the two is the cause. Rows in which one of
        the two is missing are left out. To put weather beside flights, join them with run_sql by origin, year, month,
        day and hour.

        Args:
            table: Name of the table: flights, airlines, airports, planes or weather.
            one: Name of the column that may explain, or an expression in SQL.
            other: Name of the column that may be explained, or an expression in SQL.
            where: A condition in SQL. Leave it empty for all rows.
        """
        figures = {"correlation": "corr", "slope": "regr_slope", "intercept": "regr_intercept", "rows": "regr_count"}
        asked = ", ".join(f"{function}({other}, {one}) AS {name}" for name, function in figures.items())
        return _text(self._table(table, where).aggregate(asked))

    def outliers(self, table: str, column: str, limit: int = 20, where: str = "") -> str:
        """Return the rows with the largest values of a column, all columns, largest first, as CSV.

        Use this to look at single extreme cases after a statistic has shown that there are some: the latest departures,
        the longest routes, the strongest gusts. Extremes in weather are often faults of the instrument (there is a
        wind speed of more than 1,000 miles per hour), so say so when a value can't be true, and leave it out of what
        you compute afterwards.

        Args:
            table: Name of the table: flights, airlines, airports, planes or weather.
            column: Name of the column, or an expression in SQL; put a minus sign before it for the smallest values.
            limit: How many rows, from 1 to 100.
            where: A condition in SQL. Leave it empty for all rows.
        """
        found = self._table(table, where).order(f"{column} DESC NULLS LAST")
        return _text(found.limit(max(1, min(limit, 100))))

    def missing_values(self, table: str, where: str = "") -> str:
        """Count the missing values of every column of a table, as CSV with the columns column, missing and percent.

        Use this before you join or average: a flight without dep_time was cancelled, one with dep_time but without
        air_time was diverted, some flights have no tail number, and about a sixth of the tail numbers are missing from
        planes. Averages leave missing values out, so say how many there were when they are more than a few percent.

        Args:
            table: Name of the table: flights, airlines, airports, planes or weather.
            where: A condition in SQL, such as "carrier = 'MQ'". Leave it empty for all rows.
        """
        rows = self._table(table, where)
        total = max(1, len(rows))
        there = rows.aggregate(", ".join(f'count("{c}")' for c in rows.columns)).fetchall()[0]
        counts = [(c, total - n, round(100 * (total - n) / total, 2)) for c, n in zip(rows.columns, there, strict=True)]
        return Result(("column", "missing", "percent"), counts).text

    def percentiles(self, table: str, column: str, where: str = "") -> str:
        """Compute the 1st, 5th, 25th, 50th, 75th, 95th and 99th percentile of a column, one row of CSV.

        Use this beside or instead of a mean when a few extreme values would mislead: half of all flights leave before
        their time although the mean delay is 12 minutes. Missing values are left out. For the shape of the whole
        distribution use histogram, for single extreme rows use outliers.

        Args:
            table: Name of the table: flights, airlines, airports, planes or weather.
            column: Name of the column, or an expression in SQL that gives a number.
            where: A condition in SQL, such as "origin = 'LGA'". Leave it empty for all rows.
        """
        shares = {f"p{percent}": percent / 100 for percent in (1, 5, 25, 50, 75, 95, 99)}
        asked = ", ".join(f"quantile_cont({column}, {share}) AS {name}" for name, share in shares.items())
        return _text(self._table(table, where).aggregate(asked))

    def join_check(self, left: str, right: str, key: str) -> str:
        """Check what a join of two tables by one column would lose: rows of the left table with and without a partner.

        Use this before you join, so that you can say how much of the data an answer rests on: about one flight in six
        has a tail number that is missing from planes, and four destinations are missing from airports. The answer is
        one row of CSV with the columns rows, matched and percent. A join by several columns, such as flights and
        weather, has to be checked with run_sql.

        Args:
            left: Name of the table that is to be kept whole.
            right: Name of the table that is to be joined.
            key: Name of the column, which both tables must have.
        """
        cursor = self._warehouse.connection.cursor()
        total = len(cursor.table(left))
        matched = len(cursor.table(left).join(cursor.table(right), key, how="semi"))
        return Result(("rows", "matched", "percent"), [(total, matched, round(100 * matched / total, 2))]).text

    def day_report(self, month: int, day: int) -> str:
        """Report on one day of 2013, as CSV with one row per origin: flights planned, cancelled, mean and longest
        delay.

        Use this when a single day has caught attention, before you list its flights: a day has between 600 and 1,014
        flights, and listing them costs far more than these three rows. Compare with an ordinary day of the same month
        before you call a day unusual. The weather of the day is in the table weather.

        Args:
            month: Number of the month, from 1 to 12.
            day: Day of the month, from 1 to 31.
        """
        flights = self._table("flights", f"month = {int(month)} AND day = {int(day)}")
        cancelled = "count(*) FILTER (dep_time IS NULL) AS cancelled"
        delays = "avg(dep_delay) AS avg_dep_delay, max(dep_delay) AS max_dep_delay"
        return _text(flights.aggregate(f"origin, count(*) AS flights, {cancelled}, {delays}", "origin").order("origin"))

    def route_report(self, origin: str, dest: str) -> str:
        """Report on one route, as CSV with one row per carrier: flights, cancellations, mean delays and time in the
        air.

        Use this to compare the carriers that compete on a route. A route that nobody flies gives an empty answer: then
        look for the code of the airport in the table airports, or for the cities that are served, in the column dest
        of flights.

        Args:
            origin: Code of the airport of departure: EWR, JFK or LGA.
            dest: Code of the airport of arrival, three letters such as SFO.
        """
        table = self._warehouse.connection.cursor().table("flights")
        flights = table.filter(
            (duckdb.ColumnExpression("origin") == duckdb.ConstantExpression(origin))
            & (duckdb.ColumnExpression("dest") == duckdb.ConstantExpression(dest))
        )
        cancelled = "count(*) FILTER (dep_time IS NULL) AS cancelled"
        means = ", ".join(f"avg({column}) AS avg_{column}" for column in ("dep_delay", "arr_delay", "air_time"))
        report = flights.aggregate(f"carrier, count(*) AS flights, {cancelled}, {means}", "carrier")
        return _text(report.order("carrier"))

    @property
    def all(self) -> list[Tool]:
        """All tools, `run_sql` first."""
        tools = [
            self.run_sql, self.list_tables, self.describe_table, self.sample_rows, self.top_values, self.compare_groups,
            self.time_series, self.histogram, self.correlation, self.outliers, self.missing_values,
            self.percentiles, self.join_check, self.day_report, self.route_report,
        ]  # fmt: skip
        return [_telling(tool) for tool in tools]
