"""The script of the session: what the user asks, the query for it, and the sentence that is made of the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analyst.data import Result

_SOURCE = Path(__file__).with_name("session.sql")
SYSTEM = """\
You are a data analyst. You answer questions about all 336,776 flights that left New York City in 2013. There are five
tables in DuckDB:
flights(year, month, day, dep_time, sched_dep_time, dep_delay, arr_time, sched_arr_time, arr_delay, carrier, flight,
  tailnum, origin, dest, air_time, distance, hour, minute, time_hour)
airlines(carrier, name)
airports(faa, name, lat, lon, alt, tz, dst, tzone)
planes(tailnum, year, type, manufacturer, model, engines, seats, speed, engine)
weather(origin, year, month, day, hour, temp, dewp, humid, wind_dir, wind_speed, wind_gust, precip, pressure, visib,
  time_hour)
Delays are in minutes, early ones negative; a flight without dep_time was cancelled. Look everything up with SQL before
you answer, then answer in one sentence."""


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of the session.

    Attributes:
        question: what the user asks.
        sql: the query that the scripted model writes.
        template: its answer, with fields for the values of the result.
    """

    question: str
    sql: str
    template: str

    def answer(self, result: Result) -> str:
        """The sentence for a result."""
        if not result.rows:
            return "There is no such row."
        return self.template.format_map({**result.row(0), "last": result.row(-1), "rows": len(result.rows)})


def read_script(turns: int | None = None) -> list[Step]:
    """The first turns of the session, all by default."""
    return list(_steps(_SOURCE.read_text(encoding="utf-8")))[:turns]


def _steps(text: str) -> Iterator[Step]:
    for part in text.split("-- Q ")[1:]:
        head, _, template = part.partition("-- A ")
        question, _, sql = head.partition("\n")
        yield Step(question.strip(), sql.strip().removesuffix(";"), template.strip())
