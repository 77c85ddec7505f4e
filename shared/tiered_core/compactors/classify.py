"""What kind of text a body is."""

from __future__ import annotations

from tiered_core.compactors import records, tables
from tiered_core.compactors.json_text import read_json
from tiered_core.compactors.log_lines import is_log
from tiered_core.types import Kind

_LOG_LINES = 200


def classify(text: str) -> Kind:
    """One of "table", "json", "log" and "text".

    A JSON array of at least two objects that share keys is a table, alone or as the only container of an object; all
    other JSON objects and arrays are "json". JSON is read as a whole, everything else is told from its first 64,000
    characters; so a text may turn out not to be a table when it is read (`tables.parse` then gives None).
    """
    value = read_json(text)
    if value is not None:
        return "json" if records.table_of(value) is None else "table"
    if records.from_wrapped(text) is not None or records.count_repeating(text) is not None:
        return "table"
    if tables.detect(text) is not None:
        return "table"
    return "log" if is_log(tables.lines_of(tables.beginning(text))[:_LOG_LINES]) else "text"
