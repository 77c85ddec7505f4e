"""Reads a text as a table, or says that it isn't one."""

from __future__ import annotations

from typing import Literal

from tiered_core.compactors import delimited, layouts, records
from tiered_core.compactors.log_lines import is_log
from tiered_core.compactors.shapes import Table

Layout = Literal["records", "lines", "tuples", "ruled", "delimited", "fixed"]

SAMPLE_CHARACTERS = 64_000
_SAMPLE_LINES = 400


def beginning(text: str) -> str:
    """The first 64,000 characters without the line that this cuts in two; the whole text when it is shorter."""
    if len(text) <= SAMPLE_CHARACTERS:
        return text
    end = max(text.rfind(mark, 0, SAMPLE_CHARACTERS) for mark in "\n\r")
    return text[: end + 1] if end > 0 else text[:SAMPLE_CHARACTERS]


def lines_of(text: str) -> list[str]:
    """The lines of a text, whatever ends them: LF, CR LF or CR."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def detect(text: str) -> Layout | None:
    """How a text that isn't JSON lays out its table, told from its beginning; None where that is no table."""
    sample = beginning(text).lstrip("\ufeff")
    if records.looks_like_tuples(sample):
        return "tuples"
    if records.looks_like_lines(sample, complete=len(sample) >= len(text) - 1):
        return "lines"
    lines = lines_of(sample)[:_SAMPLE_LINES]
    if len(lines) < 3 or is_log(lines, strict=True):
        return None
    if layouts.looks_ruled(lines):
        return "ruled"
    if delimited.sniff(sample) is not None:
        return "delimited"
    return "fixed" if layouts.looks_fixed(lines) else None


def parse(text: str) -> Table | None:
    """The table in a text; None where it can't be read with confidence.

    Formats: JSON arrays of objects, JSON lines, lists of Python tuples, Markdown, psql and MySQL grids, CSV, TSV,
    semicolons, pipes, pandas' `to_string()`. A few lines around a table become its caption.
    """
    table = records.from_json(text) or records.from_wrapped(text)
    if table is not None:
        return table
    layout = detect(text)
    if layout == "tuples":
        return records.from_tuples(text)
    if layout == "lines":
        return records.from_lines(text)
    if layout == "delimited":
        dialect = delimited.sniff(beginning(text).lstrip("\ufeff"))
        return None if dialect is None else delimited.read_delimited(text, dialect)
    lines = lines_of(text.lstrip("\ufeff"))
    if layout == "ruled":
        return layouts.read_ruled(lines)
    return layouts.read_fixed(lines) if layout == "fixed" else None


def count_rows(text: str) -> str | None:
    """What is certain about a table that `parse` can't read: `300 rows, 1 of them with more than 3 cells`."""
    repeating = records.count_repeating(text)
    if repeating is not None:
        return f"{repeating} records, some name a key twice"
    if detect(text) != "delimited":
        return None
    dialect = delimited.sniff(beginning(text).lstrip("\ufeff"))
    return None if dialect is None else delimited.count_rows(text, dialect)
